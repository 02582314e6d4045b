// Wires the parts of the page together. Each part knows its own elements and nothing of the others.

import { Actuators } from "./actuators.js";
import { Charts } from "./charts.js";
import { Driving } from "./driving.js";
import { History } from "./history.js";
import { limitsOf } from "./limits.js";
import { Link } from "./link.js";
import { Parameters } from "./parameters.js";
import { Scene } from "./scene.js";
import { Services } from "./services.js";
import { Status } from "./status.js";
import { Theme } from "./theme.js";

const history = new History();
const theme = new Theme();
const scene = new Scene(theme);
const charts = new Charts(theme, history);
const actuators = new Actuators(theme);
const status = new Status();
const link = new Link(new URLSearchParams(location.search).get("vehicle"));
const driving = new Driving(link);
const parameters = new Parameters(link);
new Services(link);

let [newest, shown] = [null, null];

link.on("opened", () => status.connected());
link.on("lost", (reason) => {
  status.lost(reason);
  driving.release();
});
link.on("hello", (message) => status.vehicles(message.vehicles, message.vehicle));
link.on("status", (message) => {
  status.show(message);
  parameters.state(message.parameters);
});
link.on("layout", (layout) => {
  newest = shown = null;
  history.shape(layout);
  scene.shape(layout);
  charts.shape(layout);
  actuators.shape(layout);
  driving.shape(layout);
});
link.on("world", (message) => scene.surround(message.polygons));
link.on("contacts", (message) => scene.touch(message));
link.on("points", (message) => scene.meet(message));
link.on("parameters", (message) => parameters.shape(message.table));
link.on("values", (message) => {
  parameters.show(message.values);
  const limits = limitsOf(message.values);
  driving.limits(limits);
  actuators.limits(limits);
});
link.on("refused", (message) => driving.refused(message.reason));
link.on("frame", (numbers) => {
  if (!history.fits(numbers)) return; // the frame has a layout that has not arrived yet
  if (history.add(numbers, performance.now() / 1000)) scene.clearPath();
  newest = numbers;
});

// Frames are drawn when the browser draws, and only then does the server send further frames: a slow browser gets fewer
// frames, and one that does not show the page gets none.
function draw(now) {
  requestAnimationFrame(draw);
  if (newest) {
    shown = history.frame(newest);
    newest = null;
    scene.draw(shown);
    charts.draw();
    actuators.draw(shown);
    status.drawn(now, shown.time);
  } else {
    scene.redrawIfMoved();
  }
  link.seen();
}
requestAnimationFrame(draw);

// Redraw everything, also while the vehicle is silent.
function redraw() {
  scene.redraw();
  charts.draw();
  if (shown) actuators.draw(shown);
}
theme.onChange(redraw);
addEventListener("resize", redraw);
