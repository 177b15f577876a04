// The sign that an answer is being worked out: what is done, for how long already, and a way to stop it.

import { make } from "./dom.mjs";
import { button } from "./form.mjs";
import { megabytes } from "./package.mjs";
import { python } from "./python.mjs";

// Pauses. [ms]
const BUSY_AFTER = 200; // an answer that takes longer shows a busy sign
const CANCEL_AFTER = 1200; // and one that takes still longer can be cancelled

export class Busy {
  #begun = 0;

  /**
   * @param section  the explorer
   * @param timers   its timers
   * @param cancel   called when the reader cancels
   */
  constructor(section, timers, cancel) {
    Object.assign(this, { section, timers, cancel });
    this.boxes = section.querySelectorAll(".hopper-answer, .hopper-rest");
    this.box = section.querySelector(".hopper-busy");
  }

  get #said() {
    return this.box.querySelector(".hopper-spinner + span");
  }

  show(heavy) {
    this.#begun = performance.now();
    this.timers.set("busy", BUSY_AFTER, () => {
      for (const box of this.boxes) box.setAttribute("aria-busy", "true");
      this.section.toggleAttribute("data-busy", true);
      const text = python.ready ? "Working …" : `Starting Python in your browser: ${megabytes} MB, once …`;
      this.box.replaceChildren(make("span", { class: "hopper-spinner", "aria-hidden": "true" }), make("span", {}, text));
    });
    this.timers.set("cancel", heavy ? BUSY_AFTER : CANCEL_AFTER, () => this.box.append(button("Cancel", this.cancel)));
  }

  /** Say what is known so far. */
  say(text) {
    if (this.#said) this.#said.textContent = text;
  }

  /** Say for how long Python has worked, unless more is known. Readers who hear the page hear it once. */
  beat() {
    if (!this.#said || !/^(Working|Starting)/.test(this.#said.textContent)) return;
    this.#said.replaceChildren("Working", make("span", { "aria-hidden": "true" }, ` for ${Math.round((performance.now() - this.#begun) / 1000)} s`), " …");
  }

  hide() {
    this.timers.clear("busy", "cancel");
    for (const box of this.boxes) box.removeAttribute("aria-busy");
    this.section.removeAttribute("data-busy");
    this.box.replaceChildren();
  }
}
