// What the mechanisms share: elements of a drawing, a scale to drag, a bar that plays.

import { make } from "./dom.mjs";
import { Player } from "./player.mjs";

const SVG = "http://www.w3.org/2000/svg";

/** Make an element of a drawing. */
export function draw(tag, attributes = {}, text = "") {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
  element.textContent = text;
  return element;
}

export const set = (element, attributes) => Object.entries(attributes).forEach(([name, value]) => element.setAttribute(name, String(value)));
export const between = (from, to, share) => from + (to - from) * Math.min(1, Math.max(0, share));
/** Slow at both ends. */
export const eased = (share) => (share <= 0 ? 0 : share >= 1 ? 1 : share * share * (3 - 2 * share));
export const COLORS = ["#4477aa", "#228833", "#b8860b", "#aa3377", "#0e8a99", "#cc5544", "#6655aa", "#777777"];

/** A scale that the reader drags. */
export function handle(stage, label, { min, max, step = 1, value }, act, words) {
  const id = `${stage.figure.id}-${label.replace(/\W+/g, "-")}`;
  const scale = make("input", { type: "range", id, min, max, step, value });
  const output = make("output", { for: id });
  const heard = () => {
    output.textContent = words(Number(scale.value));
    scale.setAttribute("aria-valuetext", output.textContent);
    act(Number(scale.value));
  };
  scale.addEventListener("input", heard);
  stage.handles.append(make("label", { for: id }, label), scale, output);
  // Moved by what is dragged in the drawing, or by an explorer.
  heard.to = (to) => {
    const bound = Math.min(max, Math.max(min, Math.round(to / step) * step));
    if (bound === Number(scale.value)) return;
    scale.value = String(bound);
    heard();
  };
  return heard;
}

/** Where a pointer is, in units of a drawing. */
export const placeIn = (svg, { clientX, clientY }) => new DOMPoint(clientX, clientY).matrixTransform(svg.getScreenCTM().inverse());

/** Let what is drawn be dragged: `act` is given each place of the pointer. A scale beside it does the same for keys. */
export function draggable(svg, act) {
  svg.classList.add("hopper-draggable");
  svg.addEventListener("pointerdown", (event) => {
    svg.setPointerCapture(event.pointerId);
    act(placeIn(svg, event));
  });
  svg.addEventListener("pointermove", (event) => svg.hasPointerCapture(event.pointerId) && act(placeIn(svg, event)));
}

/** Follow the explorer of a name, if the page has it: `act` is given its values and facts, also as it stands. */
export function following(name, act) {
  const section = document.querySelector(`.hopper-explorer[data-name="${name}"]`);
  if (!section?.hopperForm) return undefined;
  const follow = () => act(section.hopperForm.values(), section.hopperFacts());
  section.addEventListener("hopper-answer", follow);
  follow();
  return section;
}

/** The bar that plays a mechanism, below its drawing. */
export function playerOf(stage, settings) {
  const player = new Player({ ...settings, label: `${stage.data.title}: time` });
  stage.svg.after(player.element);
  return player;
}
