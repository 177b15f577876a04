// A place to write Python: a text until it is opened, then an editor with what its code prints. The code runs in a
// worker of its own, so that what it changes reaches no explorer, and it can be stopped at any time.

import { make } from "./dom.mjs";
import { Python } from "./python.mjs";
import { Timers } from "./timers.mjs";

// How long a reader's code may take [s], and how large Python's memory may be for the next run to begin in it [bytes].
const LONGEST = 8;
const LARGEST = 600e6;
const BUSY_AFTER = 200; // [ms]

const python = new Python({ apart: true, patience: { start: 60_000, light: 1000 * LONGEST, heavy: 1000 * LONGEST }, largest: LARGEST });
let places = 0;

/** Return a text field that indents with Tab, and leaves with Escape and Tab: where the editor cannot be had. */
function plainField(parent, { text, label, describedBy, run }) {
  const field = make("textarea", { rows: text.split("\n").length + 1, "aria-label": label, "aria-describedby": describedBy, spellcheck: "false", autocapitalize: "off", autocomplete: "off" });
  field.value = text;
  let leaving = false;
  field.addEventListener("keydown", (event) => {
    const { key, shiftKey, ctrlKey, metaKey } = event;
    if (key === "Enter" && (ctrlKey || metaKey)) {
      event.preventDefault();
      run();
    } else if (key === "Tab" && !shiftKey && !leaving) {
      event.preventDefault();
      field.setRangeText("    ", field.selectionStart, field.selectionEnd, "end");
    }
    leaving = key === "Escape";
  });
  parent.append(field);
  return { text: () => field.value, set: (other) => (field.value = other), focus: () => field.focus() };
}

export class CodeArea {
  #timers = new Timers();

  /** Work in a box that holds the text to begin with; `ran` is given what came of each run, or why nothing did. */
  constructor(box, { start, label, values = {}, ran = () => {} }) {
    Object.assign(this, { box, start, label, values, ran });
    this.open = this.#button("Open the editor", () => this.#open());
    this.open.classList.add("hopper-main");
    this.ends = make("div", { class: "hopper-ends" }, this.open);
    box.append(this.ends);
  }

  #button(label, act) {
    const button = make("button", { type: "button", class: "hopper-button" }, label);
    button.addEventListener("click", act);
    return button;
  }

  async #open() {
    if (this.field) return this.field.focus();
    python.warm();
    const help = make("p", { class: "hopper-help", id: `hopper-code-${++places}` }, "Ctrl and Enter run it. Tab indents; Escape, then Tab, leaves the editor.");
    const how = { text: this.start, label: this.label, describedBy: help.id, run: () => this.run() };
    const holder = make("div", { class: "hopper-editor" });
    const { editor } = await import("./editor.mjs").catch(() => ({ editor: plainField }));
    if (this.field) return;
    this.field = editor(holder, how);
    this.box.querySelector(":scope > pre").replaceWith(holder);
    holder.after(help);
    this.printed = make("pre", { class: "hopper-printed", role: "status", "aria-label": "What the code prints" });
    this.stop = this.#button("Stop", () => python.stop());
    this.stop.hidden = true;
    this.open.textContent = "Run";
    this.open.replaceWith((this.runs = this.#button("Run", () => this.run())));
    this.runs.classList.add("hopper-main");
    this.again = this.#button("Begin again", () => {
      this.field.set(this.start);
      this.field.focus();
    });
    this.ends.append(" ", this.stop, " ", this.again);
    this.ends.after(this.printed);
    this.field.focus();
  }

  /** Run what is written, and show what it prints. */
  async run() {
    if (this.running) return;
    this.running = true;
    this.runs.setAttribute("aria-disabled", "true");
    this.#timers.set("busy", BUSY_AFTER, () => {
      this.printed.textContent = python.ready ? "Running …" : "Starting Python …";
      this.stop.hidden = false;
    });
    let came;
    try {
      came = await python.run(this.field.text(), this.values);
    } catch ({ kind, message }) {
      came = { output: "", error: "", wrong: "", failure: kind === "cancelled" ? "Stopped." : kind === "start" ? `Python could not start on this page: ${message}.` : `Stopped after ${LONGEST} seconds or for want of memory. Is there a loop that never ends?` };
    }
    this.#timers.clear("busy");
    // Who has the focus on what goes away goes on at what is there.
    if (document.activeElement === this.stop) this.runs.focus();
    this.stop.hidden = true;
    this.runs.removeAttribute("aria-disabled");
    this.running = false;
    this.printed.replaceChildren(came.output, ...(came.failure || came.error ? [make("strong", {}, came.failure ?? came.error)] : []));
    this.ran(came);
  }
}

/** Start a box in which a model can be changed. */
export function startModelBox(section) {
  const box = section.querySelector(".hopper-code");
  new CodeArea(box, { start: box.querySelector("pre").textContent, label: `Python: ${section.querySelector(".hopper-code-title").textContent}` });
}

