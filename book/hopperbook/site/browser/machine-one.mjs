// One machine of the figure: its floor, its torus, who is chosen, and what is said of it.

import { make } from "./dom.mjs";
import { meanHops } from "./machine-data.mjs";
import { Floor, Torus } from "./machine-pictures.mjs";

export const HOUR = 60; // minutes
const MEASURED_NODES = 16;
// How often links are known. [minutes]
export const LINKS_EVERY = 3 * HOUR;
// Links stay in the picture so many instants after their own, until others are known.
const LINKS_STAY = 3;
// So many jobs of a queue are drawn.
const BLOCKS = 120;
// How dark jobs are that are not chosen, as a share of the color of muted text.
const GRAYS = [0.45, 0.6, 0.75];

/** A color as the bytes of a picture hold it. */
const bytes = (r, g, b, a = 255) => ((a << 24) | (b << 16) | (g << 8) | r) >>> 0;

/** The color of a job: neighbors in number lie far apart in hue. */
function colorOf(number, dark) {
  const hue = ((number * 0.381966) % 1) * 6;
  const [strength, value] = dark ? [0.55, 0.88] : [0.6, 0.75];
  const part = (n) => {
    const k = (n + hue) % 6;
    return Math.round(255 * (value - value * strength * Math.max(0, Math.min(k, 4 - k, 1))));
  };
  return [part(5), part(3), part(1)];
}

/** A minute in words. */
export function clock(minute) {
  const whole = Math.floor(minute);
  return `day ${1 + Math.floor(whole / 1440)}, ${String(Math.floor(whole / 60) % 24).padStart(2, "0")}:${String(whole % 60).padStart(2, "0")}`;
}

const duration = (minutes) => (minutes < 90 ? `${minutes}\u00a0min` : `${(minutes / 60).toFixed(1)}\u00a0h`);
export const some = (count, word) => `${count.toLocaleString("en")} ${word}${count === 1 ? "" : "s"}`;

/** One machine of the figure: floor, torus and a line of numbers. */
export class Machine {
  chosen = -1;
  seen = true;
  #colors = [];

  constructor(title, floor, history) {
    this.name = make("p", { class: "hopper-part-title" });
    this.painted = new Uint32Array(history.nodes);
    this.places = floor;
    this.floor = new Floor(floor, `${title}: the floor. Arrow keys go from job to job.`);
    this.torus = new Torus(floor, `${title}: the torus. Drag to turn it.`);
    this.line = make("p", { class: "hopper-machine-line" });
    this.queue = make("div", { class: "hopper-queue", "aria-hidden": "true" });
    this.waits = make("p", { class: "hopper-machine-waits" });
    this.element = make(
      "section",
      { class: "hopper-machine-one", "aria-label": title },
      this.name,
      this.queue,
      this.waits,
      make("div", {}, this.floor.canvas),
      make("div", { class: "hopper-torus" }, this.torus.canvas, this.torus.over),
      this.line,
    );
    this.take(title, history);
    // On a phone one of two is off the screen: it is not drawn.
    new IntersectionObserver((entries) => {
      this.seen = entries.at(-1).isIntersecting;
      if (this.seen) this.flush(true);
    }).observe(this.element);
  }

  /** Show another history of the same nodes. */
  take(title, history) {
    Object.assign(this, { title, history, shown: undefined, chosen: -1 });
    this.name.textContent = title;
    // By instant, as far as they are known.
    this.links = new Map((history.data.links ?? []).map((digits, at) => [history.from / LINKS_EVERY + at, digits]));
    if (this.paper) this.#color();
  }

  /** Go on with other days of the same history. */
  goOn(history) {
    Object.assign(this, { history, shown: undefined });
    this.#color();
  }

  theme(dark) {
    this.dark = dark;
    const style = getComputedStyle(document.documentElement);
    const rgb = (name) => style.getPropertyValue(`--hopper-${name}`).trim().match(/[0-9a-f]{2}/gi).map((part) => parseInt(part, 16));
    this.paper = rgb("paper");
    this.free = bytes(...rgb("grid"));
    this.service = bytes(...rgb("line"));
    this.gone = rgb("muted");
    this.#color();
    this.torus.free = this.free;
    this.torus.glow = dark ? [255, 176, 92] : [176, 58, 0];
  }

