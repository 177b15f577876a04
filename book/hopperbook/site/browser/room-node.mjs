// The choices of a room in the drawing of a node: on each core, or NUMA node, how many people chose it.

import { make, withoutTicks } from "./dom.mjs";
import { draw, drawNode, set } from "./drawing.mjs";
import { givenOf } from "./guessed.mjs";

const TALL = 148;

/** Return the drawing: cores or NUMA nodes shaded by the number of people, the model's outlined. */
export function roomNode(guesses, check) {
  const [dies, cores] = check.node;
  const { options } = check;
  const counts = options.map(() => 0);
  for (const guess of guesses) for (const at of givenOf(check, guess)) counts[at] += 1;
  const svg = draw("svg", {});
  const narrow = globalThis.matchMedia?.("(max-width: 575px)").matches;
  const node = drawNode(svg, { dies, cores }, { wide: narrow ? 2 : dies, tall: TALL });
  const whole = options.length === dies;
  const spots = whole ? node.frames : node.slots;
  for (const core of check.tasks) node.slots[core].box.classList.add("hopper-taken");
  options.forEach(({ right }, at) => {
    const { x, y, width, height, box } = spots[at];
    box.classList.toggle("hopper-model", right);
    if (counts[at] === 0) return;
    svg.append(
      draw("rect", { x, y, width, height, rx: 4, class: "hopper-room-share", "fill-opacity": (0.2 + (0.6 * counts[at]) / guesses.length).toFixed(3) }),
      draw("text", { x: x + width / 2, y: y + height / 2 + 5, "text-anchor": "middle", class: "number" }, String(counts[at])),
    );
  });
  const told = options.flatMap(({ text }, at) => (counts[at] ? [`${counts[at]} of ${guesses.length} chose ${withoutTicks(text)}`] : []));
  const right = options.filter((option) => option.right).map(({ text }) => withoutTicks(text));
  set(svg, { role: "img", "aria-label": [...told, `the model: ${right.join(", ")}`].join("; ") });
  const words = [["guess", `${guesses.length} answers: how many chose each`], ["model", `the model: ${right.join(", ")}`]];
  if (check.tasks.length) words.push(["taken", "cores with a task"]);
  return make("div", { class: "hopper-node hopper-room-node" }, svg, make("p", { class: "hopper-node-key" }, words.map(([kind, text]) => make("span", { class: kind }, text))));
}
