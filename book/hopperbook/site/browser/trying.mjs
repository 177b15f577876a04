// A thing to try, set at one press. The span at the end of its sentence is empty where nothing runs:
//
//   <span data-explorer="place" data-try='{"line": "aprun -n 384 -N 12 -S 3 vasp"}'></span>   set these controls, the others as at the start
//   <span data-explorer="diagnose" data-example="A node failed"></span>                       choose this example
//   <span data-explorer="diagnose" data-focus="log"></span>                                   go to this control

import { make } from "./dom.mjs";

/** Start one of them. The explorer must be alive. */
export function startTrying(span) {
  const section = document.querySelector(`.hopper-explorer[data-name="${span.dataset.explorer}"]`);
  if (!section?.hopperForm) return;
  const { try: settings, example, focus } = span.dataset;
  const values = settings ? JSON.parse(settings) : {};
  const labels = Object.keys(values).map((name) => labelOf(section, name));
  const [words, what] = focus ? ["Go there", labelOf(section, focus)] : ["Try it", example ?? labels.join(", ")];
  const name = focus ?? Object.keys(values)[0];
  const button = make("button", { type: "button", class: "hopper-try", "aria-label": `${words}: ${what}` }, words);
  button.addEventListener("click", () => {
    if (example) section.hopperExample(example);
    else if (settings) section.hopperTry(values);
    const field = name && section.querySelector(`[data-control="${name}"] [name]`);
    if (field && !field.checkVisibility()) section.hopperForm.showAll(true);
    // Explorers that come later on a page are folded.
    for (let fold = section.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
    section.scrollIntoView({ block: "start" });
    if (focus) field.focus({ preventScroll: true });
  });
  span.replaceChildren(button);
}

const labelOf = (section, name) => section.hopperForm.controls.find((control) => control.name === name).label;
