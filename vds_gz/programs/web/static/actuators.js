// The reference and the state of each actuator, in numbers and as a bar that ends at the actuator's limit.

import { fixed } from "./numbers.js";
import { fitted } from "./theme.js";

export class Actuators {
  constructor(theme) {
    this.theme = theme;
    this.body = document.getElementById("actuator-rows");
    this.rows = [];
    this.known = {};
  }

  shape(layout) {
    this.rows = layout.actuators.map(({ name, unit }) => {
      const element = document.createElement("tr");
      const [title, reference, actual, bar] = [0, 1, 2, 3].map(() => document.createElement("td"));
      const canvas = document.createElement("canvas");
      title.textContent = name.replaceAll("_", " ");
      reference.className = actual.className = "number";
      canvas.className = "bar";
      canvas.setAttribute("aria-hidden", "true");
      bar.append(canvas);
      element.append(title, reference, actual, bar);
      return { name, unit, reference, actual, canvas, element };
    });
    this.body.replaceChildren(...this.rows.map((row) => row.element));
    this.limits(this.known);
  }

  limits(limits) {
    this.known = limits;
    for (const row of this.rows) this.reach(row, row.unit === "rad" ? limits.steering ?? 0.3 : limits.speed ?? 1);
  }

  // A bar without a limit grows with its values.
  reach(row, value) {
    row.reach = value;
    row.canvas.title = `-${fixed(value, 2)} to ${fixed(value, 2)} ${row.unit}`;
  }

  draw(frame) {
    for (const row of this.rows) {
      const [reference, actual] = [frame[`reference ${row.name}`], frame[`actual ${row.name}`]];
      row.reference.textContent = Number.isFinite(reference) ? `${fixed(reference, 3)} ${row.unit}` : "–";
      row.actual.textContent = Number.isFinite(actual) ? `${fixed(actual, 3)} ${row.unit}` : "–";
      for (const value of [reference, actual]) if (Number.isFinite(value) && Math.abs(value) > row.reach) this.reach(row, Math.abs(value));
      this.drawBar(row, reference, actual);
    }
  }

  drawBar({ canvas, reach }, reference, actual) {
    const { context, width, height } = fitted(canvas);
    const { colors } = this.theme;
    const at = (value) => width / 2 + ((value / reach) * (width - 4)) / 2;
    context.fillStyle = colors.line;
    context.fillRect(0, height / 2 - 3, width, 6);
    if (Number.isFinite(actual)) {
      context.fillStyle = colors.actual;
      context.fillRect(Math.min(at(0), at(actual)), height / 2 - 3, Math.abs(at(actual) - at(0)), 6);
    }
    context.fillStyle = colors.faint;
    context.fillRect(width / 2 - 0.5, 1, 1, height - 2);
    if (Number.isFinite(reference)) {
      context.fillStyle = colors.reference;
      context.fillRect(at(reference) - 1, 1, 2, height - 2);
    }
  }
}
