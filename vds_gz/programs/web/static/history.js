// The frames of the last minute, column by column.

const LENGTH = 60 * 32;
const GAP = 1.5; // a longer silence, both in the vehicle's time and in ours, breaks a line [s]

export class History {
  constructor() {
    this.shape({ columns: ["time"], joints: [], actuators: [] });
  }

  // Set the meaning of the numbers of the coming frames.
  shape(layout) {
    this.names = [
      ...layout.columns,
      ...layout.joints.map((name) => `joint ${name}`),
      ...layout.actuators.map(({ name }) => `reference ${name}`),
      ...layout.actuators.map(({ name }) => `actual ${name}`),
    ];
    this.columns = new Map(this.names.map((name) => [name, new Float64Array(LENGTH)]));
    this.clear();
  }

  clear() {
    this.count = 0;
    this.last = this.arrived = -Infinity;
  }

  // Whether a frame has as many numbers as there are names.
  fits(numbers) {
    return numbers.length === this.names.length;
  }

  // Keep a frame that arrives now [s]. Returns whether the vehicle has restarted: its time has gone back.
  add(numbers, now) {
    const time = numbers[0];
    const restarted = time < this.last;
    if (restarted) this.clear();
    const silence = Math.min(time - this.last, now - this.arrived); // the vehicle's time may run faster or slower than ours
    if (silence > GAP && this.count > 0) this.put(new Float64Array(numbers.length).fill(NaN), time);
    this.put(numbers, time);
    [this.last, this.arrived] = [time, now];
    return restarted;
  }

  put(numbers, time) {
    const place = this.count++ % LENGTH;
    this.names.forEach((name, i) => (this.columns.get(name)[place] = numbers[i]));
    this.columns.get("time")[place] = time;
  }

  // A frame by the names of its numbers.
  frame(numbers) {
    return Object.fromEntries(this.names.map((name, i) => [name, numbers[i]]));
  }

  // Call `visit(time, value)` for the values of a column in the last `seconds`, oldest first.
  each(name, seconds, visit) {
    const times = this.columns.get("time");
    const values = this.columns.get(name);
    if (!values) return;
    for (let i = Math.max(0, this.count - LENGTH); i < this.count; i++) {
      const place = i % LENGTH;
      if (times[place] >= this.last - seconds) visit(times[place], values[place]);
    }
  }
}
