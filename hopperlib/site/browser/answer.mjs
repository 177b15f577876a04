// Builds what an explorer answered. The build made the same elements for the starting setting (templates/answer.html).

import { make, prose, withoutTicks } from "./dom.mjs";
import { drawingFrom } from "./svg.mjs";
import { placeFigure, updateFigure } from "./plot.mjs";

const badge = (name) => make("span", { class: "hopper-badge", "data-badge": name }, name);

const button = (label, action, index) =>
  make("button", { type: "button", class: "hopper-button hopper-live-only", "data-do": action, "data-index": index }, label);

const scroll = (label, ...children) =>
  make("div", { class: "hopper-scroll", role: "group", tabindex: 0, "aria-label": label }, ...children);

const capitalized = (word) => word[0].toUpperCase() + word.slice(1);

function notice({ level, message }) {
  return make("li", { class: "hopper-notice", "data-level": level }, make("strong", {}, capitalized(level)), " ", make("span", {}, ...prose(message)));
}

function value({ label, text, unit, badge: kind, note }) {
  const shown = [make("span", { class: "hopper-value" }, text), unit && make("span", { class: "hopper-unit" }, unit), badge(kind)];
  const spaced = shown.filter(Boolean).flatMap((part, i) => (i ? [" ", part] : [part]));
  return make("div", {}, make("dt", {}, ...prose(label)), make("dd", {}, ...spaced), note && make("dd", { class: "hopper-note" }, ...prose(note)));
}

function drawing({ title, svg }) {
  return make("figure", { class: "hopper-drawing" }, drawingFrom(svg), make("figcaption", {}, title));
}

/** Whether a text is a picture made of characters: many lines, and wider than a page. Its lines must not break. */
function isPicture(text) {
  const lines = text.split("\n");
  return lines.length > 8 && lines.some((line) => line.length > 100);
}

function copyable({ title, text, note }, index) {
  return make(
    "div",
    { class: "hopper-copyable" },
    make("div", { class: "hopper-bar" }, make("span", { class: "hopper-part-title" }, ...prose(title)), " ", button("Copy", "copy", index)),
    isPicture(text) ? scroll(withoutTicks(title), make("pre", {}, make("code", {}, text))) : make("pre", {}, make("code", {}, text)),
    note && make("p", { class: "hopper-note" }, ...prose(note)),
  );
}

function listing({ title, lines }) {
  const items = lines.map(([number, text, mark]) =>
    make("li", { value: number, class: mark ? "hopper-marked" : null, "data-mark": mark || null }, make("code", {}, text), mark && " ", mark && make("span", { class: "hopper-mark" }, mark)),
  );
  return make("div", { class: "hopper-listing" }, make("p", { class: "hopper-part-title" }, ...prose(title)), scroll(withoutTicks(title), make("ol", {}, ...items)));
}

/** Whether a table holds sentences in many columns: on a narrow screen its rows then stand one below the other. */
const isWordy = ({ columns, rows }) => columns.length > 3 && rows.some((row) => row.some((cell) => cell.length > 60));

/** Build a table with its button; `action` tells the button's click what to save. */
export function table(data, action, index) {
  const kind = (column) => (data.numeric[column] ? "hopper-number" : null);
  const wordy = isWordy(data);
  const heads = data.columns.map(({ heading, badge: name }, i) =>
    make("th", { scope: "col", class: kind(i) }, heading, name && " ", name && badge(name)),
  );
  const rows = data.rows.map((row, number) => {
    const marked = data.marked.includes(number);
    const label = marked && data.marked_label && [" ", make("em", {}, `(${data.marked_label})`)];
    const named = (i) => wordy && { role: "cell", "data-heading": data.columns[i].heading };
    const cells = row.map((cell, i) => make("td", { class: kind(i), ...named(i) }, cell, ...(label && i === row.length - 1 ? label : [])));
    return make("tr", { class: marked ? "hopper-marked" : null, role: wordy && "row" }, ...cells);
  });
  const head = make("thead", {}, make("tr", {}, ...heads));
  const whole = make("table", { class: wordy ? "hopper-table hopper-wordy" : "hopper-table" }, make("caption", {}, ...prose(data.caption)), head, make("tbody", {}, ...rows));
  return make("div", { class: "hopper-table-box" }, scroll(withoutTicks(data.caption), whole), button("Download CSV", action, index));
}

