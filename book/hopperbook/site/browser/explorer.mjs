// One explorer of the page: from a change of its form to the answer, or to a problem and a way on.

import { readSetting, sharedPart, writeSetting } from "./address.mjs";
import { showAnswer, showSoFar, startAnswer } from "./answer.mjs";
import { Busy } from "./busy.mjs";
import { copyText, dataOf, fileName, make, prose, saveFile } from "./dom.mjs";
import { button, Form } from "./form.mjs";
import { MachineMenu } from "./machine-menu.mjs";
import { whenMeant, whenNear } from "./near.mjs";
import { drawAhead, drawn, fetchLibraries } from "./plot.mjs";
import { python } from "./python.mjs";
import { copyLink } from "./share.mjs";
import { Stored } from "./stored.mjs";
import { Timers } from "./timers.mjs";
import { moveByArrows } from "./toolbar.mjs";

// Pauses. [ms]
const TYPING = 450; // an unfinished line is not called wrong before this pause
const HEAVY = 250; // a heavy model waits until dragging or typing pauses
const QUIET = 350; // screen readers hear the sentence after this pause
const ADDRESS = 250; // browsers limit how often the address may change

/** Start the explorer in a <section>. */
export function startExplorer(section) {
  new Explorer(section);
}

class Explorer {
  #running = false;
  #waiting = false;
  #cancelled = false;
  #refused = {};
  #told; // the question whose refusal is shown
  #taken = 0; // answers made by the build that were shown
  #timers = new Timers();

  constructor(section) {
    const { key, spec, start, answer, kept, stored } = dataOf(section);
    Object.assign(this, { section, key, spec, start, kept, examples: [], shown: { result: answer } });
    this.stored = stored ? new Stored(stored, start) : null;
    this.whole = this.shown;
    this.busy = new Busy(section, this.#timers, () => {
      this.#cancelled = true;
      this.#waiting = false;
      python.stop();
    });
    this.problem = section.querySelector(".hopper-problem");
    this.form = new Form(section.querySelector(".hopper-form"), spec.controls, (settled) => this.#changed(settled));
    this.menu = new MachineMenu(this.form.fields);
    this.asked = JSON.stringify(this.form.values());
    startAnswer(section, answer);
    for (const toolbar of section.querySelectorAll("[role=toolbar]")) moveByArrows(toolbar);
    this.#warmWhenNear();
    section.addEventListener("click", (event) => this.#click(event.target.closest("button")));
    addEventListener("hashchange", () => this.#takeAddress());
    Object.assign(section, { hopperForm: this.form, hopperMenu: this.menu, hopperFacts: () => this.shown.result.facts });
    Object.assign(section, { hopperSet: (values, fitting) => this.set(values, undefined, fitting), hopperSettled: () => this.settled() });
    section.hopperTry = (values) => this.set({ ...this.start, ...values });
    section.hopperExample = (label) => this.#showExample(this.spec.examples.findIndex((each) => each.label === label));
    this.#takeAddress();
    if (this.form.moved && !this.#timers.has("address")) {
      this.asked = undefined;
      this.#changed(true);
    }
  }

  /** Set some values and answer them, or show their answer if it is at hand; fit what was set for a larger machine. */
  set(values, answer, fitting = false) {
    this.fitting = fitting;
    this.form.accept();
    const refused = this.form.set(values);
    this.#changed(true, answer);
    this.#refused = refused;
    this.#showRefused();
  }

  /** Say at a control that the link asked for what it does not offer. */
  #showRefused() {
    for (const [name, value] of Object.entries(this.#refused)) {
      this.form.refuse(name, `The link asks for ${value}, which is not offered here. Shown is ${this.form.fields[name].value}.`);
    }
  }

  #takeAddress() {
    const setting = readSetting(this.key);
    const names = this.spec.controls.filter((control) => control.name in setting);
    if (names.length === 0) return;
    const others = this.spec.controls.filter((control) => control.shareable).map(({ name }) => [name, this.start[name]]);
    this.set({ ...Object.fromEntries(others), ...Object.fromEntries(names.map(({ name }) => [name, setting[name]])) });
    this.section.scrollIntoView({ block: "start" });
  }

  /**
   * Fetch what answers and draws when the explorer comes near and the browser has time, or at the first touch. What stands
   * first on a front page is near whoever comes for something else: there it waits for a sign that it is meant.
   */
  #warmWhenNear() {
    const first = this.section.matches("#explorer-identify, .hopper-brief *");
    (first ? whenMeant : whenNear)(this.section, () => {
      // Before Python, which is much larger.
      this.stored?.fetch();
      python.warm();
      fetchLibraries(this.shown.result.figures);
      this.kept.splice(0).forEach(async (name, i) => {
        if (!name) return; // one of the stored
        const reply = await fetch(new URL(`../answers/${name}`, import.meta.url)).catch(() => {});
        if (reply?.ok) this.examples[i] = await reply.json();
      });
    });
    // A pointer, or the focus, on its way to a control; a finger may only be scrolling.
    this.section.addEventListener("pointerenter", ({ pointerType }) => pointerType === "mouse" && drawAhead(this.section));
    this.section.addEventListener("focusin", () => drawAhead(this.section), { once: true });
  }

