// Drives by a gamepad while its enabling button is held. Left stick: steering; right stick: speed.

const DEAD_ZONE = 0.1;
const ENABLE = 4; // the left shoulder button, see https://w3c.github.io/gamepad/#remapping

export class Gamepad {
  name = "gamepad";

  constructor() {
    this.notice = document.getElementById("gamepad");
  }

  shape({ lateral, turnName }) {
    this.sideways = lateral;
    this.turnName = turnName;
  }

  // Nothing to release: the enabling button is the dead man's switch.
  release() {}

  command() {
    const pads = [...navigator.getGamepads()].filter((pad) => pad?.connected && pad.mapping === "standard");
    this.notice.textContent = pads.length
      ? `gamepad: hold the left shoulder button; right stick speed, left stick ${this.turnName}`
      : "gamepad: connect one and press a button";
    const pad = pads.find((candidate) => candidate.buttons[ENABLE]?.pressed);
    if (!pad || !document.hasFocus()) return null;
    const [steer, lateral, speed] = [pad.axes[0], pad.axes[2], pad.axes[3]].map(withoutDeadZone);
    return { longitudinal: -speed, lateral: this.sideways ? -lateral : 0, turn: -steer };
  }
}

// An axis from -1 to 1, without the dead zone around its centre.
export function withoutDeadZone(value) {
  const size = Math.abs(value);
  return size > DEAD_ZONE ? (Math.sign(value) * Math.min(1, size - DEAD_ZONE)) / (1 - DEAD_ZONE) : 0;
}
