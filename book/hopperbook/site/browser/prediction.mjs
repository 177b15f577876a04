// A prediction: the reader commits to it before the answer shows; then guess, model and document stand in one figure.

import { make, prose } from "./dom.mjs";
import { mark } from "./marking.mjs";

const SVG = "http://www.w3.org/2000/svg";
const [ROW, RIGHT] = [30, 70];

function draw(tag, attributes, text = "") {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
  element.textContent = text;
  return element;
}

/** Where a value lies between the ends, from 0 to 1; over more than two powers of ten by its logarithm. */
export function placeOn(values) {
  const [least, most] = [Math.min(...values), Math.max(...values)];
  if (least > 0 && most > 100 * least) return (value) => Math.log(value / least) / Math.log(most / least);
  const low = Math.min(0, least);
  return (value) => (most > low ? (value - low) / (most - low) : 0);
}

/** Return the figure of a number that was guessed: one row each for the guess, or those of a room, the model and what is printed. */
export function predictionFigure(guess, { answer, unit, documented }) {
  // On a phone it is drawn as wide as it is shown there, so that its letters keep their size.
  const [WIDTH, LEFT] = globalThis.matchMedia?.("(max-width: 575px)").matches ? [340, 92] : [520, 130];
  const guesses = [guess].flat();
  const guessed = guesses.length > 1 ? ["The room", guesses[Math.floor((guesses.length - 1) / 2)]] : ["Your guess", guesses[0]];
  const rows = [guessed, ["Model", answer], ["Printed", documented]].filter(([, value]) => typeof value === "number");
  const at = placeOn([...guesses, ...rows.map(([, value]) => value)]);
  const diamond = (value, y) => draw("path", { d: `M${LEFT + at(value) * (WIDTH - LEFT - RIGHT)} ${y - 7}l7 7-7 7-7-7z` });
  const words = rows.map(([name, value]) => `${name}: ${Number(value.toPrecision(4)).toLocaleString("en")}${unit ? ` ${unit}` : ""}`);
  const svg = draw("svg", { viewBox: `0 0 ${WIDTH} ${ROW * rows.length}`, role: "img", "aria-label": words.join("; ") });
  rows.forEach(([name, value], i) => {
    const y = ROW * (i + 0.5);
    const x = LEFT + at(value) * (WIDTH - LEFT - RIGHT);
    svg.append(
      draw("text", { x: 0, y: y + 5 }, name),
      draw("line", { x1: LEFT, x2: WIDTH - RIGHT, y1: y, y2: y }),
      ...(i === 0 ? guesses.map((each) => diamond(each, y)) : [draw("circle", { cx: x, cy: y, r: 6, class: i === 1 ? "model" : "printed" })]),
      draw("text", { x: Math.min(x + 12, WIDTH - RIGHT + 6), y: y - 5, class: "number" }, i === 0 && guesses.length > 1 ? "" : words[i].slice(name.length + 2)),
    );
  });
  return make("figure", { class: "hopper-prediction" }, svg);
}

/** Return the figure of what was chosen: a row for each option, with what the model gives for it, and what is printed. */
export function optionsFigure(chosen, { options, quantity }) {
  const numbers = options.flatMap(({ value, printed }) => [value, printed]).filter((value) => typeof value === "number");
  const at = placeOn([0, ...numbers]);
  const short = (value) => Number(value.toPrecision(4)).toLocaleString("en");
  const bar = (value, kind) => make("span", { class: `hopper-bar-of ${kind}`, "aria-hidden": "true", style: `width: ${100 * at(value)}%` });
  const rows = options.map(({ text, right, value, printed }, i) =>
    make("li", { class: chosen.includes(i) ? "guess" : undefined },
      make("p", {}, ...prose(text), chosen.includes(i) && make("strong", { class: "guess" }, " · your guess"), right && make("strong", { class: "model" }, " · right ✓")),
      typeof value === "number" && bar(value, "model"),
      make("p", { class: "number" }, typeof value === "number" ? `Model: ${short(value)}` : value),
      typeof printed === "number" && [bar(printed, "printed"), make("p", { class: "number" }, `Printed: ${short(printed)}`)]));
  return make("figure", { class: "hopper-prediction hopper-options" }, make("figcaption", {}, quantity), make("ul", {}, rows));
}

/** Return the words for what was chosen or typed, and for what is right; nothing for a check of another kind. */
export function guessOf(check, given) {
  if (check.kind === "number") return { guess: String(given).trim(), answer: check.answer_text };
  if (check.kind === "curve") return { guess: given.map((height) => Number(height.toPrecision(4))).join(" "), off: mark(check, given).feedback };
  if (check.kind !== "choice") return {};
  const texts = (wanted) => check.options.filter(wanted).map(({ text }) => text).join(", ");
  return { guess: texts((_, i) => given.includes(i)), answer: texts(({ right }) => right) };
}
