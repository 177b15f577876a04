// Who holds which node of a machine at any minute: read from what the build wrote (hopperlib/site/machine_view.py).

import { textOf } from "./textfile.mjs";

export async function fetched(name) {
  const reply = await fetch(new URL(`machine/${name}.json.gz`, import.meta.url));
  if (!reply.ok) throw new Error(`${name} is missing (${reply.status})`);
  return JSON.parse(await textOf(await reply.blob()));
}

/** Numbers like [2, 0, 3, 6, 1, ...] -> where the runs of each begin in them. */
function places(flat) {
  const firsts = [];
  for (let at = 0; at < flat.length; at += 1 + 2 * flat[at]) firsts.push(at);
  return firsts;
}

export class History {
  constructor(data, nodes) {
    Object.assign(this, { data, nodes });
    let now = 0;
    this.start = Int32Array.from(data.start, (after) => (now += after));
    this.end = this.start.map((minute, job) => minute + data.minutes_run[job]);
    this.byEnd = [...this.end.keys()].sort((a, b) => this.end[a] - this.end[b]);
    this.first = places(data.runs);
    this.probeFirst = places(data.probe.runs);
    this.holder = new Int32Array(nodes).fill(-1);
    this.time = -1;
    this.started = 0;
    this.ended = 0;
    this.running = 0;
    this.busy = 0;
  }

  /** Call with first position and length of each run of a job. */
  eachRun(job, act) {
    const { runs } = this.data;
    for (let at = this.first[job] + 1, last = at + 2 * runs[this.first[job]]; at < last; at += 2) act(runs[at], runs[at + 1]);
  }

  eachProbeRun(hour, act) {
    const { runs } = this.data.probe;
    const first = this.probeFirst[hour];
    for (let at = first + 1, last = at + 2 * runs[first]; at < last; at += 2) act(runs[at], runs[at + 1]);
  }

  pieces(job) {
    return this.data.runs[this.first[job]];
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
    this.running += holder < 0 ? -1 : 1;
    this.eachRun(job, (low, length) => {
      this.busy += holder < 0 ? -length : length;
      this.holder.fill(holder, low, low + length);
      act(low, length);
    });
  }

  /** How many runs of free nodes there are. */
  freePieces() {
    let pieces = 0;
    for (let at = 0; at < this.nodes; at += 1) if (this.holder[at] < 0 && (at === 0 || this.holder[at - 1] >= 0)) pieces += 1;
    return pieces;
  }

  /** Jobs that run, in the order of their first node. */
  jobs() {
    return [...new Set(this.holder)].filter((job) => job >= 0);
  }
}
