// The buttons that hold the vehicle, let it go on, and put it where it began.

export class Services {
  constructor(link) {
    this.link = link;
    this.shown = document.getElementById("answer");
    document.getElementById("pause").onclick = () => this.ask("paused", "pause", { paused: true });
    document.getElementById("go-on").onclick = () => this.ask("running", "pause", { paused: false });
    document.getElementById("reset").onclick = () => this.ask("the vehicle stands where it began", "reset");
  }

  async ask(done, kind, content) {
    const reason = await this.link.ask(kind, content);
    this.shown.dataset.ok = String(!reason);
    this.shown.textContent = reason || done;
    clearTimeout(this.clearing);
    this.clearing = setTimeout(() => (this.shown.textContent = ""), 4000);
  }
}
