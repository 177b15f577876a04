// Shows what an explorer answered. Its HTML is made by the models (hopperlib/render/html.py), here and in the build.

import { prose } from "./dom.mjs";
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

/** Bring the figures of the starting answer to life. */
export function startAnswer(section, result) {
  showMarked(section);
  section.querySelectorAll(".hopper-figure").forEach((element, i) => placeFigure(element, result.figures[i]));
}

/** Show a new answer in place of the old one; parts that did not change stay as they are. */
export function showAnswer(section, { result, html }, before) {
  if (result.summary !== before.result.summary) section.querySelector(".hopper-summary").replaceChildren(...prose(result.summary));
  for (const [name, text] of Object.entries(html)) {
    const part = section.querySelector(`[data-part="${name}"]`);
    if (name === "figures") showFigures(part, text, result.figures, before.result.figures);
    else if (text !== before.html?.[name]) {
      keepingPlace(part, () => (part.innerHTML = text));
      showMarked(part);
    }
  }
}

/** Draw the first charts as far as they are known; return which are shown then. */
export function showSoFar(section, figures, before) {
  const elements = section.querySelectorAll(".hopper-figure");
  const drawn = figures.filter(({ bundle }, i) => elements[i] && bundle === before[i]?.bundle);
  drawn.forEach((figure, i) => {
    elements[i].querySelector(".hopper-plot").setAttribute("aria-label", figure.alt);
    updateFigure(elements[i], figure);
  });
  return [...drawn, ...before.slice(drawn.length)];
}

/** Redraw charts in their places where they are as many as before and of the same kinds. */
function showFigures(part, text, figures, before) {
  if (JSON.stringify(figures) === JSON.stringify(before)) return;
  if (figures.length !== before.length || figures.some(({ bundle }, i) => bundle !== before[i].bundle)) {
    keepingPlace(part, () => (part.innerHTML = text));
    startAnswer(part, { figures });
    return;
  }
  const fresh = document.createElement("template");
  fresh.innerHTML = text;
  const made = fresh.content.querySelectorAll(".hopper-figure");
  keepingPlace(part, () =>
    part.querySelectorAll(".hopper-figure").forEach((element, i) => {
      for (const words of [":scope > figcaption", ".hopper-table-box"]) element.querySelector(words).replaceWith(made[i].querySelector(words));
      const fold = element.closest(".hopper-further");
      if (fold) {
        fold.querySelector("summary").textContent = figures[i].title;
        fold.toggleAttribute("data-changed", JSON.stringify(figures[i].figure) !== JSON.stringify(before[i].figure));
      }
      element.querySelector(".hopper-plot").setAttribute("aria-label", figures[i].alt);
      updateFigure(element, figures[i]);
    }),
  );
}

/** Change a part, keeping what was scrolled or unfolded, and the focus on the same button. */
function keepingPlace(part, change) {
  const scrolled = [...part.querySelectorAll(".hopper-scroll")].map((element) => [element.scrollLeft, element.scrollTop]);
  const open = [...part.querySelectorAll("details")].map((element) => element.open);
  const focusable = () => [...part.querySelectorAll("button, summary, [tabindex]")];
  const focused = focusable().indexOf(document.activeElement);
  change();
  part.querySelectorAll("details").forEach((element, i) => (element.open = open[i] ?? false));
  part.querySelectorAll(".hopper-scroll").forEach((element, i) => {
    if (scrolled[i]) [element.scrollLeft, element.scrollTop] = scrolled[i];
  });
  if (focused >= 0) focusable()[focused]?.focus({ preventScroll: true });
}
