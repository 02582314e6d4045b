// The buttons that hold the vehicle, resume it, and put it back at its start.

export class Services {
  constructor(link) {
    this.link = link;
    this.shown = document.getElementById("response");
    document.getElementById("pause").onclick = () => this.ask("paused", "pause", { paused: true });
    document.getElementById("resume").onclick = () => this.ask("running", "pause", { paused: false });
    document.getElementById("reset").onclick = () => this.ask("the vehicle is back at its start", "reset");
  }

  async ask(done, kind, content) {
    const reason = await this.link.ask(kind, content);
    this.shown.dataset.ok = String(!reason);
    this.shown.textContent = reason || done;
    clearTimeout(this.clearing);
    this.clearing = setTimeout(() => (this.shown.textContent = ""), 4000);
  }
}
