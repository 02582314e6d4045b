// Quantities over time: the reference, dashed, and the actual value.

import { fixed } from "./numbers.js";
import { fitted } from "./theme.js";

const [LEFT, BELOW] = [44, 16]; // room for the numbers of the axes [pixels]

export class Charts {
  constructor(theme, history) {
    this.theme = theme;
    this.history = history;
    this.list = document.getElementById("chart-list");
    this.charts = [];
    this.seconds = 10;
    document.getElementById("span").onchange = (event) => {
      this.seconds = Number(event.target.value);
      this.draw();
    };
  }

  shape(layout) {
    const quantities = [
      { name: "speed", unit: "m/s", reference: "reference_v_x", actual: "v_x" },
      { name: "yaw rate", unit: "rad/s", reference: "reference_yaw_rate", actual: "yaw_rate" },
    ];
    if (layout.holonomic) {
      quantities.splice(1, 0, { name: "lateral speed", unit: "m/s", reference: "reference_v_y", actual: "v_y" });
    }
    for (const { name, unit } of layout.actuators.filter((actuator) => actuator.unit === "rad")) {
      quantities.push({ name: name.replaceAll("_", " "), unit, reference: `reference ${name}`, actual: `actual ${name}` });
    }
    this.charts = quantities.map((quantity) => ({ ...quantity, ...figure(quantity) }));
    this.list.replaceChildren(...this.charts.map((chart) => chart.element));
  }

  draw() {
    for (const chart of this.charts) this.drawChart(chart, chart === this.charts.at(-1));
  }

  // Only the lowest chart labels the time axis.
  drawChart(chart, lowest) {
    const lines = [this.line(chart.reference), this.line(chart.actual)];
    const { context, width, height } = fitted(chart.canvas);
    const axis = scaled(lines.flatMap((line) => line.map((point) => point.value)).filter(Number.isFinite));
    const below = lowest ? BELOW : 6;
    const place = {
      x: (time) => width - ((this.history.last - time) / this.seconds) * (width - LEFT),
      y: (value) => 6 + ((axis.high - value) / (axis.high - axis.low)) * (height - 6 - below),
    };
    this.drawAxis(context, axis, place, width);
    this.drawTimes(context, width, height, below, lowest);
    this.drawLine(context, lines[0], place, this.theme.colors.reference, [5, 4]);
    this.drawLine(context, lines[1], place, this.theme.colors.actual, []);
    chart.referenceShown.textContent = shown(lines[0].at(-1)?.value);
    chart.actualShown.textContent = shown(lines[1].at(-1)?.value);
  }

  line(name) {
    const points = [];
    this.history.each(name, this.seconds, (time, value) => points.push({ time, value }));
    return points;
  }

  drawAxis(context, { low, high, step }, place, width) {
    context.font = "11px system-ui, sans-serif";
    context.textAlign = "right";
    context.textBaseline = "middle";
    context.lineWidth = 1;
    const digits = Math.max(0, -Math.floor(Math.log10(step)));
    for (let i = Math.ceil(low / step - 1e-9); i * step <= high + 1e-9 * step; i++) {
      const y = Math.round(place.y(i * step)) + 0.5;
      context.strokeStyle = this.theme.colors[i === 0 ? "grid-strong" : "grid"];
      context.beginPath();
      context.moveTo(LEFT, y);
      context.lineTo(width, y);
      context.stroke();
      context.fillStyle = this.theme.colors.faint;
      context.fillText((i * step).toFixed(digits), LEFT - 6, y);
    }
  }

  drawTimes(context, width, height, below, lowest) {
    const step = rounded(this.seconds / 6);
    context.strokeStyle = this.theme.colors.grid;
    context.textBaseline = "bottom";
    for (let past = 0; past <= this.seconds; past += step) {
      const x = Math.round(width - (past / this.seconds) * (width - LEFT)) - 0.5;
      context.beginPath();
      context.moveTo(x, 6);
      context.lineTo(x, height - below);
      context.stroke();
      context.textAlign = past ? "center" : "right";
      if (lowest) context.fillText(past ? `-${past} s` : "0 s", x, height);
    }
  }

  drawLine(context, points, place, color, dash) {
    context.beginPath();
    let pen = false;
    for (const { time, value } of points) {
      if (Number.isFinite(value)) {
        pen ? context.lineTo(place.x(time), place.y(value)) : context.moveTo(place.x(time), place.y(value));
      }
      pen = Number.isFinite(value);
    }
    context.strokeStyle = color;
    context.lineWidth = 1.8;
    context.setLineDash(dash);
    context.stroke();
    context.setLineDash([]);
  }
}

function figure({ name, unit }) {
  const element = document.createElement("figure");
  const caption = document.createElement("figcaption");
  const canvas = document.createElement("canvas");
  const [label, numbers] = [document.createElement("span"), document.createElement("span")];
  const [referenceShown, actualShown] = [document.createElement("i"), document.createElement("b")];
  label.textContent = `${name} [${unit}]`;
  numbers.append(referenceShown, "  ", actualShown);
  caption.append(label, numbers);
  canvas.setAttribute("role", "img");
  canvas.setAttribute("aria-label", `${name} over time, reference and actual`);
  element.append(caption, canvas);
  return { element, canvas, referenceShown, actualShown };
}

// An axis that holds all values and zero, with three to six steps.
function scaled(values) {
  let [low, high] = [0, 0];
  for (const value of values) [low, high] = [Math.min(low, value), Math.max(high, value)];
  if (high - low < 0.2) [low, high] = [low - 0.1, high + 0.1];
  const margin = (high - low) * 0.06;
  [low, high] = [low - margin, high + margin];
  return { low, high, step: rounded((high - low) / 6) };
}

// The next 1, 2 or 5 times a power of ten.
function rounded(step) {
  const decade = 10 ** Math.floor(Math.log10(step));
  return [1, 2, 5, 10].map((factor) => factor * decade).find((candidate) => candidate >= step);
}

function shown(value) {
  return Number.isFinite(value) ? fixed(value, 2) : "";
}