  /** Resolve when no answer is awaited, and the charts show the last. */
  async settled() {
    while (this.#running || this.#timers.has("ask")) await new Promise((done) => setTimeout(done, 20));
    await drawn();
  }

  #changed(settled, answer) {
    this.menu.follow();
    const values = this.form.values();
    this.#refused = {};
    this.#timers.set("address", ADDRESS, () => writeSetting(this.key, sharedPart(this.spec.controls, this.start, values)));
    const asked = JSON.stringify(values);
    // A press on a button of the refusal settles the field; asked again, the button would be replaced under the finger.
    if (asked === this.asked && (asked === this.#told || !this.problem.hasChildNodes())) {
      if (settled) this.#timers.hurry("refusal");
      return;
    }
    this.asked = asked;
    this.pausing = settled;
    this.#timers.clear("refusal");
    const made = answer ?? this.stored?.at(values);
    if (made) this.#takeKept(made);
    else if (this.spec.heavy && !settled) this.#timers.set("ask", HEAVY, () => this.#ask());
    else this.#ask();
  }

  /** Show an answer that the build made; what is under way answers an earlier setting. */
  #takeKept(answer) {
    this.#timers.clear("ask");
    this.#taken += 1;
    this.#waiting = false;
    this.busy.hide();
    this.#take(answer);
    this.section.hopperAnew?.();
  }

