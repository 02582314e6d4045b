// Drives by touch, gamepad or keyboard. Commands are sent at a steady rate while a source is active. When all is released,
// or the page loses the focus, a few commands of zero follow; then the page is silent, so that others can drive.

import { Gamepad } from "./gamepad.js";
import { Keyboard, key } from "./keyboard.js";
import { fixed } from "./numbers.js";
import { Thumbs } from "./thumbs.js";

const PERIOD = 50; // [ms]
const STOPS = 5; // commands of zero at the end
const STANDSTILL = { longitudinal: 0, lateral: 0, turn: 0 }; // parts of the limits, -1 to 1; forward and left are positive

export class Driving {
  constructor(link) {
    this.link = link;
    this.canvas = document.getElementById("scene");
    this.banner = document.getElementById("driving");
    this.limit = { speed: document.getElementById("speed-limit"), turn: document.getElementById("turn-limit") };
    this.sources = [
      new Thumbs(() => this.tick()),
      new Gamepad(),
      new Keyboard(this.canvas, () => this.tick(), () => this.stop()),
    ];
    this.stops = 0;
    this.reason = "";
    this.chosen = new Set(); // the sliders that the user has moved
    this.shape({ steers: true, holonomic: false });
    this.listen();
    this.canvas.focus({ preventScroll: true });
    setInterval(() => this.tick(), PERIOD);
  }

  shape(layout) {
    if (layout.steers !== this.steers) this.chosen.delete(this.limit.turn); // its quantity has changed
    this.steers = layout.steers;
    this.lateral = layout.holonomic && !layout.steers;
    for (const source of this.sources) source.shape(this);
    for (const label of document.querySelectorAll(".turn-name")) label.textContent = this.turnName;
    this.showHint();
    this.showLimits();
  }

  get turnName() {
    return this.steers ? "steering" : "yaw rate";
  }

  showHint() {
    const pairs = [["W", "S"], ["A", "D"], ...(this.lateral ? [["Q", "E"]] : [])];
    const names = ["speed", this.turnName, "lateral speed"];
    const hint = document.getElementById("keys");
    hint.replaceChildren("Click the view, then ");
    pairs.forEach((pair, i) => hint.append(...pair.map(key), ` ${names[i]}  `));
    hint.append("(or arrows), ", key("space"), ` stop. By touch: left thumb speed, right thumb ${this.turnName}. `);
    hint.append("What is released stops.");
  }

  // The vehicle's own limits of speed and steering angle, as the ends of the sliders.
  limits(limits) {
    const speed = limits.speed ?? 5;
    const turn = this.steers ? limits.steering ?? 0.6 : 3;
    this.setEnd(this.limit.speed, speed, 2);
    this.setEnd(this.limit.turn, turn, this.steers ? 0.5 : 1);
    this.showLimits();
  }

  // Keep the user's choice, up to the new end.
  setEnd(slider, end, start) {
    slider.max = String(end);
    if (!this.chosen.has(slider)) slider.value = String(Math.min(end, start));
  }

  showLimits() {
    document.getElementById("speed-shown").textContent = `${Number(this.limit.speed.value).toFixed(2)} m/s`;
    document.getElementById("turn-shown").textContent = `${Number(this.limit.turn.value).toFixed(2)} ${this.turnUnit}`;
  }

  get turnUnit() {
    return this.steers ? "rad" : "rad/s";
  }

  // Show for a while why a command was refused.
  refused(reason) {
    this.reason = reason;
    clearTimeout(this.forgetting);
    this.forgetting = setTimeout(() => (this.reason = ""), 2000);
  }

  tick() {
    const [source, command] = this.active();
    const moving = Object.values(command).some((part) => part !== 0);
    if (moving) this.stops = STOPS;
    if (this.stops > 0) {
      if (!moving) this.stops--;
      this.send(command);
    }
    this.show(moving ? source : "nobody", command);
  }

  // The driving source and its command: the first of several active sources.
  active() {
    for (const source of this.sources) {
      const command = source.command();
      if (command) return [source.name, command];
    }
    return ["nobody", STANDSTILL];
  }

  send(command) {
    const { speed, lateral, turn } = this.scaled(command);
    this.link.send("drive", {
      v_x: speed,
      v_y: lateral,
      yaw_rate: this.steers ? 0 : turn,
      steering_angle: this.steers ? turn : 0,
      time: performance.now() / 1000, // by which the server recognizes late commands
    });
  }

  scaled({ longitudinal, lateral, turn }) {
    const speed = Number(this.limit.speed.value);
    return { speed: longitudinal * speed, lateral: lateral * speed, turn: turn * Number(this.limit.turn.value) };
  }

  show(by, command) {
    const { speed, lateral, turn } = this.scaled(command);
    const focus = document.activeElement === this.canvas;
    this.banner.dataset.by = by === "nobody" && !this.reason ? "hint" : by;
    if (this.reason) this.banner.textContent = this.reason;
    else if (by !== "nobody") {
      const aside = lateral ? ` and ${fixed(lateral, 2)} m/s to the left` : "";
      this.banner.textContent = `${by}: ${fixed(speed, 2)} m/s${aside}, ${fixed(turn, 2)} ${this.turnUnit}`;
    } else this.banner.textContent = focus ? "" : "click here to drive with keys";
  }

  listen() {
    window.addEventListener("blur", () => this.stop());
    window.addEventListener("pagehide", () => this.stop());
    document.addEventListener("visibilitychange", () => this.stop());
    for (const slider of Object.values(this.limit)) {
      slider.addEventListener("input", () => {
        this.chosen.add(slider);
        this.showLimits();
      });
    }
  }

  // Release everything: each key and each thumb must be pressed again.
  release() {
    for (const source of this.sources) source.release();
  }

  stop() {
    this.release();
    if (this.stops > 0) this.send(STANDSTILL);
  }
}
