// Who holds which node of a machine at any minute: read from what hopperkit/questions/network/recording.py makes, for
// the build or for the setting of an explorer.

import { textOf } from "./textfile.mjs";

export async function fetched(name) {
  const reply = await fetch(new URL(`machine/${name}.json.gz`, import.meta.url));
  if (!reply.ok) throw new Error(`${name} is missing (${reply.status})`);
  return JSON.parse(await textOf(await reply.blob()));
}

/** The floor with its nodes in the order of another list. */
export function inOrder(floor, order) {
  const list = floor.orders[order];
  if (!list) return floor;
  const names = ["column", "row", "cage", "slot", "node", "x", "y", "z"];
  return { ...floor, ...Object.fromEntries(names.map((name) => [name, list.map((at) => floor[name][at])])) };
}

/** Mean distance of the nodes in some runs: each axis of a torus counts for itself. [hops] */
export function meanHops(floor, runs) {
  let pairs = 0;
  let apart = 0;
  ["x", "y", "z"].forEach((axis, at) => {
    const size = floor.dimensions[at];
    const there = new Array(size).fill(0);
    for (const [low, high] of runs) for (let node = low; node < high; node += 1) there[floor[axis][node]] += 1;
    const nodes = there.reduce((sum, count) => sum + count, 0);
    pairs = (nodes * (nodes - 1)) / 2;
    for (let a = 0; a < size; a += 1) for (let b = a + 1; b < size; b += 1) apart += there[a] * there[b] * Math.min(b - a, size - b + a);
  });
  return pairs ? apart / pairs : 0;
}

/** The first full minute that has seen an instant: what is shown of a full minute is exact. */
const minuteOf = (seconds) => Math.ceil(seconds / 60);

/** Times in minutes; jobs by their place in the list, in the order of their starts. */
export class History {
  constructor(data, nodes) {
    const { held } = data;
    Object.assign(this, { data, nodes, length: data.end_s / 60, from: data.from_s / 60, until: data.until_s / 60 });
    this.number = held.map(([number]) => number);
    this.start = Int32Array.from(held, ([, start]) => minuteOf(start));
    this.end = Int32Array.from(held, ([, , end]) => minuteOf(end));
    this.byEnd = [...this.end.keys()].sort((a, b) => this.end[a] - this.end[b]);
    const begun = held.filter(([number]) => number >= 0).map(([number, start, , runs, , wait]) => ({
      number, from: (start - wait) / 60, to: start / 60, nodes: runs.reduce((sum, [low, high]) => sum + high - low, 0),
    }));
    const later = (data.queued ?? []).map(([number, submit, width]) => ({ number, from: submit / 60, to: Infinity, nodes: width }));
    this.asking = [...begun, ...later].sort((a, b) => a.from - b.from);
    this.holder = new Int32Array(nodes).fill(-1);
    this.time = -1;
    this.started = 0;
    this.ended = 0;
    this.running = 0;
    this.busy = 0;
  }

  /** Call with first position and length of each run of a job. */
  eachRun(job, act) {
    for (const [low, high] of this.data.held[job][3]) act(low, high - low);
  }

  /** How many minutes a job asked for, and waited. */
  asks(job) {
    const [, , , , limit, wait] = this.data.held[job];
    return { limit: Math.floor(limit / 60), wait: Math.floor(wait / 60) };
  }

  pieces(job) {
    return this.data.held[job][3].length;
  }

  width(job) {
    let nodes = 0;
    this.eachRun(job, (low, length) => (nodes += length));
    return nodes;
  }

  /** Go to a minute; call with each run whose holder changed. True: everything changed. */
  go(minute, changed) {
    const back = minute < this.time;
    if (back) {
      this.holder.fill(-1);
      Object.assign(this, { started: 0, ended: 0, running: 0, busy: 0 });
    }
    this.time = minute;
    const act = back ? () => {} : changed;
    // A job that began and ended in between was never seen.
    const from = this.started;
    while (this.started < this.start.length && this.start[this.started] <= minute) this.started += 1;
    for (; this.ended < this.byEnd.length && this.end[this.byEnd[this.ended]] <= minute; this.ended += 1) {
      const job = this.byEnd[this.ended];
      if (back || job >= from) continue;
      this.#set(job, -1, act);
    }
    for (let job = from; job < this.started; job += 1) if (this.end[job] > minute) this.#set(job, job, act);
    return back;
  }

  #set(job, holder, act) {
    // What orphans hold is not at work.
    const works = this.number[job] < 0 ? 0 : holder < 0 ? -1 : 1;
    this.running += works;
    this.eachRun(job, (low, length) => {
      this.busy += works * length;
      this.holder.fill(holder, low, low + length);
      act(low, length);
    });
  }

  /** Jobs that wait at a minute, who has waited longest first. */
  waiting(minute) {
    return this.asking.filter(({ from, to }) => from <= minute && minute < to);
  }

  /** Runs of free nodes: how many there are, the longest, and all of their nodes. */
  free() {
    let [pieces, longest, nodes, run] = [0, 0, 0, 0];
    for (const holder of this.holder) {
      run = holder < 0 ? run + 1 : 0;
      if (run === 1) pieces += 1;
      if (run) nodes += 1;
      longest = Math.max(longest, run);
    }
    return { pieces, longest, nodes };
  }

  /** Jobs that run, in the order of their first node. */
  jobs() {
    return [...new Set(this.holder)].filter((job) => job >= 0);
  }
}
