// The test before and after the workshop: each question is handed in once; the result shows when all are.

import { copyText, dataOf, make, prose, saveFile } from "./dom.mjs";
import { givenOf } from "./guessed.mjs";
import { mark } from "./marking.mjs";
import { guessOf } from "./prediction.mjs";
import { checkRecord, className, exportText, load, noteCheck, predictionsText, save } from "./progress.mjs";

export const UNKNOWN = "I do not know";
const ROOT = new URL(document.documentElement.dataset.content_root ?? "./", location.href).pathname;
const PAGE = location.pathname.slice(ROOT.length).replace(/\.html$/, "");

class ExamQuestion {
  constructor(section, handedIn) {
    Object.assign(this, { section, handedIn, check: dataOf(section), form: section.querySelector("form"), feedback: section.querySelector(".hopper-feedback") });
    this.section.querySelector(".hopper-kicker").firstChild.textContent = "Question ";
    const ends = this.form.querySelector(".hopper-ends");
    for (const button of ends.querySelectorAll("[data-do]")) button.remove();
    this.button = ends.querySelector("button");
    this.button.textContent = "Hand in";
    this.pass = make("button", { type: "button", class: "hopper-button" }, UNKNOWN);
    this.pass.addEventListener("click", () => this.#take(UNKNOWN, { right: false }));
    ends.append(" ", this.pass);
    this.form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#handIn();
    });
  }

  async start() {
    const fieldset = this.form.querySelector("fieldset");
    if (this.check.node?.length) {
      const { NodeChoice } = await import("./node-choice.mjs");
      this.node = new NodeChoice(fieldset, this.check);
    }
    if (this.guess !== undefined) this.#close();
  }

  get guess() {
    return checkRecord(this.check.name)?.guess;
  }

  get right() {
    return this.guess !== UNKNOWN && mark(this.check, givenOf(this.check, this.guess)).right;
  }

  #handIn() {
    if (this.guess !== undefined) return;
    const typed = this.form.querySelector('input[type="text"]');
    const given = typed ? typed.value : [...this.form.querySelectorAll("input:checked")].map((input) => Number(input.value));
    const verdict = mark(this.check, given);
    if (verdict.readable) this.#take(guessOf(this.check, given).guess, verdict);
    else this.feedback.replaceChildren(...prose(verdict.feedback));
  }

  #take(guess, { right }) {
    noteCheck(this.check.name, { page: PAGE, question: this.check.question, guess, answer: "" }, { tried: true, right });
    this.#close();
    this.handedIn();
  }

  /** Show what was handed in; it cannot be changed. */
  #close() {
    const chosen = this.guess === UNKNOWN || this.check.kind === "number" ? [] : givenOf(this.check, this.guess);
    for (const input of this.form.querySelectorAll("input")) {
      if (input.type === "text") input.value = this.guess === UNKNOWN ? "" : this.guess;
      else input.checked = chosen.includes(Number(input.value));
      input.disabled = true;
    }
    this.node?.box.dispatchEvent(new Event("change"));
    this.section.dataset.committed = "";
    this.section.querySelector(".hopper-result").textContent = "handed in";
    this.feedback.replaceChildren(...(this.guess === UNKNOWN ? [`You answered: ${UNKNOWN}.`] : []));
    // The button keeps the focus that it has.
    this.pass.remove();
    this.button.textContent = "Handed in";
    this.button.setAttribute("aria-disabled", "true");
  }

  /** Show how it was marked. */
  tell() {
    const given = givenOf(this.check, this.guess);
    const answer = this.check.kind === "number" ? this.check.answer_text : this.check.options.filter(({ right }) => right).map(({ text }) => text).join(", ");
    const said = this.right ? mark(this.check, given).feedback : `${answer}. ${this.check.explanation}`;
    this.section.dataset.right = String(this.right);
    this.feedback.replaceChildren(make("strong", {}, this.right ? "Right." : "Answer:"), " ", ...prose(said));
    this.feedback.dataset.kind = this.right ? "right" : "wrong";
  }
}

/** Start the test in a box. */
export async function startExam(box) {
  const { variant, aims } = dataOf(box);
  const result = make("div", { class: "hopper-exam-result hopper-live-only", role: "status" });
  const questions = [...box.querySelectorAll(".hopper-check")].map((section) => new ExamQuestion(section, () => show()));
  await Promise.all(questions.map((question) => question.start()));
  box.append(result);
  show();

  function show() {
    const done = questions.filter(({ guess }) => guess !== undefined);
    if (done.length < questions.length) {
      result.replaceChildren(make("p", {}, `${done.length} of ${questions.length} questions handed in.`));
      return;
    }
    const right = questions.filter((question) => question.right);
    const missed = aims.filter((_, i) => !questions[i].right);
    // The first test keeps its answers: the second one asks the same questions with other numbers.
    if (variant === "after") for (const question of questions) question.tell();
    result.replaceChildren(
      make("p", {}, make("strong", {}, `${right.length} of ${questions.length} right.`), missed.length > 0 && " Not yet right:"),
      make("ul", {}, missed.map(({ module, aim }) => make("li", {}, `${module}: ${aim}`))),
      make("p", { class: "hopper-actions" }, ...buttons()),
    );
  }

  function buttons() {
    const copy = make("button", { type: "button", class: "hopper-button" }, className() ? `Copy my answers for ${className()}` : "Copy my answers as a short text");
    copy.addEventListener("click", () => copyText(predictionsText(), copy));
    const file = make("button", { type: "button", class: "hopper-button" }, "Save as a file");
    file.addEventListener("click", () => saveFile("hopper-progress.json", exportText(), "application/json"));
    const again = make("button", { type: "button", class: "hopper-button" }, "Start this test again");
    again.addEventListener("click", () => {
      const progress = load();
      for (const { check } of questions) delete progress.checks[check.name];
      save(progress);
      location.reload();
    });
    return [copy, " ", file, " ", again];
  }
}
