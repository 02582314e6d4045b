// Drives by the keys that are held while the view has the focus.

const [STEER_IN, STEER_BACK] = [0.45, 0.2]; // time from the centre to the end, and back [s]
const FORWARD = { KeyW: 1, ArrowUp: 1, KeyS: -1, ArrowDown: -1 };
const TURN = { KeyA: 1, ArrowLeft: 1, KeyD: -1, ArrowRight: -1 };
const LATERAL = { KeyQ: 1, KeyE: -1 };

export class Keyboard {
  name = "keyboard";

  // `changed()` is called when a key has changed the command, `stop()` to stop the vehicle at once.
  constructor(canvas, changed, stop) {
    this.keys = new Set();
    this.turn = 0;
    this.at = 0;
    canvas.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.altKey || event.metaKey) return;
      if (event.code === "Space") stop();
      else if (this.knows(event.code)) this.keys.add(event.code);
      else return;
      event.preventDefault();
      if (!event.repeat) changed();
    });
    canvas.addEventListener("keyup", (event) => {
      if (this.keys.delete(event.code)) changed();
    });
    canvas.addEventListener("blur", stop);
  }

  shape({ lateral }) {
    this.sideways = lateral;
  }

  knows(code) {
    return code in FORWARD || code in TURN || (this.sideways && code in LATERAL);
  }

  release() {
    this.keys.clear();
    this.turn = 0;
  }

  // The keys' command; null if no key is held and the steering is back at the centre.
  command() {
    const sum = (map) => Math.sign([...this.keys].reduce((total, code) => total + (map[code] ?? 0), 0));
    this.steer(sum(TURN));
    if (this.keys.size === 0 && this.turn === 0) return null;
    return { longitudinal: sum(FORWARD), lateral: this.sideways ? sum(LATERAL) : 0, turn: this.turn };
  }

  // A key is all or nothing; the steering follows it at a limited rate.
  steer(target) {
    const now = performance.now();
    const passed = Math.min((now - this.at) / 1000, 0.05);
    const back = target === 0 || target * this.turn < 0;
    const step = passed / (back ? STEER_BACK : STEER_IN);
    this.turn += Math.max(-step, Math.min(step, target - this.turn));
    this.at = now;
  }
}

export function key(name) {
  const element = document.createElement("kbd");
  element.textContent = name;
  return element;
}
