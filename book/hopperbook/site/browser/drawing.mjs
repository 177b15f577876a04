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

/**
 * Follow the explorer of a name, if the page has it: `act` is given its values and facts, also as it stands.
 * Return what sets the explorer in turn, but for what it has just told; it answers whether there is one.
 */
export function following(name, act) {
  const section = document.querySelector(`.hopper-explorer[data-name="${name}"]`);
  if (!section?.hopperForm) return () => false;
  let told = false;
  const follow = () => {
    told = true;
    act(section.hopperForm.values(), section.hopperFacts());
    told = false;
  };
  section.addEventListener("hopper-answer", follow);
  follow();
  return (values) => {
    if (!told && values) section.hopperSet(values);
    return true;
  };
}

/** Draw the cores of a node in its NUMA nodes, as many beside each other as asked; return where all of them lie. */
export function drawNode(svg, { dies, cores }, { wide, tall }) {
  const place = (die) => ({ x: 20 + (die % wide) * 155, y: Math.floor(die / wide) * tall });
  const corner = (core) => {
    const { x, y } = place(Math.floor(core / cores));
    return { x: x + 8 + (core % 3) * 42, y: y + 46 + Math.floor((core % cores) / 3) * 46 };
  };
  const size = { wide: 20 + wide * 155, high: tall * Math.ceil(dies / wide) };
  const spot = (at, { width, height, ...look }) => {
    const box = draw("rect", { ...at, width, height, ...look });
    svg.append(box);
    return { ...at, width, height, box };
  };
  const frames = Array.from({ length: dies }, (_, die) => {
    const { x, y } = place(die);
    svg.append(draw("text", { x, y: y + 24 }, `NUMA node ${die}`));
    return spot({ x, y: y + 36 }, { width: 137, height: 106, rx: 6, class: "hopper-slot" });
  });
  const slots = Array.from({ length: dies * cores }, (_, core) => spot(corner(core), { width: 36, height: 40, rx: 4, class: "hopper-slot hopper-used" }));
  set(svg, { viewBox: `0 0 ${size.wide} ${size.high}` });
  return { ...size, place, corner, frames, slots };
}

/** The bar that plays a mechanism, below its drawing. */
export function playerOf(stage, settings) {
  const player = new Player({ ...settings, label: `${stage.data.title}: time` });
  stage.svg.after(player.element);
  return player;
}
