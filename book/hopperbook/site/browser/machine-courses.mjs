// The machines of a figure over time, up to the time that is shown: how full they are, what waits, how split the free nodes are.

import { make } from "./dom.mjs";
import { draw } from "./drawing.mjs";
import { History } from "./machine-data.mjs";

const POINTS = 576; // of two days, one in five minutes
const WIDE = 200; // of a picture, and its height
const TALL = 44;
// What is said of it, its unit, and how it is read off a history at a minute.
const COURSES = [
  ["In use", "%", ({ busy, nodes }) => (100 * busy) / nodes],
  ["Nodes asked for in the queue", "", (history, minute) => history.waiting(minute).reduce((sum, { nodes }) => sum + nodes, 0)],
  ["Free pieces", "", (history) => history.free().pieces],
];

export class Courses {
  element = make("div", { class: "hopper-courses" });

  /** Take machines: each walks through its days once. */
  show(machines) {
    this.from = Math.min(...machines.map(({ history }) => history.from));
    this.step = (Math.max(...machines.map(({ history }) => history.until)) - this.from) / POINTS;
    this.element.hidden = !this.step;
    const walks = this.step ? machines.map(({ history: { data, nodes, until } }) => {
      const walk = new History(data, nodes);
      return Array.from({ length: POINTS + 1 }, (_, at) => {
        const minute = Math.min(until, Math.floor(this.from + at * this.step));
        walk.go(minute, () => {});
        return COURSES.map(([, , read]) => read(walk, minute));
      });
    }) : [];
    this.lines = [];
    this.element.replaceChildren(...COURSES.map(([title, unit, read], at) => {
      const most = Math.max(1, ...walks.flat().map((values) => values[at]));
      const picture = draw("svg", { viewBox: `0 0 ${WIDE} ${TALL}`, preserveAspectRatio: "none", "aria-hidden": "true" });
      const said = walks.map((values, which) => {
        const line = draw("polyline", { class: which ? "other" : "one" });
        const word = make("strong", { class: which ? "other" : "one" });
        const points = values.map((value, x) => `${(WIDE * x) / POINTS},${(TALL - 2) * (1 - value[at] / most) + 1}`);
        picture.append(line);
        this.lines.push({ line, points, word, say: (minute) => `${Math.round(read(machines[which].history, minute)).toLocaleString("en")} ${unit}` });
        return word;
      });
      return make("div", {}, make("p", {}, title, " ", said), picture);
    }));
  }

  /** Draw up to a minute, and say what the machines, which stand there, are like. */
  draw(minute) {
    const at = Math.max(0, Math.min(POINTS, Math.floor((minute - this.from) / this.step)));
    for (const { line, points, word, say } of this.lines) {
      line.setAttribute("points", points.slice(0, at + 1).join(" "));
      word.textContent = say(minute);
    }
  }
}
