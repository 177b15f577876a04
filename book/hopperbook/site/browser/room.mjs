// The predictions of a room: everybody's files or short texts laid over each other, beside the model and what is printed.
// Nothing is sent: the lecturer gathers the files, and this page reads them.

import { Curve } from "./curve.mjs";
import { dataOf, make, prose } from "./dom.mjs";
import { readTypedNumber } from "./marking.mjs";
import { predictionFigure } from "./prediction.mjs";
import { gainTable } from "./room-gain.mjs";
import { roomNode } from "./room-node.mjs";

const ROOT = document.documentElement.dataset.content_root ?? "../";

/** Return what one participant predicted, by check: { page, guess }; throws an Error that says what is wrong. */
export function predictionsOf(text, name) {
  let given;
  try {
    given = JSON.parse(text);
  } catch {
    throw new Error(`${name} holds no predictions: it cannot be read as JSON.`);
  }
  const checks = given?.checks ?? given?.predictions;
  if (typeof checks !== "object" || checks === null) throw new Error(`${name} is no file of this book.`);
  const predicted = Object.entries(checks).filter(([, each]) => typeof each?.guess === "string" && /^[\w/-]+$/.test(each.page ?? ""));
  return Object.fromEntries(predicted.map(([check, { page, guess }]) => [check, { page, guess }]));
}

/** Return the guesses of all by page and check: { <page>: { <check>: [guess, ...] } }. */
export function together(participants) {
  const pages = {};
  for (const [name, { page, guess }] of participants.flatMap(Object.entries)) ((pages[page] ??= {})[name] ??= []).push(guess);
  return pages;
}

async function checksOn(page) {
  const reply = await fetch(`${ROOT}${page}.html`);
  if (!reply.ok) throw new Error(`this book has no page ${page}`);
  const read = new DOMParser().parseFromString(await reply.text(), "text/html");
  const title = read.querySelector("h1")?.firstChild?.textContent.trim() ?? page;
  const exam = read.querySelector(".hopper-exam");
  return { title, aims: exam && dataOf(exam).aims, checks: new Map([...read.querySelectorAll(".hopper-check")].map((section) => [section.dataset.name, dataOf(section)])) };
}

function chosen(guesses, check) {
  if (check.node?.length) return roomNode(guesses, check);
  const { options } = check;
  const counted = options.map(({ text, right }) => [text, right, guesses.filter((guess) => guess === text || guess.split(", ").includes(text)).length]);
  return make("ul", { class: "hopper-room-options" },
    counted.map(([text, right, count]) => make("li", {}, make("strong", {}, `${count} of ${guesses.length}`), " ", ...prose(text), right && make("strong", { class: "model" }, " · right ✓"), make("span", { class: "hopper-bar-of", "aria-hidden": "true", style: `width: ${(100 * count) / guesses.length}%` }))));
}

function typed(guesses, check) {
  const numbers = guesses.map((guess) => readTypedNumber(guess, check).number).filter(Number.isFinite).sort((a, b) => a - b);
  if (numbers.length === 0) return make("p", {}, "No guess can be read as a number.");
  const middle = numbers[Math.floor((numbers.length - 1) / 2)];
  return make("div", {}, predictionFigure(numbers, check), make("p", { class: "hopper-note" }, `${numbers.length} guesses, from ${numbers[0]} to ${`${numbers.at(-1)} ${check.unit}`.trim()}; half of them up to ${middle}.`));
}

function drawn(guesses, check) {
  const curves = guesses.map((guess) => guess.split(" ").map(Number)).filter((heights) => heights.length === check.x.length && heights.every(Number.isFinite));
  const box = make("div", { class: "hopper-curve-box" });
  new Curve(box, check).showRoom(curves);
  return box;
}

const SHOWN = { number: typed, choice: chosen, curve: drawn };

/** Start the place where predictions are gathered. */
export function startRoom(box) {
  const participants = [];
  const status = make("p", { role: "status" });
  const shown = make("div");
  const files = make("input", { type: "file", accept: ".json,application/json", multiple: true, id: "hopper-room-files" });
  const texts = make("textarea", { id: "hopper-room-texts", rows: 3, spellcheck: "false" });
  const add = make("button", { type: "button", class: "hopper-button" }, "Add these texts");

  const take = async (given) => {
    const refused = [];
    for (const [name, text] of given) {
      try {
        participants.push(predictionsOf(text, name));
      } catch (error) {
        refused.push(error.message);
      }
    }
    shown.replaceChildren();
    const tested = { checks: new Map(), aims: undefined };
    for (const [page, guesses] of Object.entries(together(participants))) {
      try {
        const { title, checks, aims } = await checksOn(page);
        if (aims) {
          tested.aims = aims;
          for (const [name, check] of checks) tested.checks.set(name, check);
        }
        const known = Object.entries(guesses).filter(([name]) => checks.get(name)?.kind in SHOWN);
        if (known.length > 0) shown.append(make("h3", {}, make("a", { href: `${ROOT}${page}.html` }, title)));
        for (const [name, made] of known) {
          const check = checks.get(name);
          shown.append(make("section", { class: "hopper-check" }, make("p", { class: "hopper-check-question" }, ...prose(check.question)), SHOWN[check.kind](made, check)));
        }
      } catch (error) {
        refused.push(error.message);
      }
    }
    if (tested.aims) shown.prepend(make("h3", {}, "Before and after"), gainTable(participants, tested.checks, tested.aims));
    status.textContent = [`${participants.length} participant${participants.length === 1 ? "" : "s"}.`, ...refused].join(" ");
  };
  files.addEventListener("change", async () => {
    await take(await Promise.all([...files.files].map(async (file) => [file.name, await file.text()])));
    files.value = "";
  });
  add.addEventListener("click", () => {
    take(texts.value.split("\n").filter((line) => line.trim()).map((line, i) => [`line ${i + 1}`, line]));
    texts.value = "";
  });
  box.append(
    make("p", { class: "hopper-actions" }, make("label", { for: files.id }, "Files of the participants:"), " ", files),
    make("p", { class: "hopper-actions" }, make("label", { for: texts.id }, "Or their short texts, one a line:")),
    texts,
    make("p", { class: "hopper-actions" }, add),
    status,
    shown,
  );
}
