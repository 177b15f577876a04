// Exercises in Python: a few lines to write or mend, whose values are compared with the model's.

import { CodeArea } from "./code-area.mjs";
import { dataOf, make, prose } from "./dom.mjs";
import { checkRecord, noteCheck } from "./progress.mjs";
import { PAGE } from "./touched.mjs";

/** Start the exercise in a <section>. */
export function startCodeCheck(section) {
  const check = dataOf(section);
  const box = section.querySelector(".hopper-code");
  const feedback = section.querySelector(".hopper-feedback");
  const result = section.querySelector(".hopper-result");
  const hints = section.querySelector(".hopper-hints");
  const area = new CodeArea(box, { start: check.start, label: `Python: ${check.question.replaceAll("`", "")}`, values: check.values, ran: mark });

  const say = (verdict, text, kind) => {
    feedback.replaceChildren(make("strong", {}, verdict), " ", ...prose(text));
    feedback.dataset.kind = kind;
  };
  const button = (label, act) => {
    const made = make("button", { type: "button", class: "hopper-button" }, label);
    made.addEventListener("click", () => act(made));
    return made;
  };
  let hinted = 0;
  const hint = button("Hint", (pressed) => {
    hints.append(make("li", {}, ...prose(check.hints[hinted])));
    hinted += 1;
    note({ hint: true });
    if (hinted === check.hints.length) pressed.hidden = true;
    else pressed.textContent = "Next hint";
  });
  const answer = button("Show the answer", () => {
    note({ shown: true });
    say("Answer:", check.explanation, "shown");
    feedback.after((section.querySelector(".hopper-solution") ?? make("pre", { class: "hopper-solution" }, make("code", {}, check.solution))));
  });
  area.ends.append(" ", ...(check.hints.length ? [hint, " "] : []), answer);
  showRecord(checkRecord(check.name));

  function mark({ failure, error, wrong }) {
    // What did not come to an end is no try.
    if (failure) return say("Not marked.", failure, "wrong");
    const right = !error && !wrong;
    say(right ? "Right." : "Not yet.", right ? check.explanation : error ? "The code stops with an error, see above." : wrong, right ? "right" : "wrong");
    note({ tried: true, right });
  }

  function note(what) {
    showRecord(noteCheck(check.name, { page: PAGE, question: check.question }, what));
  }

  function showRecord(record) {
    answer.hidden = !record || record.right || record.tries === 0;
    if (!record) return;
    section.dataset.right = String(record.right);
    const tries = record.tries === 1 ? "1 try" : `${record.tries} tries`;
    if (record.right) result.textContent = record.shown ? "done, after the answer was shown" : `done in ${tries}`;
    else result.textContent = record.tries > 0 ? `not yet: ${tries}` : "";
  }
}
