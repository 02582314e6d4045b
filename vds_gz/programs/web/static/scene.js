// The vehicle and its path from above: x to the right, y up, metres.

import { fixed } from "./numbers.js";
import { fitted } from "./theme.js";

const PATH_STEP = 0.03; // [m]
const PATH_BREAK = 3; // a larger step is a jump, not a path [m]
const PATH_LENGTH = 20000;
const [MAX_SCALE, MIN_SCALE] = [400, 0.5]; // [pixels per metre]

export class Scene {
  constructor(theme) {
    this.theme = theme;
    this.canvas = document.getElementById("scene");
    this.readout = document.getElementById("readout");
    this.scaleBar = document.getElementById("scale");
    this.following = document.getElementById("follow");
    this.scale = 40;
    this.center = { x: 0, y: 0 };
    this.path = [];
    this.polygons = [];
    this.points = { x: [], y: [] };
    this.contacts = { x: [], y: [], names: [] };
    this.pointers = new Map();
    this.moved = true;
    this.listen();
  }

  shape(layout) {
    this.outline = layout.outline;
    this.moved = true;
  }

  // Set the outlines of the world, the lowest first.
  surround(polygons) {
    this.polygons = polygons.map(({ corners, colour, edge }) => {
      const path = new Path2D();
      for (const [x, y] of corners) path.lineTo(x, y);
      path.closePath();
      return { path, edge, colour: `rgb(${colour.map((part) => Math.round(255 * part)).join(" ")})` };
    });
    this.canvas.dataset.polygons = String(polygons.length);
    this.moved = true;
  }

  // Set the points of the lidar.
  meet(points) {
    this.points = points;
    this.canvas.dataset.points = String(points.x.length);
    this.moved = true;
  }

  // Set the present contacts of the vehicle.
  touch(contacts) {
    this.contacts = contacts;
    this.canvas.dataset.touched = contacts.names.join(" ");
    this.moved = true;
  }

  clearPath() {
    this.path = [];
    this.moved = true;
  }

  draw(frame) {
    this.extendPath(frame.x, frame.y);
    this.frame = frame;
    if (this.follows) this.center = { x: frame.x, y: frame.y };
    const degrees = fixed((frame.heading * 180) / Math.PI, 1);
    this.readout.textContent =
      `x ${fixed(frame.x, 2)} m   y ${fixed(frame.y, 2)} m   heading ${degrees}°\n` +
      `speed ${fixed(frame.v_x, 2)} m/s   yaw rate ${fixed(frame.yaw_rate, 2)} rad/s`;
    this.redraw();
  }

  redrawIfMoved() {
    if (this.moved || this.canvas.clientWidth !== this.width || this.canvas.clientHeight !== this.height) this.redraw();
  }

  redraw() {
    this.moved = false;
    const { context, width, height } = fitted(this.canvas);
    [this.width, this.height] = [width, height];
    context.save();
    this.enterWorld(context);
    this.drawWorld(context);
    context.restore();
    this.drawGrid(context);
    context.save();
    this.enterWorld(context);
    this.drawPath(context);
    this.drawPoints(context);
    if (this.frame) this.drawVehicle(context, this.frame);
    context.restore();
    this.drawContacts(context);
    this.showScale();
  }

  // ------------------------------------------------------------------ what is drawn

  extendPath(x, y) {
    const last = this.path.at(-1);
    const step = last ? Math.hypot(x - last.x, y - last.y) : Infinity;
    if (step < PATH_STEP) return;
    this.path.push({ x, y, jump: step > PATH_BREAK });
    if (this.path.length > PATH_LENGTH) this.path.shift();
  }

  get lineStep() {
    const least = 70 / this.scale;
    const decade = 10 ** Math.floor(Math.log10(least));
    return [1, 2, 5, 10].map((factor) => factor * decade).find((step) => step >= least);
  }

