// The colours of the style sheet, for canvases.

const NAMES = ["panel", "line", "grid", "grid-strong", "text", "faint", "actual", "reference", "path", "met", "body", "body-edge", "mark", "tyre"];

export class Theme {
  constructor() {
    this.listeners = [];
    this.read();
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
      this.read();
      this.listeners.forEach((listener) => listener());
    });
  }

  onChange(listener) {
    this.listeners.push(listener);
  }

  read() {
    const style = getComputedStyle(document.documentElement);
    this.colors = Object.fromEntries(NAMES.map((name) => [name, style.getPropertyValue(`--${name}`).trim()]));
  }
}

// Fit a canvas to its size on the screen. Returns its context and its size, both in CSS pixels.
export function fitted(canvas) {
  const ratio = devicePixelRatio || 1;
  const width = canvas.clientWidth;
  const height = canvas.clientHeight;
  const [wide, high] = [Math.round(width * ratio), Math.round(height * ratio)];
  if (canvas.width !== wide || canvas.height !== high) [canvas.width, canvas.height] = [wide, high];
  const context = canvas.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  return { context, width, height };
}
