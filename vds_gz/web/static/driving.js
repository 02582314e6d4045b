// Drives by keyboard or gamepad. Commands go out at a steady rate while somebody drives; when all is let go, when the page
// loses the focus or the connection, they are zero a few times, and then there is silence, so that others can drive.

const PERIOD = 50; // [ms]
const STOPS = 5;
const [STEER_IN, STEER_BACK] = [0.45, 0.2]; // from the middle to the end and back by key [s]
const DEAD_ZONE = 0.1;
const ENABLE = 4; // the left shoulder button, see https://w3c.github.io/gamepad/#remapping
const STANDSTILL = { forwards: 0, sideways: 0, turn: 0 };

const FORWARDS = { KeyW: 1, ArrowUp: 1, KeyS: -1, ArrowDown: -1 };
const TURN = { KeyA: 1, ArrowLeft: 1, KeyD: -1, ArrowRight: -1 };
const SIDEWAYS = { KeyQ: 1, KeyE: -1 };

export class Driving {
  constructor(link) {
    this.link = link;
    this.canvas = document.getElementById("scene");
    this.banner = document.getElementById("driving");
    this.keys = new Set();
    this.turn = 0;
    this.stops = 0;
    this.reason = "";
    this.limit = { speed: document.getElementById("speed-limit"), turn: document.getElementById("turn-limit") };
    this.known = "";
    this.shape({ steers: true, actuators: [] });
    this.listen();
    this.canvas.focus({ preventScroll: true });
    setInterval(() => this.tick(), PERIOD);
  }

  shape(layout) {
    this.steers = layout.steers;
    this.omni = !layout.steers && layout.actuators.length > 2;
    document.getElementById("turn-name").textContent = this.steers ? "steering" : "yaw rate";
    const keys = [["W", "S"], ["A", "D"], ...(this.omni ? [["Q", "E"]] : [])];
    const text = ["speed", this.steers ? "steering" : "turn", "sideways"];
    const hint = document.getElementById("keys");
    hint.replaceChildren("Click the view, then ");
    keys.forEach((pair, i) => hint.append(...pair.map(key), ` ${text[i]}  `));
    hint.append("(or arrows), ", key("space"), " stop. What is let go stops.");
    this.known = "";
    this.showLimits();
  }

  // The greatest speed and steering angle that the vehicle has, as the ends of the sliders.
  limits(values) {
    const find = (ending) => Object.entries(values).find(([name]) => name.endsWith(ending))?.[1];
    const speed = find("drive_actuator.max_velocity") ?? find("drive_actuators.max_velocity") ?? find(".vel_lim") ?? 5;
    const turn = this.steers ? find("steering_actuator.max_position") ?? find(".steer_lim") ?? 0.6 : 3;
    if (this.known === `${speed} ${turn}` || !(speed > 0) || !(turn > 0)) return;
    this.known = `${speed} ${turn}`;
    this.setEnd(this.limit.speed, speed, Math.min(speed, 2));
    this.setEnd(this.limit.turn, turn, Math.min(turn, this.steers ? 0.5 : 1));
  }

  setEnd(slider, end, start) {
    slider.max = String(end);
    slider.value = String(start);
    this.showLimits();
  }

  showLimits() {
    document.getElementById("speed-shown").textContent = `${Number(this.limit.speed.value).toFixed(2)} m/s`;
    document.getElementById("turn-shown").textContent =
      `${Number(this.limit.turn.value).toFixed(2)} ${this.steers ? "rad" : "rad/s"}`;
  }

  // Somebody is told why a command is not obeyed.
  refused(reason) {
    this.reason = reason;
    clearTimeout(this.forgetting);
    this.forgetting = setTimeout(() => (this.reason = ""), 2000);
  }

  letGo() {
    this.keys.clear();
    this.turn = 0;
  }

  tick() {
    const pad = this.gamepad();
    const wanted = pad ?? this.keyboard();
    const moving = wanted.forwards !== 0 || wanted.sideways !== 0 || wanted.turn !== 0;
    if (moving) this.stops = STOPS;
    if (this.stops > 0) {
      if (!moving) this.stops--;
      this.send(wanted);
    }
    this.show(moving ? (pad ? "gamepad" : "keyboard") : "nobody", wanted);
  }

