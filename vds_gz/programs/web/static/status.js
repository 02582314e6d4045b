// The line at the top, and the diagnostics.

const LONG = 24; // a longer value takes a line of its own [characters]
const WINDOW = 1000; // time over which frames per second are counted [ms]

export class Status {
  constructor() {
    this.text = document.getElementById("status");
    this.time = document.getElementById("time");
    this.rate = document.getElementById("rate");
    this.list = document.getElementById("diagnosed");
    this.choice = document.getElementById("vehicle");
    this.drawnAt = [];
    this.frames = 0;
    setInterval(() => this.showRate(performance.now()), WINDOW / 2);
  }

  connected() {
    this.say("waiting for the vehicle ...", "waiting");
  }

  lost(reason) {
    this.say(`${reason || "no connection to the server"}; trying again ...`, "lost");
  }

  show({ alive, level, text, values }) {
    if (alive) this.say(text || "running", level);
    else this.say("no data from a vehicle: is its node running, in this namespace and ROS domain?", "waiting");
    this.list.replaceChildren(
      ...values.map(([key, value]) => {
        const [row, term, detail] = ["div", "dt", "dd"].map((tag) => document.createElement(tag));
        term.textContent = key;
        detail.textContent = value || "–";
        row.classList.toggle("long", value.length > LONG);
        row.append(term, detail);
        return row;
      }),
    );
  }

  vehicles(names, chosen) {
    document.title = `vds_gz ${chosen === "/" ? "" : chosen}`;
    document.getElementById("vehicle-choice").hidden = names.length < 2;
    this.choice.replaceChildren(...names.map((name) => new Option(name, name, name === chosen, name === chosen)));
    this.choice.onchange = () => location.assign(`/?vehicle=${encodeURIComponent(this.choice.value)}`);
  }

  // Count a frame that was drawn `now` [ms], of the vehicle's time [s].
  drawn(now, time) {
    this.frames++;
    document.documentElement.dataset.frames = this.frames;
    this.drawnAt.push(now);
    this.time.textContent = time > 1e8 ? new Date(time * 1000).toLocaleTimeString("en-GB") : `${time.toFixed(2)} s`;
    this.showRate(now);
  }

  showRate(now) {
    while (this.drawnAt.length && this.drawnAt[0] < now - WINDOW) this.drawnAt.shift();
    this.rate.textContent = `${this.drawnAt.length} frames/s`;
  }

  say(text, level) {
    this.text.textContent = text;
    this.text.dataset.level = level;
  }
}
