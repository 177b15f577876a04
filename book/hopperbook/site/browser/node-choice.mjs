// Cores of a node, or its NUMA nodes, chosen in its drawing. Over each lies the choice's own field, so that finger, keys
// and screen readers find what they know.

import { make, withoutTicks } from "./dom.mjs";
import { draw, drawNode, set } from "./drawing.mjs";

const TALL = 148; // of a NUMA node, without what is drawn below it in a scene
const ACROSS = 3; // cores beside each other

export class NodeChoice {
  constructor(fieldset, check) {
    this.check = check;
    const [dies, cores] = check.node;
    this.box = make("div", { class: "hopper-node" });
    this.svg = draw("svg", { "aria-hidden": "true" });
    this.inputs = [...fieldset.querySelectorAll("input")];
    fieldset.prepend(this.box);
    this.node = drawNode(this.svg, { dies, cores }, { wide: fieldset.clientWidth < 520 ? 2 : dies, tall: TALL });
    this.node.slots.forEach((slot, core) => {
      const { x, y } = this.node.corner(core);
      this.svg.append(draw("text", { x: x + 18, y: y + 25, "text-anchor": "middle" }, String(core)));
    });
    const whole = this.inputs.length === dies;
    this.spots = whole ? this.node.frames : this.node.slots;
    this.box.append(this.svg, ...this.inputs);
    fieldset.querySelectorAll(".hopper-option").forEach((option) => option.remove());
    this.inputs.forEach((input, at) => this.#lay(input, at, cores, whole));
    this.box.addEventListener("change", () => this.#show());
    this.box.addEventListener("keydown", (event) => this.#key(event));
    this.#show();
  }

  /** Lay a field over what it stands for. */
  #lay(input, at, cores, whole) {
    const { x, y, width, height } = this.spots[at];
    const { wide, high } = this.node;
    const name = withoutTicks(this.check.options[at].text);
    input.setAttribute("aria-label", whole ? name : `${name}, NUMA node ${Math.floor(at / cores)}`);
    const share = (part, of) => `${(100 * part) / of}%`;
    Object.assign(input.style, { left: share(x, wide), top: share(y, high), width: share(width, wide), height: share(height, high) });
  }

  /** Up and down go to the core above and below. */
  #key(event) {
    const by = { ArrowUp: -ACROSS, ArrowDown: ACROSS }[event.key];
    const to = this.inputs[this.inputs.indexOf(event.target) + by];
    if (!to || to.type !== "radio") return;
    event.preventDefault();
    to.checked = true;
    to.focus();
    this.#show();
  }

  #show() {
    this.inputs.forEach((input, at) => this.spots[at].box.classList.toggle("hopper-guess", input.checked));
  }

  /** Show the model's beside what was chosen. */
  reveal() {
    const { options, tasks } = this.check;
    this.#show();
    const chosen = this.inputs.map((input) => input.checked);
    for (const core of tasks) this.node.slots[core].box.classList.add("hopper-taken");
    options.forEach(({ right }, at) => this.spots[at].box.classList.toggle("hopper-model", right));
    const told = (wanted) => options.filter((_, at) => wanted(at)).map(({ text }) => withoutTicks(text)).join(", ");
    const words = [["guess", `your guess: ${told((at) => chosen[at])}`], ["model", `the model: ${told((at) => options[at].right)}`]];
    if (tasks.length) words.push(["taken", "cores with a task"]);
    for (const input of this.inputs) input.remove();
    this.svg.removeAttribute("aria-hidden");
    set(this.svg, { role: "img", "aria-label": words.slice(0, 2).map(([, text]) => text).join("; ") });
    this.box.append(make("p", { class: "hopper-node-key" }, words.map(([kind, text]) => make("span", { class: kind }, text))));
  }
}