  /** One job is in color, the others are gray, neighbors in number of another shade. */
  #color() {
    this.#colors = this.history.number.map((number) => {
      const color = number < 0 ? this.gone : colorOf(number, this.dark);
      const shade = GRAYS[Math.abs(number) % GRAYS.length];
      return [bytes(...color), bytes(...this.gone.map((part, i) => Math.round(shade * part + (1 - shade) * this.paper[i])))];
    });
  }

  fit() {
    this.fitted = true;
    return [this.floor.fit(), this.torus.fit()].includes(true);
  }

  /** The job of a number, if it runs now; else -1. */
  running(number) {
    const { number: numbers, start, end, time } = this.history;
    const job = numbers.indexOf(number);
    return job >= 0 && start[job] <= time && time < end[job] ? job : -1;
  }

  /** Nothing is chosen any more. */
  letGo() {
    if (this.chosen < 0) return;
    this.chosen = -1;
    this.repaint();
  }

  turn(degrees) {
    this.torus.turn(degrees);
    if (this.shown === undefined) return;
    this.#links();
    this.torus.paint(this.painted);
  }

  #links() {
    const { links, instant } = this;
    const at = [...Array(LINKS_STAY + 1).keys()].map((back) => instant - back).find((earlier) => links.has(earlier));
    this.torus.drawLinks((this.shows.links && links.get(at)) || "");
  }

  /** Links have come to be known. */
  newLinks(instant) {
    if (instant <= this.instant && this.instant - instant <= LINKS_STAY) this.#links();
  }

  draw(time) {
    // The machine beside it may be known for longer.
    const minute = Math.min(time, this.history.length);
    const instant = Math.floor(minute / LINKS_EVERY);
    const anew = this.history.go(minute, (low, length) => this.#paint(low, length));
    if (anew || instant !== this.instant || this.shown === undefined) {
      Object.assign(this, { instant, shown: true });
      this.repaint();
    }
  }

  #colorOf(node) {
    const job = this.history.holder[node];
    if (job < 0) return this.free;
    return this.#colors[job][job === this.chosen || this.history.number[job] < 0 ? 0 : 1];
  }

  #paint(low, length) {
    this.floorStale = this.torusStale = true;
    for (let node = low; node < low + length; node += 1) {
      this.painted[node] = this.#colorOf(node);
      this.floor.draw(node, this.painted[node]);
    }
  }

  /** Bring to the screen what has changed: the torus costs most, and is drawn when it is its turn. */
  flush(torusToo) {
    if (this.floorStale) this.floor.flush();
    this.floorStale = false;
    if (!torusToo || !this.torusStale) return;
    this.torus.paint(this.painted);
    this.torusStale = false;
  }

  repaint() {
    if (!this.paper || this.shown === undefined) return;
    this.floor.clear(this.service);
    this.#paint(0, this.history.nodes);
    this.#links();
  }

  say() {
    const { history } = this;
    const free = history.free();
    let words = `${Math.round((100 * history.busy) / history.nodes)} % busy, ${some(history.running, "job")}, ${some(free.pieces, "free piece")}.`;
    const gone = history.jobs().filter((job) => history.number[job] < 0);
    if (gone.length) words += ` ${some(gone.reduce((sum, job) => sum + history.width(job), 0), "node")} orphaned (gray).`;
    if (this.line.textContent !== words) this.line.textContent = words;
    this.#sayQueue(free);
  }

  /** The queue as a row of blocks as wide as the jobs, and why the job that has waited longest waits. */
  #sayQueue(free) {
    const { history } = this;
    const waiting = history.waiting(history.time);
    this.queue.replaceChildren(...waiting.slice(0, BLOCKS).map(({ nodes, number }) => {
      const block = make("span", number === history.number[this.chosen] ? { class: "hopper-chosen" } : {});
      block.style.flexGrow = nodes;
      return block;
    }));
    const [first] = waiting;
    let words = "Nothing waits.";
    if (first) {
      const all = waiting.reduce((sum, { nodes }) => sum + nodes, 0);
      const short = first.nodes > free.nodes ? `${some(free.nodes, "node")} ${free.nodes === 1 ? "is" : "are"} free` : first.nodes > free.longest ? `the largest free piece has ${some(free.longest, "node")}` : "";
      words = `${some(waiting.length, "job")} wait${waiting.length === 1 ? "s" : ""} for ${some(all, "node")}. The one that has waited longest, for ${duration(Math.floor(history.time - first.from))}, asks for ${some(first.nodes, "node")}${short && `: ${short}`}.`;
    }
    if (this.waits.textContent !== words) this.waits.textContent = words;
  }

  tell(job) {
    const { data, end, start, number: numbers, length } = this.history;
    const number = numbers[job];
    const milc = data.milc?.find(([of]) => of === number);
    const width = this.history.width(job);
    // Narrower jobs lie so close that their distance says little.
    const hops = width >= MEASURED_NODES ? `, ${meanHops(this.places, data.held[job][3]).toFixed(1)} hops apart on average` : "";
    const slow = milc
      ? ` A run of MILC takes ${Math.max(...milc.slice(2)).toLocaleString("en")} s on them in the model, alone on the machine ${milc[1].toLocaleString("en")} s; the mean is ${data.mean_s.toLocaleString("en")} s.`
      : "";
    const lies = `${some(width, "node")} in ${some(this.history.pieces(job), "piece")}${hops}.`;
    if (number < 0) return `${this.title}: ${lies} The scheduler believes them busy since ${clock(start[job])}, until they are cleared by hand on ${clock(end[job])}.`;
    const named = `${this.title}, job ${number.toLocaleString("en")}: ${lies}`;
    if (!length) return named;
    const { limit, wait } = this.history.asks(job);
    return (
      `${named} It waited ${duration(wait)}, began on ${clock(start[job])} and runs ${duration(end[job] - start[job])} of the ${duration(limit)} it asked for.${slow}`
    );
  }
}
