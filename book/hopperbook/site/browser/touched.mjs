// Whether a reader predicted before trying: the first touch of a control of the page's tools is noted, and beside the
// tools stands what the reader predicted, or a way to do so. Nothing is covered.

import { make, withoutTicks } from "./dom.mjs";
import { checkRecord, load, noteTouch } from "./progress.mjs";

const TOOLS = ".hopper-explorer, .hopper-scene, .hopper-story, .hopper-machine, [data-explorer]";
const CONTROLS = ".hopper-form, .hopper-examples, .hopper-scene, .hopper-story, .hopper-machine, [data-explorer]";
// What is pressed in a form or a mechanism; the rest of it is only looked at, unfolded or copied.
const LOOKED_AT = "[data-do=all], [data-do=link]";
const PRESSED = "button, input, select, textarea, [role=slider], [role=button], [tabindex='0']";
const ROOT = new URL(document.documentElement.dataset.content_root ?? "./", location.href).pathname;

/** The page's name from the root of the site, as the book's sources call it: notebooks/node/placement. */
export const PAGE = location.pathname.slice(ROOT.length).replace(/\.html$/, "");

/** Whether a control of this page's tools was touched, on this visit or an earlier one. */
export function wasTouched() {
  return PAGE in load().touched;
}

/** Return the words for when a prediction was made; none where that was not noted. */
export function whenMade({ before }) {
  return before === undefined ? "" : before ? ", before trying" : ", after trying";
}

/** Note the first touch below the predictions of a section, and show the predictions beside the tools. */
export function startTouched(section) {
  const explore = document.getElementById("explore");
  const checks = [...section.querySelectorAll(".hopper-check")].filter(({ dataset }) => ["number", "choice", "curve"].includes(dataset.kind));
  const first = explore?.querySelector(TOOLS);
  if (!first || checks.length === 0) return;
  const events = ["input", "change", "click", "pointerdown", "keydown"];
  const touch = (event) => {
    // A key that only moves the focus on is no touch.
    if (["Tab", "Shift", "Escape"].includes(event.key)) return;
    const { target } = event;
    if (!target.closest(CONTROLS) || target.closest(LOOKED_AT) || !(target.closest(PRESSED) || target.closest("span[data-explorer]"))) return;
    for (const name of events) explore.removeEventListener(name, touch, true);
    noteTouch(PAGE);
  };
  if (!wasTouched()) for (const name of events) explore.addEventListener(name, touch, true);

  const box = make("p", { class: "hopper-yours" });
  const show = () => {
    const records = checks.map(({ dataset }) => checkRecord(dataset.name)).filter((record) => record?.guess);
    const left = checks.length - records.length;
    const link = make("a", { href: "#predict-first" }, records.length ? `${left} more to predict` : checks.length > 1 ? "Your predictions" : "Your prediction");
    const said = records.map((record) => `${record.off ? "the curve" : withoutTicks(record.guess)}${whenMade(record)}`).join("; ");
    box.replaceChildren(...(records.length ? [make("strong", {}, "You predicted "), `${said}.`] : []), ...(left ? [" ", link, records.length ? "." : " may come first."] : []));
  };
  // Above what holds the first tool, such as the output of a cell; a number to drag stands in its paragraph.
  const place = [...explore.children].find((child) => child.contains(first));
  place.before(box);
  section.addEventListener("hopper-committed", show);
  show();
}