function figure(data, index) {
  const height = data.figure.layout.height ?? 380;
  return make(
    "figure",
    { class: "hopper-figure", "data-index": index },
    make("figcaption", {}, ...prose(data.title)),
    make("div", { class: "hopper-plot", role: "img", "aria-label": data.alt, style: `height: ${height}px` }, make("p", { class: "hopper-plot-note" }, data.alt)),
    make("details", { class: "hopper-data" }, make("summary", {}, "Data of this chart"), table(data.table, "figure-csv", index)),
  );
}

const download = ({ name }, index) =>
  make("li", {}, make("button", { type: "button", class: "hopper-button", "data-do": "download", "data-index": index }, `Save ${name}`));

const inList = (tag, attributes, one) => (items) => (items.length > 0 ? [make(tag, attributes, ...items.map(one))] : []);
const each = (one) => (items) => items.map(one);

const PARTS = {
  drawings: each(drawing),
  findings: inList("ul", { class: "hopper-notices" }, notice),
  values: inList("dl", { class: "hopper-values" }, value),
  figures: each(figure),
  copyables: each(copyable),
  listings: each(listing),
  tables: each((data, index) => table(data, "csv", index)),
  downloads: inList("ul", { class: "hopper-downloads hopper-live-only" }, download),
};

/** Scroll each listing, in its own box, to the line that carries the cause, or to the first that is marked. */
function showMarked(part) {
  for (const box of part.querySelectorAll(".hopper-listing .hopper-scroll")) {
    const line = box.querySelector('[data-mark="cause"]') ?? box.querySelector(".hopper-marked");
    if (!line) continue;
    const { top, bottom } = line.getBoundingClientRect();
    const view = box.getBoundingClientRect();
    if (top < view.top || bottom > view.bottom) box.scrollTop += top - view.top - view.height / 4;
  }
}

/** Bring the figures of the starting answer to life. */
export function startAnswer(section, result) {
  showMarked(section);
  section.querySelectorAll(".hopper-figure").forEach((element, i) => placeFigure(element, result.figures[i]));
}

/** Show a new answer in place of the old one; parts that did not change stay as they are. */
export function showAnswer(section, result, before) {
  if (result.summary !== before.summary) section.querySelector(".hopper-summary").replaceChildren(...prose(result.summary));
  for (const [name, build] of Object.entries(PARTS)) {
    if (JSON.stringify(result[name]) === JSON.stringify(before[name])) continue;
    const part = section.querySelector(`[data-part="${name}"]`);
    if (name === "figures" && sameFigures(result.figures, before.figures)) {
      part.querySelectorAll(".hopper-figure").forEach((element, i) => refreshFigure(element, result.figures[i], i));
    } else {
      replaceKeepingPlace(part, build(result[name]));
      showMarked(part);
      if (name === "figures") startAnswer(section, result);
    }
  }
}

/** Whether charts can be redrawn in their places. */
function sameFigures(now, before) {
  return now.length === before.length && now.every((one, i) => one.bundle === before[i].bundle);
}

function refreshFigure(element, data, index) {
  element.querySelector("figcaption").replaceChildren(...prose(data.title));
  element.querySelector(".hopper-plot").setAttribute("aria-label", data.alt);
  element.querySelector(".hopper-data > .hopper-table-box").replaceWith(table(data.table, "figure-csv", index));
  updateFigure(element, data);
}

/** Replace the children, keeping what was scrolled or unfolded, and the focus on the same button. */
function replaceKeepingPlace(part, children) {
  const scrolled = [...part.querySelectorAll(".hopper-scroll")].map((element) => [element.scrollLeft, element.scrollTop]);
  const open = [...part.querySelectorAll("details")].map((element) => element.open);
  const focusable = () => [...part.querySelectorAll("button, summary, [tabindex]")];
  const focused = focusable().indexOf(document.activeElement);
  part.replaceChildren(...children);
  part.querySelectorAll("details").forEach((element, i) => (element.open = open[i] ?? false));
  part.querySelectorAll(".hopper-scroll").forEach((element, i) => {
    if (scrolled[i]) [element.scrollLeft, element.scrollTop] = scrolled[i];
  });
  if (focused >= 0) focusable()[focused]?.focus({ preventScroll: true });
}
