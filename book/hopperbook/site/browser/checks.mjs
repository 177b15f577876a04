// Self-checks: a reader answers, the page marks, and the result stays in the browser.

import { copyText, dataOf, make, prose } from "./dom.mjs";
import { mark, readTypedNumber } from "./marking.mjs";
import { guessOf, optionsFigure, predictionFigure } from "./prediction.mjs";
import { checkRecord, className, noteCheck, predictionsText } from "./progress.mjs";
import { PAGE, wasTouched, whenMade } from "./touched.mjs";

/** Start the self-check in a <section>. */
export function startCheck(section) {
  new Check(section);
}

class Check {
  #hints = 0;

  constructor(section) {
    this.check = dataOf(section);
    this.section = section;
    this.form = section.querySelector("form");
    this.feedback = section.querySelector(".hopper-feedback");
    // Below this heading an answer is a prediction: given once, before anything is shown.
    // A curve is drawn before anything is shown wherever it stands.
    this.prediction = this.check.kind === "curve" || (section.closest("#predict-first") !== null && ["number", "choice"].includes(this.check.kind));
    if (this.prediction) {
      this.form.querySelector(".hopper-main").textContent = "Commit";
      this.#showCode(false);
    }
    this.form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#mark();
    });
    section.addEventListener("click", ({ target }) => {
      const pressed = target.closest("button");
      if (pressed?.dataset.do === "hint") this.#hint(pressed);
      else if (pressed?.dataset.do === "answer") this.#showAnswer();
    });
    const record = checkRecord(this.check.name);
    this.#showRecord(record);
    const recall = () => this.prediction && record?.guess && this.#recall(record);
    if (this.check.kind === "curve") this.#startCurve().then(recall);
    else if (this.check.node?.length) this.#startNode().then(recall);
    else recall();
  }

  async #startCurve() {
    const { Curve } = await import("./curve.mjs");
    this.curve = new Curve(this.section.querySelector(".hopper-curve-box"), this.check);
  }

  async #startNode() {
    const { NodeChoice } = await import("./node-choice.mjs");
    this.node = new NodeChoice(this.form.querySelector("fieldset"), this.check);
  }

  /** The code of a prediction holds its answer: it is shown when the reader has committed. */
  #showCode(shown) {
    const code = this.section.closest(".cell")?.querySelector(".cell_input, details.hide");
    if (code) code.style.display = shown ? "" : "none";
  }

  #note(what, guessed = {}) {
    this.#showRecord(noteCheck(this.check.name, { page: PAGE, question: this.check.question, ...guessed }, what));
  }

  /** Show the answer to a prediction, and keep it: it is not given twice. */
  #commit(given, verdict) {
    if (!checkRecord(this.check.name)?.guess) this.#note({ tried: true, right: verdict.right }, { ...guessOf(this.check, given), before: !wasTouched() });
    this.#say(verdict.right ? "As you said." : "It is otherwise.", verdict.feedback, verdict.right ? "right" : "wrong");
    if (!verdict.right) this.feedback.append(` ${this.check.kind === "number" ? `${this.check.answer_text}. ` : ""}`, ...prose(this.check.explanation));
    this.curve?.reveal(given);
    this.node?.reveal();
    if (this.check.kind === "number") this.feedback.after(predictionFigure(readTypedNumber(given, this.check).number, this.check));
    // The figure holds the options: it stands in their place.
    if (this.check.quantity) this.form.querySelector("fieldset").replaceWith(optionsFigure(given, this.check));
    for (const input of this.form.querySelectorAll("input")) {
      input.disabled = true;
      input.parentElement.toggleAttribute("data-right", this.check.options?.[Number(input.value)]?.right ?? false);
    }
    // The button keeps the focus that it has.
    const [button, ...others] = this.form.querySelectorAll(".hopper-ends button");
    for (const other of others) other.remove();
    button.textContent = "Committed";
    button.setAttribute("aria-disabled", "true");
    this.#showCode(true);
    this.#offerToClass();
    this.section.dataset.committed = "";
    this.section.dispatchEvent(new CustomEvent("hopper-committed", { bubbles: true }));
  }

  /** Where the visit began with a lecturer's link, let the reader hand in what was predicted so far. */
  #offerToClass() {
    if (!className()) return;
    const copy = make("button", { type: "button", class: "hopper-button" }, `Copy my predictions for ${className()}`);
    copy.addEventListener("click", () => copyText(predictionsText(), copy));
    this.form.querySelector(".hopper-ends").append(copy);
  }

  /** Show a prediction of an earlier visit. */
  #recall({ guess }) {
    if (this.check.kind === "curve") {
      const drawn = guess.split(" ").map(Number).filter(Number.isFinite);
      // The curve may be asked at other places than on the earlier visit.
      if (drawn.length === this.check.x.length) this.#commit(drawn, mark(this.check, drawn));
      return;
    }
    const given = this.check.kind === "number" ? guess : this.check.options.flatMap(({ text }, i) => (guess.split(", ").includes(text) || guess === text ? [i] : []));
    // Questions whose form changed since the earlier visit are asked again.
    if (!mark(this.check, given).readable) return;
    for (const input of this.form.querySelectorAll("input")) {
      if (input.type === "text") input.value = guess;
      else input.checked = given.includes(Number(input.value));
    }
    this.#commit(given, mark(this.check, given));
  }

  #showRecord(record) {
    const result = this.section.querySelector(".hopper-result");
    if (!record) return;
    this.section.dataset.right = String(record.right);
    const tries = record.tries === 1 ? "1 try" : `${record.tries} tries`;
    if (this.prediction && record.guess) result.textContent = `${record.right ? "predicted" : "predicted otherwise"}${whenMade(record)}`;
    else if (record.right) result.textContent = record.shown ? "done, after the answer was shown" : `done in ${tries}`;
    else result.textContent = record.tries > 0 ? `not yet: ${tries}` : "";
    this.form.querySelector('[data-do="answer"]').hidden = record.right || record.tries === 0;
  }

  #answer() {
    const { kind } = this.check;
    if (kind === "number") return this.form.querySelector("input").value;
    if (kind === "choice") return [...this.form.querySelectorAll("input:checked")].map((input) => Number(input.value));
    if (kind === "curve") return this.curve?.values() ?? [];
    return this.#explorer()?.hopperFacts?.();
  }

  #explorer() {
    return document.querySelector(`.hopper-explorer[data-name="${this.check.explorer}"]`);
  }

  /** Mark what was answered; of an explorer, the answer to what is set now, not the one before. */
  async #mark() {
    if ("committed" in this.section.dataset) return;
    await this.#explorer()?.hopperSettled?.();
    const verdict = mark(this.check, this.#answer());
    if (this.prediction && verdict.readable) return this.#commit(this.#answer(), verdict);
    this.#say(verdict.right ? "Right." : verdict.readable ? "Not yet." : "", verdict.feedback, verdict.right ? "right" : "wrong");
    const input = this.form.querySelector('input[type="text"]');
    if (verdict.right) input?.removeAttribute("aria-invalid");
    else input?.setAttribute("aria-invalid", "true");
    if (verdict.readable) this.#note({ tried: true, right: verdict.right });
  }

  #say(verdict, text, kind) {
    this.feedback.replaceChildren(...(verdict ? [make("strong", {}, verdict), " "] : []), ...prose(text));
    this.feedback.dataset.kind = kind;
  }

  #hint(pressed) {
    this.section.querySelector(".hopper-hints").append(make("li", {}, ...prose(this.check.hints[this.#hints])));
    this.#hints += 1;
    this.#note({ hint: true });
    if (this.#hints === this.check.hints.length) pressed.hidden = true;
    else pressed.textContent = "Next hint";
  }

  #showAnswer() {
    const { kind, explanation, options, answer_text: text, solution } = this.check;
    this.#note({ shown: true });
    if (kind === "number") {
      this.#say("Answer:", `${text}. ${explanation}`, "shown");
    } else if (kind === "choice") {
      for (const input of this.form.querySelectorAll("input")) input.checked = options[Number(input.value)].right;
      this.#say("Answer:", `the chosen one${options.filter((option) => option.right).length > 1 ? "s" : ""}. ${explanation}`, "shown");
    } else {
      this.#explorer()?.hopperSet(solution);
      this.#say("Answer:", `the explorer now shows a setting that is there. ${explanation}`, "shown");
    }
  }
}