  send({ forwards, sideways, turn }) {
    const [speed, angle] = [Number(this.limit.speed.value), Number(this.limit.turn.value)];
    this.link.send("drive", {
      v_x: forwards * speed,
      v_y: sideways * speed,
      yaw_rate: this.steers ? 0 : turn * angle,
      steering_angle: this.steers ? turn * angle : 0,
    });
  }

  show(by, { forwards, turn }) {
    const focus = document.activeElement === this.canvas;
    const [speed, angle] = [forwards * Number(this.limit.speed.value), turn * Number(this.limit.turn.value)];
    this.banner.dataset.by = by;
    if (this.reason) this.banner.textContent = this.reason;
    else if (by !== "nobody") {
      this.banner.textContent = `${by}: ${speed.toFixed(2)} m/s, ${angle.toFixed(2)} ${this.steers ? "rad" : "rad/s"}`;
    } else this.banner.textContent = focus ? "" : "click here to drive with keys";
  }

  // ------------------------------------------------------------------ keyboard

  keyboard() {
    const sum = (map) => Math.sign([...this.keys].reduce((total, code) => total + (map[code] ?? 0), 0));
    const target = sum(TURN);
    const against = target === 0 || target * this.turn < 0;
    const step = PERIOD / 1000 / (against ? STEER_BACK : STEER_IN);
    this.turn += Math.max(-step, Math.min(step, target - this.turn));
    return { forwards: sum(FORWARDS), sideways: this.omni ? sum(SIDEWAYS) : 0, turn: this.turn };
  }

  listen() {
    const ours = (code) => code in FORWARDS || code in TURN || (this.omni && code in SIDEWAYS);
    this.canvas.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.altKey || event.metaKey) return;
      if (event.code === "Space") this.stopAtOnce();
      else if (ours(event.code)) this.keys.add(event.code);
      else return;
      event.preventDefault();
      this.tickSoon(event);
    });
    this.canvas.addEventListener("keyup", (event) => {
      if (this.keys.delete(event.code)) this.tick();
    });
    this.canvas.addEventListener("blur", () => this.stopAtOnce());
    window.addEventListener("blur", () => this.stopAtOnce());
    window.addEventListener("pagehide", () => this.stopAtOnce());
    document.addEventListener("visibilitychange", () => this.stopAtOnce());
    for (const slider of Object.values(this.limit)) slider.addEventListener("input", () => this.showLimits());
  }

  // A key that was just pressed need not wait for the next beat.
  tickSoon(event) {
    if (!event.repeat) this.tick();
  }

  stopAtOnce() {
    this.letGo();
    if (this.stops > 0) this.send(STANDSTILL);
  }

  // ------------------------------------------------------------------ gamepad

  // What a gamepad wants while its enabling button is held, and null otherwise. Left stick: steer; right stick: speed.
  gamepad() {
    const pads = [...navigator.getGamepads()].filter((pad) => pad?.connected && pad.mapping === "standard");
    document.getElementById("gamepad").textContent = pads.length
      ? `gamepad: hold the left shoulder button; right stick speed, left stick ${this.steers ? "steering" : "turn"}`
      : "gamepad: connect one and press a button";
    const pad = pads.find((one) => one.buttons[ENABLE]?.pressed);
    if (!pad || !document.hasFocus()) return null;
    const [steer, sideways, speed] = [pad.axes[0], pad.axes[2], pad.axes[3]].map(alive);
    return { forwards: -speed, sideways: this.omni ? -sideways : 0, turn: -steer };
  }
}

// An axis without the part around its middle that does nothing.
function alive(value) {
  const size = Math.abs(value);
  return size > DEAD_ZONE ? (Math.sign(value) * Math.min(1, size - DEAD_ZONE)) / (1 - DEAD_ZONE) : 0;
}

function key(name) {
  const element = document.createElement("kbd");
  element.textContent = name;
  return element;
}
