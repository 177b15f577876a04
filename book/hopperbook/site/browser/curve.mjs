// A curve that a reader draws on an empty chart, with pointer, finger or keys; then the model's and what is printed.

import { draw, set } from "./drawing.mjs";
import { make } from "./dom.mjs";

const [WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM] = [580, 330, 72, 26, 14, 52];
const NARROW = 380; // as wide as on a phone, so that letters keep their size
const STEPS = 100; // a height is kept as so many parts of the chart

const short = (value) => Number(value.toPrecision(3)).toLocaleString("en");

/** Where a value of x lies between the points of the chart, which stand in equal distances. */
export function placeAmong(xs, x) {
  const after = Math.max(1, xs.findIndex((each) => each >= x));
  return after - 1 + (x - xs[after - 1]) / (xs[after] - xs[after - 1]);
}

export class Curve {
  constructor(box, check) {
    this.check = check;
    this.heights = check.x.map(() => undefined);
    this.width = box.clientWidth > 0 && box.clientWidth < 480 ? NARROW : WIDTH;
    this.svg = draw("svg", { viewBox: `0 0 ${this.width} ${HEIGHT}`, role: "group", "aria-label": `${check.y_title} against ${check.x_title}: draw a curve` });
    this.#frame();
    this.line = draw("path", { class: "guess" });
    this.svg.append(this.line);
    this.points = check.x.map((x, i) => this.#point(x, i));
    this.help = make("p", { class: "hopper-help" }, "Draw with pointer or finger. Keys: arrows left and right choose a point, up and down move it.");
    box.replaceChildren(make("figure", { class: "hopper-curve" }, this.svg), this.help);
    this.svg.addEventListener("pointerdown", (event) => this.#pressed(event));
    this.svg.addEventListener("pointermove", (event) => this.#dragged(event));
    for (const kind of ["pointerup", "pointercancel"]) this.svg.addEventListener(kind, () => (this.last = undefined));
    this.#draw();
  }

  /** The heights drawn; nothing unless all are. */
  values() {
    return this.heights.includes(undefined) ? [] : this.heights.map((height) => (height / STEPS) * this.check.high);
  }

  /** Show the model's curve and what is printed beside what was drawn, which stays. */
  reveal(values) {
    this.heights = values.map((value) => Math.min(STEPS, Math.max(0, (value / this.check.high) * STEPS)));
    this.done = true;
    this.#draw();
    this.help.remove();
    const { x, answer, documented, unit } = this.check;
    for (const point of this.points) for (const name of ["tabindex", "role", "aria-valuenow", "aria-valuetext", "aria-label"]) point.removeAttribute(name);
    this.#answer();
    const said = (heights) => heights.map((value, i) => `${short(value)} at ${x[i]}`).join(", ");
    this.svg.setAttribute("role", "img");
    this.svg.setAttribute("aria-label", `Your curve${unit && ` [${unit}]`}: ${said(values)}. The model's: ${said(answer)}.`);
    const keys = [["guess", "your curve"], ["model", "the model's"], ...documented.map(([, , words]) => ["printed", `printed: ${words}`])];
    this.svg.after(make("figcaption", {}, keys.map(([kind, words]) => make("span", { class: kind }, words))));
  }

  /** Lay the curves of many readers over each other, and the model's over them. */
  showRoom(curves) {
    const { high, documented } = this.check;
    for (const part of [...this.points, this.help]) part.remove();
    const heights = (values) => values.map((value, i) => `${this.#x(i)} ${this.#y(Math.min(STEPS, (value / high) * STEPS))}`);
    this.svg.append(...curves.map((values) => draw("path", { class: "room", d: `M${heights(values).join("L")}` })));
    this.#answer();
    this.svg.setAttribute("role", "img");
    this.svg.setAttribute("aria-label", `${curves.length} drawn curves, and the model's`);
    const keys = [["guess", `${curves.length} drawn`], ["model", "the model's"], ...documented.map(([, , words]) => ["printed", `printed: ${words}`])];
    this.svg.after(make("figcaption", {}, keys.map(([kind, words]) => make("span", { class: kind }, words))));
  }

  /** Draw the model's curve and what is printed. */
  #answer() {
    const { x, answer, documented, high } = this.check;
    const at = (value) => this.#y((value / high) * STEPS);
    this.svg.append(draw("path", { class: "model", d: `M${answer.map((value, i) => `${this.#x(i)} ${at(value)}`).join("L")}` }));
    for (const [place, height] of documented) this.svg.append(draw("circle", { class: "printed", cx: this.#x(placeAmong(x, place)), cy: at(height), r: 7 }));
  }

  #x(i) {
    return LEFT + (i / (this.check.x.length - 1)) * (this.width - LEFT - RIGHT);
  }

  #y(height) {
    return TOP + (1 - height / STEPS) * (HEIGHT - TOP - BOTTOM);
  }

  #frame() {
    const { x, high, x_title, y_title } = this.check;
    for (const part of [0, 0.25, 0.5, 0.75, 1]) {
      const y = this.#y(part * STEPS);
      this.svg.append(draw("line", { x1: LEFT, x2: this.width - RIGHT, y1: y, y2: y }), draw("text", { x: LEFT - 7, y: y + 5, "text-anchor": "end" }, short(part * high)));
    }
    x.forEach((value, i) => this.svg.append(draw("text", { x: this.#x(i), y: HEIGHT - BOTTOM + 20, "text-anchor": "middle" }, value.toLocaleString("en"))));
    this.svg.append(
      draw("text", { x: (LEFT + this.width - RIGHT) / 2, y: HEIGHT - 8, "text-anchor": "middle" }, x_title),
      draw("text", { transform: `translate(14 ${(HEIGHT - BOTTOM + TOP) / 2}) rotate(-90)`, "text-anchor": "middle" }, y_title),
    );
  }

  #point(x, i) {
    const { x_title, high } = this.check;
    const point = draw("circle", { r: 8, tabindex: i === 0 ? 0 : -1, role: "slider", "aria-label": `${x_title}: ${x}`, "aria-valuemin": 0, "aria-valuemax": high, "aria-orientation": "vertical" });
    point.addEventListener("keydown", (event) => {
      const by = { ArrowUp: 2, ArrowDown: -2, PageUp: 10, PageDown: -10 }[event.key];
      const to = { ArrowLeft: i - 1, ArrowRight: i + 1, Home: 0, End: this.points.length - 1 }[event.key];
      if (this.done || (by === undefined && to === undefined)) return;
      event.preventDefault();
      if (by === undefined) this.#focus(to);
      else this.#move(i, (this.heights[i] ?? STEPS / 2) + by);
    });
    this.svg.append(point);
    return point;
  }

  /** One point at a time is reached with the tabulator, as on a scale. */
  #focus(i) {
    if (!this.points[i]) return;
    this.points.forEach((point, at) => point.setAttribute("tabindex", at === i ? 0 : -1));
    this.points[i].focus();
  }

  #move(i, height) {
    this.heights[i] = Math.min(STEPS, Math.max(0, Math.round(height)));
    this.#draw();
  }

  #place(event) {
    const box = this.svg.getBoundingClientRect();
    const x = ((event.clientX - box.left) / box.width) * this.width;
    const y = ((event.clientY - box.top) / box.height) * HEIGHT;
    return { at: ((x - LEFT) / (this.width - LEFT - RIGHT)) * (this.points.length - 1), height: STEPS * (1 - (y - TOP) / (HEIGHT - TOP - BOTTOM)) };
  }

  #pressed(event) {
    if (this.done || event.button > 0) return;
    event.preventDefault();
    this.svg.setPointerCapture(event.pointerId);
    this.last = this.#place(event);
    const nearest = Math.min(this.points.length - 1, Math.max(0, Math.round(this.last.at)));
    this.#focus(nearest);
    this.#move(nearest, this.last.height);
  }

  /** Set each point that the pointer has passed, however fast it went. */
  #dragged(event) {
    if (!this.last) return;
    const now = this.#place(event);
    const [left, right] = [this.last, now].sort((a, b) => a.at - b.at);
    this.points.forEach((_, i) => {
      if (i < left.at || i > right.at) return;
      this.#move(i, left.height + ((i - left.at) / (right.at - left.at || 1)) * (right.height - left.height));
    });
    const nearest = Math.round(now.at);
    if (Math.abs(now.at - nearest) < 0.3 && this.points[nearest]) this.#move(nearest, now.height);
    this.last = now;
  }

  #draw() {
    const { high, unit } = this.check;
    let started = false;
    const steps = this.heights.map((height, i) => {
      if (height === undefined) return "";
      const joined = this.heights[i - 1] !== undefined && started;
      started = true;
      return `${joined ? "L" : "M"}${this.#x(i)} ${this.#y(height)}`;
    });
    this.line.setAttribute("d", steps.join(""));
    this.points.forEach((point, i) => {
      const height = this.heights[i];
      const value = ((height ?? STEPS / 2) / STEPS) * high;
      const text = height === undefined ? "not drawn yet" : `${short(value)} ${unit}`.trim();
      set(point, { cx: this.#x(i), cy: this.#y(height ?? STEPS / 2), class: height === undefined ? "open" : "guess", "aria-valuenow": value, "aria-valuetext": text });
    });
  }
}
