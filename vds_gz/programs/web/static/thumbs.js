// Drives by two thumbs: the left one gives the speed, the right one the steering or the yaw rate. The point where a thumb
// comes down is zero, so a touch alone never moves the vehicle; lifting the thumb stops its axis.

import { withoutDeadZone } from "./gamepad.js";

export class Thumbs {
  name = "touch";

  // `changed()` is called when a thumb has come down or is lifted.
  constructor(changed) {
    this.speed = new Thumb(document.getElementById("thumb-speed"), { y: true }, changed);
    this.turn = new Thumb(document.getElementById("thumb-turn"), { x: true }, changed);
  }

  shape({ lateral }) {
    this.speed.axes = { x: lateral, y: true };
    this.speed.element.dataset.axes = lateral ? "both" : "vertical";
  }

  release() {
    this.speed.release();
    this.turn.release();
  }

  // The thumbs' command; null while none is down.
  command() {
    if (!this.speed.held && !this.turn.held) return null;
    return { longitudinal: -this.speed.y || 0, lateral: -this.speed.x || 0, turn: -this.turn.x || 0 };
  }
}

// A pad with at most one pointer on it.
class Thumb {
  constructor(element, axes, changed) {
    this.element = element;
    this.axes = axes;
    this.knob = element.querySelector(".knob");
    this.release();
    element.addEventListener("pointerdown", (event) => {
      event.preventDefault(); // prevents focus and text selection
      if (this.held || event.button !== 0) return;
      element.setPointerCapture(event.pointerId);
      this.start = { id: event.pointerId, x: event.clientX, y: event.clientY };
      element.dataset.held = "true";
      changed();
    });
    element.addEventListener("pointermove", (event) => {
      if (event.pointerId === this.start?.id) this.move(event.clientX - this.start.x, event.clientY - this.start.y);
    });
    for (const end of ["pointerup", "pointercancel", "lostpointercapture"]) {
      element.addEventListener(end, (event) => {
        if (event.pointerId !== this.start?.id) return;
        this.release();
        changed();
      });
    }
    element.addEventListener("contextmenu", (event) => event.preventDefault());
  }

  get held() {
    return this.start !== null;
  }

  // A deflection of half the pad's smaller side is full.
  move(dx, dy) {
    const reach = Math.min(this.element.clientWidth, this.element.clientHeight) / 2;
    const limited = (pixels) => Math.max(-1, Math.min(1, pixels / reach));
    const [x, y] = [this.axes.x ? limited(dx) : 0, this.axes.y ? limited(dy) : 0];
    [this.x, this.y] = [x, y].map(withoutDeadZone);
    this.knob.style.transform = `translate(${x * reach}px, ${y * reach}px)`;
  }

  release() {
    this.start = null;
    [this.x, this.y] = [0, 0];
    this.knob.style.transform = "";
    delete this.element.dataset.held;
  }
}
