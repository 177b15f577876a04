// One machine of the figure: its floor, its torus, who is chosen, and what is said of it.

import { make } from "./dom.mjs";
import { Floor, Torus } from "./machine-pictures.mjs";

export const HOUR = 60; // minutes

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

const duration = (minutes) => (minutes < 90 ? `${minutes} min` : `${(minutes / 60).toFixed(1)} h`);
const some = (count, word) => `${count.toLocaleString("en")} ${word}${count === 1 ? "" : "s"}`;

/** One machine of the figure: floor, torus and a line of numbers. */
export class Machine {
  shows = { probe: true, links: true };
  chosen = -1;
  #colors = [];

  constructor(title, floor, history) {
    this.history = history;
    this.title = title;
    this.painted = new Uint32Array(history.nodes);
    this.floor = new Floor(floor, `${title}: the floor. Arrow keys go from job to job.`);
    this.torus = new Torus(floor, `${title}: the torus. Drag to turn it.`);
    this.line = make("p", { class: "hopper-machine-line" });
    this.element = make(
      "section",
      { class: "hopper-machine-one", "aria-label": title },
      make("p", { class: "hopper-part-title" }, title),
      this.floor.canvas,
      make("div", { class: "hopper-torus" }, this.torus.canvas, this.torus.over),
      this.line,
    );
  }

  theme(dark) {
    const style = getComputedStyle(document.documentElement);
    const rgb = (name) => style.getPropertyValue(`--hopper-${name}`).trim().match(/[0-9a-f]{2}/gi).map((part) => parseInt(part, 16));
    this.paper = rgb("paper");
    this.free = bytes(...rgb("grid"));
    this.ink = bytes(...rgb("ink"));
    this.service = bytes(...rgb("line"));
    this.#colors = this.history.data.number.map((number) => {
      const color = colorOf(number, dark);
      // Faded while another job is chosen.
      return [bytes(...color), bytes(...color.map((part, i) => Math.round(0.16 * part + 0.84 * this.paper[i])))];
    });
    Object.assign(this.torus, { free: this.free, ink: this.ink });
    this.torus.glow = dark ? [255, 176, 92] : [176, 58, 0];
  }

  fit() {
    return [this.floor.fit(), this.torus.fit()].includes(true);
  }

  /** The job of a number, if it runs now; else -1. */
  running(number) {
    const { data, start, end, time } = this.history;
    const job = data.number.indexOf(number);
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
    this.#links();
    this.torus.paint(this.painted, this.probed);
  }

  #links() {
    this.torus.drawLinks(this.shows.links ? this.history.data.links[this.instant] : "");
  }

  draw(minute) {
    const hour = Math.min(Math.floor(minute / HOUR), this.history.probeFirst.length - 1);
    const every = this.history.data.minutes / (this.history.data.links.length - 1);
    const instant = Math.floor(minute / every);
    const anew = this.history.go(minute, (low, length) => this.#paint(low, length));
    if (anew || hour !== this.hour || instant !== this.instant) {
      this.hour = hour;
      this.instant = instant;
      this.repaint();
    } else {
      this.stale = true;
    }
  }

  #colorOf(node) {
    const job = this.history.holder[node];
    if (job < 0) return this.free;
    return this.#colors[job][this.chosen >= 0 && job !== this.chosen ? 1 : 0];
  }

  #paint(low, length) {
    for (let node = low; node < low + length; node += 1) {
      this.painted[node] = this.#colorOf(node);
      this.floor.draw(node, this.painted[node], this.probed?.[node] ? this.ink : 0);
    }
  }

  /** Bring to the screen what has changed: the torus costs most, and is drawn when it is its turn. */
  flush(torusToo) {
    if (!this.stale) return;
    this.floor.flush();
    if (!torusToo) return;
    this.torus.paint(this.painted, this.probed);
    this.stale = false;
  }

  repaint() {
    if (!this.paper || this.hour === undefined) return;
    this.probed = null;
    if (this.shows.probe && this.chosen < 0) {
      this.probed = new Uint8Array(this.history.nodes);
      this.history.eachProbeRun(this.hour, (low, length) => this.probed.fill(1, low, low + length));
    }
    this.floor.clear(this.service);
    this.#paint(0, this.history.nodes);
    this.stale = true;
    this.#links();
  }

  say() {
    const { history } = this;
    const { probe } = history.data;
    const later = probe.start[this.hour] - this.hour * HOUR;
    const words =
      `${Math.round((100 * history.busy) / history.nodes)} % busy, ${some(history.running, "job")}, ${some(history.freePieces(), "free piece")}. ` +
      `A job of ${probe.nodes} nodes would start ${later > 0 ? `in ${duration(later)}` : "at once"}, in ` +
      `${some(history.data.probe.runs[history.probeFirst[this.hour]], "piece")}, ${(probe.hops[this.hour] / 10).toFixed(1)} hops apart.`;
    if (this.line.textContent !== words) this.line.textContent = words;
  }

  tell(job) {
    const { data, end, start } = this.history;
    const milc = data.milc.find(([number]) => number === data.number[job]);
    const hops = data.hops[job] ? `, ${(data.hops[job] / 10).toFixed(1)} hops apart on average` : "";
    const slow = milc
      ? ` It is a MILC job: alone on the machine its nodes would take ${milc[1].toFixed(2)} s to exchange a GB; beside its neighbors its three runs take ` +
        `${milc.slice(2).map((seconds) => seconds.toFixed(2)).join(", ")} s.`
      : "";
    return (
      `${this.title}, job ${data.number[job].toLocaleString("en")}: ${some(this.history.width(job), "node")} in ${some(this.history.pieces(job), "piece")}${hops}. ` +
      `It waited ${duration(data.wait[job])}, began on ${clock(start[job])} and runs ${duration(end[job] - start[job])} of the ${duration(data.limit[job])} it asked for.${slow}`
    );
  }
}
