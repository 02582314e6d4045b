// The socket to the server, which reconnects when it is lost.

const RETRY = 1000; // [ms]

export class Link {
  constructor(vehicle) {
    this.listeners = new Map();
    this.responses = new Map();
    this.number = 0;
    this.unseen = 0;
    this.reason = ""; // why the server refused the last socket
    const query = vehicle === null ? "" : `?vehicle=${encodeURIComponent(vehicle)}`;
    this.address = `${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/socket${query}`;
    this.open();
  }

  // Set the listener of a kind of messages; "opened", "lost" (with the server's reason) and "frame" are kinds too.
  on(kind, listener) {
    this.listeners.set(kind, listener);
  }

  // Send something to the server; false if it is not connected.
  send(kind, content = {}) {
    if (this.socket.readyState !== WebSocket.OPEN) return false;
    this.socket.send(JSON.stringify({ kind, ...content }));
    return true;
  }

  // Send a request. Resolves to the reason why it failed, or to an empty text.
  ask(kind, content = {}) {
    const number = this.number++;
    return new Promise((resolve) => {
      this.responses.set(number, resolve);
      if (!this.send(kind, { ...content, number })) this.respond(number, "there is no connection to the server");
    });
  }

  // Tell the server that the received frames have been drawn.
  seen() {
    for (; this.unseen > 0; this.unseen--) this.send("seen");
  }

  open() {
    this.unseen = 0;
    this.socket = new WebSocket(this.address);
    this.socket.binaryType = "arraybuffer";
    this.socket.onopen = () => {
      this.reason = "";
      this.tell("opened");
    };
    this.socket.onmessage = (event) => this.take(event.data);
    this.socket.onclose = async (event) => {
      for (const number of [...this.responses.keys()]) this.respond(number, "the connection to the server is lost");
      this.tell("lost", event.reason || this.reason);
      setTimeout(() => this.open(), RETRY);
      const reason = event.reason || (await this.refusal());
      if (this.socket.readyState === WebSocket.OPEN) return; // connected meanwhile: the reason is outdated
      this.reason = reason;
      this.tell("lost", reason);
    };
  }

  // The server's reason for refusing a socket, which the browser hides from the socket; empty if there is none.
  async refusal() {
    try {
      const response = await fetch(this.address.replace("ws", "http"), { signal: AbortSignal.timeout(RETRY) });
      return response.ok ? "" : await response.text();
    } catch {
      return "";
    }
  }

  take(data) {
    if (data instanceof ArrayBuffer) {
      this.unseen++;
      this.tell("frame", new Float64Array(data));
      return;
    }
    const message = JSON.parse(data);
    if (message.kind === "response") this.respond(message.number, message.reason);
    else this.tell(message.kind, message);
  }

  respond(number, reason) {
    this.responses.get(number)?.(reason);
    this.responses.delete(number);
  }

  tell(kind, content) {
    this.listeners.get(kind)?.(content);
  }
}