  drawGrid(context) {
    const step = this.lineStep;
    context.strokeStyle = this.theme.colors.text;
    context.lineWidth = 1;
    const lines = (middle, size, line) => {
      const reach = size / 2 / this.scale;
      for (let i = Math.ceil((middle - reach) / step); i * step <= middle + reach; i++) {
        context.globalAlpha = i === 0 ? 0.3 : 0.1; // visible on any ground
        context.beginPath();
        line(Math.round((i * step - middle) * this.scale) + 0.5);
        context.stroke();
      }
    };
    lines(this.center.x, this.width, (at) => {
      context.moveTo(this.width / 2 + at, 0);
      context.lineTo(this.width / 2 + at, this.height);
    });
    lines(this.center.y, this.height, (at) => {
      context.moveTo(0, this.height / 2 - at);
      context.lineTo(this.width, this.height / 2 - at);
    });
    context.globalAlpha = 1;
  }

  enterWorld(context) {
    context.translate(this.width / 2, this.height / 2);
    context.scale(this.scale, -this.scale);
    context.translate(-this.center.x, -this.center.y);
  }

  drawWorld(context) {
    context.strokeStyle = this.theme.colors.faint;
    context.lineWidth = 1 / this.scale;
    for (const { path, colour, edge } of this.polygons) {
      context.fillStyle = colour;
      context.globalAlpha = 0.3;
      context.fill(path);
      context.globalAlpha = 0.8;
      if (edge) context.stroke(path);
    }
    context.globalAlpha = 1;
  }

  drawPoints(context) {
    const size = 3 / this.scale;
    context.fillStyle = this.theme.colors.met;
    this.points.x.forEach((x, i) => context.fillRect(x - size / 2, this.points.y[i] - size / 2, size, size));
  }

  // A ring around each contact, and the name of what is touched.
  drawContacts(context) {
    const { met, panel } = this.theme.colors;
    context.fillStyle = met;
    context.font = "bold 12px system-ui, sans-serif";
    context.textAlign = "center";
    this.contacts.names.forEach((name, i) => {
      const x = this.width / 2 + (this.contacts.x[i] - this.center.x) * this.scale;
      const y = this.height / 2 - (this.contacts.y[i] - this.center.y) * this.scale;
      context.beginPath();
      context.arc(x, y, 9, 0, 2 * Math.PI);
      context.strokeStyle = met;
      context.lineWidth = 2.5;
      context.stroke();
      context.strokeStyle = panel;
      context.lineWidth = 4;
      context.strokeText(name, x, y - 15);
      context.fillText(name, x, y - 15);
    });
    context.textAlign = "start";
  }

  drawPath(context) {
    context.beginPath();
    for (const { x, y, jump } of this.path) jump ? context.moveTo(x, y) : context.lineTo(x, y);
    context.strokeStyle = this.theme.colors.path;
    context.lineWidth = 2 / this.scale;
    context.lineJoin = "round";
    context.globalAlpha = 0.7;
    context.stroke();
    context.globalAlpha = 1;
  }

  drawVehicle(context, frame) {
    context.translate(frame.x, frame.y);
    context.rotate(frame.heading);
    context.lineWidth = 1.5 / this.scale;
    if (this.outline) {
      this.drawTrailers(context, frame);
      this.drawBody(context, this.outline, frame);
    }
    this.drawOrigin(context);
  }

  // Each trailer hangs on the one before.
  drawTrailers(context, frame) {
    context.save();
    for (const trailer of this.outline.trailers) {
      context.translate(trailer.x, trailer.y);
      context.rotate(frame[`joint ${trailer.hitch}`] || 0);
      this.drawBody(context, trailer, frame);
    }
    context.restore();
  }

  drawBody(context, { boxes, wheels }, frame) {
    for (const wheel of wheels) this.drawWheel(context, wheel, frame);
    const sorted = [...boxes].sort((a, b) => b.length * b.width - a.length * a.width);
    sorted.forEach((box, i) => this.drawBox(context, box, i === 0 ? "body" : "mark"));
  }

  // The largest box is the body; smaller ones on it tell front from rear.
  drawBox(context, { x, y, yaw, length, width }, color) {
    context.save();
    context.translate(x, y);
    context.rotate(yaw);
    context.beginPath();
    context.roundRect(-length / 2, -width / 2, length, width, Math.min(length, width) * 0.12);
    context.globalAlpha = 0.85;
    context.fillStyle = this.theme.colors[color];
    context.fill();
    context.globalAlpha = 1;
    context.strokeStyle = this.theme.colors["body-edge"];
    context.stroke();
    context.restore();
  }