  /** Ask for the latest values; while an answer is under way, only the latest question is kept. */
  async #ask() {
    this.#timers.clear("ask");
    if (this.#running) {
      this.#waiting = true;
      return;
    }
    this.#running = true;
    this.#cancelled = false;
    this.busy.show(this.spec.heavy);
    const taken = this.#taken;
    const late = () => taken !== this.#taken;
    try {
      if (this.stored) await this.stored.fetch();
      const values = this.form.values();
      const made = this.stored?.at(values);
      if (made) this.#takeKept(made);
      else {
        const soFar = (known) => late() || this.#drawSoFar(known);
        const beat = () => this.busy.beat();
        const answer = await python.answer(this.spec.name, values, this.spec.heavy, { soFar, beat, machine: this.section.hopperWatch?.(values) });
        if (!late() && !(this.#waiting && this.spec.heavy)) this.#take(answer);
      }
    } catch (failure) {
      if (failure.kind === "cancelled" && !this.#cancelled) this.#waiting = true;
      else if (!this.#waiting && !late()) this.#fail(failure);
    }
    this.#running = false;
    this.busy.hide();
    if (this.#waiting) {
      this.#waiting = false;
      this.#ask();
    }
  }

  /** Draw what is known of an answer that is worked out, dimmed as what it takes the place of. */
  #drawSoFar({ summary, figures }) {
    this.busy.say(summary);
    const { result } = this.shown;
    this.shown = { ...this.shown, result: { ...result, figures: showSoFar(this.section, figures, result.figures) } };
    drawn().then(() => this.section.dispatchEvent(new CustomEvent("hopper-so-far")));
  }

  /** Draw the last whole answer again. */
  #drawWhole() {
    if (this.shown === this.whole) return;
    showSoFar(this.section, this.whole.result.figures, this.shown.result.figures);
    this.shown = this.whole;
  }

  #take(answer) {
    if (!answer.ok) {
      this.#drawWhole();
      const refuse = () => this.#refuse(answer.error);
      if (this.pausing) refuse();
      else this.#timers.set("refusal", TYPING, refuse);
      return;
    }
    this.#timers.clear("refusal");
    this.#clearProblem();
    const summary = this.section.querySelector(".hopper-summary");
    summary.setAttribute("aria-live", "off");
    showAnswer(this.section, answer, this.shown);
    this.section.classList.add("hopper-touched");
    this.shown = this.whole = answer;
    this.#showRefused();
    this.section.dispatchEvent(new CustomEvent("hopper-answer", { bubbles: true }));
    this.#timers.set("quiet", QUIET, () => {
      // What a mechanism asked is heard there.
      summary.setAttribute("aria-live", document.activeElement?.closest(".hopper-scene") ? "off" : "polite");
      summary.replaceChildren(...prose(this.shown.result.summary));
    });
  }

  /** Show a refused input at its control. */
  #refuse({ message, control }) {
    const most = Number(message.match(/must be at most ([\d,]+)/)?.[1].replaceAll(",", ""));
    if (this.fitting && this.start[control] > most && Number(this.form.values()[control]) === this.start[control]) {
      this.set({ [control]: most }, undefined, true);
      return;
    }
    this.form.accept();
    const atControl = this.form.refuse(control, message);
    this.#showProblem(
      atControl ? "Not answered: see the marked setting. Below is the answer to the previous setting." : message,
      [["Back to the start", () => this.set(this.start)]],
    );
    if (!atControl) this.problem.firstChild.append(" Below is the answer to the previous setting.");
    this.#told = this.asked;
  }

  #fail({ kind, message }) {
    this.#drawWhole();
    const again = ["Try again", () => this.#ask()];
    const start = ["Back to the start", () => this.set(this.start)];
    const lines = {
      start: [`Python could not start on this page: ${message}.`, [again]],
      dead: [`Python has stopped: ${message}.`, [["Start it again", again[1]]]],
      cancelled: ["Canceled. Below is the answer to the previous setting.", [again, start]],
      model: ["The model failed on this setting, which is a defect of ours. Below is the answer to the previous setting.", [start]],
    };
    const [text, ways] = lines[kind] ?? [String(message), [again, start]];
    this.#showProblem(text, ways);
    if (kind === "model") this.problem.append(make("details", {}, make("summary", {}, "What Python says"), make("pre", {}, message)));
  }

  #showProblem(text, ways) {
    const buttons = ways.map(([label, act]) =>
      button(label, () => {
        this.#clearProblem();
        act();
      }),
    );
    this.problem.replaceChildren(make("p", {}, ...prose(text)), make("div", { class: "hopper-ends" }, ...buttons));
    this.section.classList.add("hopper-stale");
  }

  #clearProblem() {
    this.form.accept();
    this.problem.replaceChildren();
    this.#told = undefined;
    this.section.classList.remove("hopper-stale");
  }

  #click(pressed) {
    if (!pressed) return;
    const at = Number(pressed.dataset.index);
    const { copyables, tables, figures, downloads } = this.shown.result;
    const acts = {
      reset: () => this.set(this.start),
      all: () => this.form.showAll(),
      link: () => copyLink(this, pressed),
      copy: () => copyText(copyables[at].text, pressed),
      csv: () => saveFile(fileName(tables[at].caption, "csv"), tables[at].csv, "text/csv"),
      "figure-csv": () => saveFile(fileName(figures[at].title, "csv"), figures[at].table.csv, "text/csv"),
      download: () => saveFile(downloads[at].name, downloads[at].text, downloads[at].media_type),
    };
    const { example } = pressed.dataset;
    if (example) this.#showExample(Number(example));
    else acts[pressed.dataset.do]?.();
  }

  #showExample(at) {
    this.set({ ...this.start, ...this.spec.examples[at].values }, this.examples[at]);
  }
}
