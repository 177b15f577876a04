// Shows what an explorer answered. Its HTML is made by the models (hopperkit/render/html.py), here and in the build.

import { folded, make, prose } from "./dom.mjs";
import { placeFigure, updateFigure } from "./plot.mjs";

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

// As explorer.css has it. [CSS pixels]
const PHONE = 480;

/** Where a drawing is too tall to be shown whole, it scrolls, by keys too; where there is room, its halves stand beside each other. */
function markTall(part) {
  for (const svg of part.querySelectorAll(".hopper-drawing > svg")) {
    const { width, height } = svg.viewBox.baseVal;
    // One whose letters must not shrink is taller than there is room for on a phone.
    // What is not laid out yet has no width, and is no phone.
    const scrolls = svg.matches(".hopper-node") && part.clientWidth > 0 && part.clientWidth < PHONE;
    if (height <= (scrolls ? 0.5 : 1.2) * width) continue;
    Object.assign(svg.parentElement, { tabIndex: 0 }).dataset.tall = "";
    const tops = (name) => [...svg.querySelectorAll(`.hopper-node-${name} rect`)].map(({ y }) => y.baseVal.value);
    const nodes = tops("numa");
    const half = nodes[Math.ceil(nodes.length / 2)];
    if (!half || svg.parentElement.parentElement.children.length > 1) continue;
    svg.parentElement.dataset.tall = "halved";
    const cut = tops("socket").find((top) => top < half && top > half - 24) ?? half;
    const halves = [svg.cloneNode(true), svg.cloneNode(true)];
    halves[0].setAttribute("viewBox", `0 0 ${width} ${cut}`);
    halves[1].setAttribute("viewBox", `0 ${cut - 2} ${width} ${height - cut + 2}`);
    halves[1].ariaHidden = "true";
    svg.after(make("div", { class: "hopper-halves" }, ...halves));
  }
  for (const drawn of [part, ...part.querySelectorAll("[data-part]")].filter((each) => each.dataset.part === "drawings")) {
    drawn.toggleAttribute("data-banded", Boolean(drawn.querySelector(".hopper-banded")));
    // Two beside each other scroll where there is little room.
    if (drawn.children.length > 1 && drawn.scrollWidth > drawn.clientWidth) drawn.tabIndex = 0;
    else drawn.removeAttribute("tabindex");
  }
}

/** Bring the figures of the starting answer to life. */
export function startAnswer(section, result) {
  showMarked(section);
  markTall(section);
  section.querySelectorAll(".hopper-figure").forEach((element, i) => {
    placeFigure(element, result.figures[i]);
    const table = element.querySelector(".hopper-data");
    table.addEventListener("toggle", () => element.toggleAttribute("data-open", table.open));
  });
}

/** Show a new answer in place of the old one; parts that did not change stay as they are. */
export function showAnswer(section, { result, html }, before) {
  if (result.summary !== before.result.summary) section.querySelector(".hopper-summary").replaceChildren(...prose(result.summary));
  const stage = section.querySelector(".hopper-stage").classList;
  const inWords = stage.toggle("hopper-in-words", !html.drawings && !html.figures);
  stage.toggle("hopper-bare", inWords && !html.listings);
  const same = (name) =>
    name === "figures" ? JSON.stringify(result.figures) === JSON.stringify(before.result.figures) : html[name] === before.html?.[name];
  const parts = Object.keys(html).filter((name) => !same(name)).map((name) => [name, section.querySelector(`[data-part="${name}"]`)]);
  // All is read before anything is written: what is read after a change makes the browser lay out the page there and then.
  const places = parts.map(([, part]) => placeIn(part));
  for (const [name, part] of parts) {
    if (name === "figures") showFigures(part, html[name], result.figures, before.result.figures);
    else fill(part, html[name]);
  }
  for (const putBack of places) putBack();
  for (const [, part] of parts) {
    showMarked(part);
    markTall(part);
  }
}

/** Fill a part, unless it holds just that. */
function fill(part, text) {
  const fresh = part.cloneNode(false);
  fresh.innerHTML = text;
  if (!fresh.isEqualNode(part)) part.replaceChildren(...fresh.childNodes);
}

/** Draw the first charts as far as they are known; return which are shown then. */
export function showSoFar(section, figures, before) {
  const elements = section.querySelectorAll(".hopper-figure");
  const drawn = figures.filter((_, i) => elements[i] && before[i]);
  drawn.forEach((figure, i) => {
    elements[i].querySelector(".hopper-plot").setAttribute("aria-label", figure.alt);
    updateFigure(elements[i], figure);
  });
  // Marked, so that the whole answer is not taken for the same: the tables of its charts come with it alone.
  return [...drawn.map((figure) => ({ ...figure, soFar: true })), ...before.slice(drawn.length)];
}

/** Redraw charts in their places where they are as many as before. */
function showFigures(part, text, figures, before) {
  const fresh = document.createElement("template");
  fresh.innerHTML = text;
  const folds = (root) => root.querySelectorAll(".hopper-further").length;
  if (figures.length !== before.length || folds(part) !== folds(fresh.content)) {
    part.innerHTML = text;
    startAnswer(part, { figures });
    return;
  }
  const made = fresh.content.querySelectorAll(".hopper-figure");
  part.querySelectorAll(".hopper-figure").forEach((element, i) => {
    const fold = element.closest(".hopper-further");
    fold?.toggleAttribute("data-changed", JSON.stringify(figures[i].figure) !== JSON.stringify(before[i].figure));
    if (JSON.stringify(figures[i]) === JSON.stringify(before[i])) return;
    for (const words of [":scope > figcaption", ".hopper-table-box"]) element.querySelector(words).replaceWith(made[i].querySelector(words));
    if (fold) fold.querySelector("summary").textContent = figures[i].title;
    element.querySelector(".hopper-plot").setAttribute("aria-label", figures[i].alt);
    updateFigure(element, figures[i]);
  });
}

/** Return what puts back, in a part that was changed, what was scrolled or unfolded, and the focus on the same button. */
function placeIn(part) {
  // What is folded away is not looked at: the browser would have to lay it out.
  const scrolled = [...part.querySelectorAll(".hopper-scroll")].map((box) => (folded(box) ? [0, 0] : [box.scrollLeft, box.scrollTop]));
  const open = [...part.querySelectorAll("details")].map((element) => element.open);
  const focusable = () => [...part.querySelectorAll("button, summary, [tabindex]")];
  const focused = part.contains(document.activeElement) ? focusable().indexOf(document.activeElement) : -1;
  return () => {
    part.querySelectorAll("details").forEach((element, i) => (element.open = open[i] ?? false));
    part.querySelectorAll(".hopper-scroll").forEach((element, i) => {
      if (scrolled[i]?.some(Boolean)) [element.scrollLeft, element.scrollTop] = scrolled[i];
    });
    if (focused >= 0 && document.activeElement !== focusable()[focused]) focusable()[focused]?.focus({ preventScroll: true });
  };
}