  drawWheel(context, { x, y, radius, width, rolls, steers }, frame) {
    context.save();
    context.translate(x, y);
    context.rotate(frame[`joint ${steers}`] || 0);
    context.beginPath();
    context.roundRect(-radius, -width / 2, 2 * radius, width, width * 0.3);
    context.fillStyle = this.theme.colors.tyre;
    context.fill();
    this.drawTread(context, radius, width, frame[`joint ${rolls}`] || 0);
    context.restore();
  }

  // Marks on the upper side of a wheel, which move forwards as it rolls.
  drawTread(context, radius, width, angle) {
    context.beginPath();
    for (let i = 0; i < 8; i++) {
      const around = angle + (i * Math.PI) / 4;
      if (Math.cos(around) <= 0) continue;
      const at = radius * Math.sin(around);
      context.moveTo(at, -width / 2);
      context.lineTo(at, width / 2);
    }
    context.strokeStyle = this.theme.colors.panel;
    context.globalAlpha = 0.55;
    context.stroke();
    context.globalAlpha = 1;
  }

  // The origin and the axes of base_link.
  drawOrigin(context) {
    const length = this.outline ? 0.35 : 14 / this.scale;
    for (const [x, y, color] of [[length, 0, "reference"], [0, length, "actual"]]) {
      context.beginPath();
      context.moveTo(0, 0);
      context.lineTo(x, y);
      context.strokeStyle = this.theme.colors[color];
      context.lineWidth = 2.5 / this.scale;
      context.stroke();
    }
  }

  showScale() {
    this.scaleBar.style.width = `${this.lineStep * this.scale}px`;
    this.scaleBar.textContent = `${Number(this.lineStep.toPrecision(1))} m`;
  }

  // ------------------------------------------------------------------ pan and zoom

  get follows() {
    return this.following.getAttribute("aria-pressed") === "true";
  }

  set follows(value) {
    this.following.setAttribute("aria-pressed", String(value));
    if (value && this.frame) this.center = { x: this.frame.x, y: this.frame.y };
    this.moved = true;
  }

  zoom(factor, x = this.width / 2, y = this.height / 2) {
    const before = this.scale;
    this.scale = Math.min(MAX_SCALE, Math.max(MIN_SCALE, this.scale * factor));
    if (!this.follows) {
      const shift = 1 / before - 1 / this.scale;
      this.center.x += (x - this.width / 2) * shift;
      this.center.y -= (y - this.height / 2) * shift;
    }
    this.moved = true;
  }

  listen() {
    const { canvas } = this;
    document.getElementById("zoom-in").onclick = () => this.zoom(1.4);
    document.getElementById("zoom-out").onclick = () => this.zoom(1 / 1.4);
    document.getElementById("clear-path").onclick = () => this.clearPath();
    this.following.onclick = () => (this.follows = !this.follows);
    canvas.addEventListener("keydown", (event) => {
      if (event.key === "+") this.zoom(1.2);
      if (event.key === "-") this.zoom(1 / 1.2);
    });
    canvas.addEventListener("wheel", (event) => {
      event.preventDefault();
      this.zoom(Math.exp(-event.deltaY * 0.0015), event.offsetX, event.offsetY);
    }, { passive: false });
    canvas.addEventListener("pointerdown", (event) => {
      canvas.setPointerCapture(event.pointerId);
      this.pointers.set(event.pointerId, event);
    });
    canvas.addEventListener("pointermove", (event) => this.drag(event));
    for (const end of ["pointerup", "pointercancel"]) {
      canvas.addEventListener(end, (event) => this.pointers.delete(event.pointerId));
    }
  }

  // One pointer moves the view, two zoom it.
  drag(event) {
    const before = this.pointers.get(event.pointerId);
    if (!before) return;
    const other = [...this.pointers.values()].find((pointer) => pointer.pointerId !== event.pointerId);
    if (other) {
      const apart = (pointer) => Math.hypot(pointer.offsetX - other.offsetX, pointer.offsetY - other.offsetY) || 1;
      this.zoom(apart(event) / apart(before), other.offsetX, other.offsetY);
    } else if (event.offsetX !== before.offsetX || event.offsetY !== before.offsetY) {
      this.follows = false;
      this.center.x -= (event.offsetX - before.offsetX) / this.scale;
      this.center.y += (event.offsetY - before.offsetY) / this.scale;
    }
    this.pointers.set(event.pointerId, event);
    this.moved = true;
  }
}
