// The parameters of the vehicle's node. What may change while it runs can be changed here.

export class Parameters {
  constructor(link) {
    this.link = link;
    this.live = document.getElementById("live");
    this.fixed = document.getElementById("fixed");
    this.notice = document.getElementById("parameter-state");
    this.meaning = document.getElementById("meaning");
    this.rows = [];
    this.values = {};
    document.getElementById("filter").oninput = (event) => this.filter(event.target.value.trim().toLowerCase());
  }

  // The reason why the parameters are not known; empty if they are.
  state(text) {
    this.notice.textContent = text;
  }

  shape(table) {
    this.rows = table.map((parameter) => this.row(parameter));
    fill(this.live, this.rows.filter((row) => !row.read_only));
    fill(this.fixed, this.rows.filter((row) => row.read_only));
    this.filter(document.getElementById("filter").value.trim().toLowerCase());
  }

  show(values) {
    this.values = values;
    for (const row of this.rows) {
      row.missed = row.asking; // the new value may come before the response
      if (!row.asking && !focused(row)) this.refresh(row);
    }
  }

  // Show the true value, in place of a refused one and its reason.
  refresh(row) {
    if (row.name in this.values) row.put(this.values[row.name]);
    if (row.input.ariaInvalid !== "true") return;
    row.input.ariaInvalid = "false";
    row.reason.textContent = "";
  }

  filter(text) {
    for (const row of this.rows) row.element.hidden = !`${row.name} ${row.text}`.toLowerCase().includes(text);
    for (const group of document.querySelectorAll("#parameters .parameters")) {
      group.hidden = [...group.querySelectorAll(".parameter")].every((element) => element.hidden);
    }
    if (text) document.getElementById("fixed-part").open = true;
  }

  row(parameter) {
    const element = document.createElement("div");
    const [label, unit, reason] = ["label", "span", "p"].map((tag) => document.createElement(tag));
    const input = parameter.read_only ? document.createElement("span") : control(parameter);
    const dot = parameter.name.lastIndexOf(".");
    element.className = "parameter";
    element.title = input.title = `${parameter.name}\n${[parameter.text, bounds(parameter)].filter(Boolean).join("; ")}`;
    label.append(...breakable(parameter.name.slice(dot + 1)));
    unit.className = "unit";
    unit.textContent = parameter.unit.replaceAll("^2", "²").replaceAll("^3", "³");
    reason.className = "reason";
    reason.setAttribute("role", "status");
    if (parameter.read_only) {
      input.className = "value";
      element.tabIndex = 0;
    } else {
      input.id = label.htmlFor = `parameter ${parameter.name}`;
      input.name = parameter.name;
    }
    element.append(label, input, unit, reason);
    const group = parameter.name.slice(0, Math.max(0, dot));
    const row = { ...parameter, group, element, input, reason, put: putter(parameter, input) };
    // Touch and keyboard users see no tooltip.
    element.addEventListener("focusin", () => this.meaning.replaceChildren(...breakable(element.title)));
    element.addEventListener("focusout", () => this.meaning.replaceChildren());
    if (!parameter.read_only) {
      input.addEventListener("change", () => this.set(row));
      input.addEventListener("blur", () => {
        // Typed text stays until the response comes, or its reason has been read.
        if (!row.asking && input.ariaInvalid !== "true") this.refresh(row);
      });
    }
    return row;
  }

  async set(row) {
    const value = entered(row);
    const request = (row.asked = (row.asked ?? 0) + 1);
    row.asking = true;
    row.missed = false;
    const reason = value === undefined ? `'${row.input.value}' is not a number` : await this.link.ask("set", { name: row.name, value });
    if (request !== row.asked) return; // another value was sent meanwhile
    row.asking = false;
    row.reason.dataset.ok = String(!reason);
    row.input.ariaInvalid = String(Boolean(reason));
    row.reason.textContent = reason || "set";
    clearTimeout(row.clearing);
    if (reason) return;
    row.clearing = setTimeout(() => (row.reason.textContent = ""), 2000);
    if (row.missed && !focused(row)) this.refresh(row);
  }
}

// Whether the user may be typing in a row.
function focused(row) {
  return document.activeElement === row.input;
}

// Put rows into an element, under a heading for each group of names.
function fill(element, rows) {
  const groups = new Map();
  for (const row of rows) groups.set(row.group, [...(groups.get(row.group) ?? []), row]);
  element.replaceChildren(
    ...[...groups].map(([name, members]) => {
      const section = document.createElement("div");
      const heading = document.createElement("h3");
      section.className = "parameters";
      heading.className = "group";
      heading.append(...breakable(name.replace("model_params.", "") || "node"));
      section.append(heading, ...members.map((row) => row.element));
      return section;
    }),
  );
}

// A name that may be broken after each underscore, dot and slash.
function breakable(name) {
  return name.split(/(?<=[_./])/).flatMap((part) => [part, document.createElement("wbr")]);
}

function control(parameter) {
  if (parameter.choices.length) {
    const select = document.createElement("select");
    select.append(...parameter.choices.map((choice) => new Option(choice, choice)));
    return select;
  }
  const input = document.createElement("input");
  input.type = parameter.type === "bool" ? "checkbox" : "text";
  if (["double", "integer"].includes(parameter.type)) input.inputMode = "decimal";
  return input;
}

function putter(parameter, input) {
  const text = (value) => (Array.isArray(value) ? value.join(", ") : String(value));
  if (parameter.read_only) return (value) => input.replaceChildren(...breakable(text(value) || "–"));
  if (parameter.type === "bool") return (value) => (input.checked = value);
  return (value) => (input.value = text(value));
}

// The value of a row's control in the type of the parameter; undefined if it is not valid.
function entered({ type, input }) {
  const number = (text) => (text.trim() === "" || !Number.isFinite(Number(text)) ? undefined : Number(text));
  if (type === "bool") return input.checked;
  if (type === "string") return input.value;
  if (type !== "double_array") return number(input.value);
  const numbers = input.value.split(",").map(number);
  return numbers.includes(undefined) ? undefined : numbers;
}

function bounds({ minimum, maximum, constraints }) {
  const parts = [];
  if (minimum !== null && constraints !== "greater than 0") parts.push(`at least ${minimum}`);
  if (maximum !== null) parts.push(`at most ${maximum}`);
  if (constraints) parts.push(constraints);
  return parts.join(", ");
}
