// The machine of the reader's own setting: what the explorer of the page simulates, as far as it has come. What stood
// there for a while before, stands beside it.

import { dataOf, make } from "./dom.mjs";
import { fetched, History, inOrder } from "./machine-data.mjs";
import { HOUR, LINKS_EVERY, Machine } from "./machine-one.mjs";
import { python } from "./python.mjs";

const EXPLORERS = ["torus", "fragmentation", "variability", "scheduling"];
const STOOD = 1500; // a setting that was shown for less is not kept beside the next [ms]
const NOTE = "Move a control of the explorer above, and the machine of your setting is shown here in place of the recording.";
const REST = 250; // before more is asked for of a time that is dragged along [ms]
const AHEAD = 12; // hours
const QUIET = 1000; // after a control was moved the worker is left to the answer [ms]
const BREATH = 0.5; // of the time that links take to work out is left to others after them
const SOON = 4; // instants ahead for which links are asked while it plays

/** Whether a control stands otherwise than at the start. */
const moved = ({ name }, start, values) => String(values[name]) !== String(start[name]);

/** What a reader set otherwise than it was at the start, in words. */
function settingIn(controls, start, values) {
  const words = (control) => {
    const value = values[control.name];
    const option = control.options?.find(([name]) => name === value)?.[1];
    return `${control.label.toLowerCase()}: ${option ?? `${value}${control.unit ? ` ${control.unit}` : ""}`}`;
  };
  const changed = controls.filter((control) => control.kind !== "file" && moved(control, start, values)).map(words);
  return changed.length ? changed.join("; ") : "the setting at the start";
}

/** Let a view follow the explorer of its page, if there is one that it can show. */
export function followLive(view) {
  const section = EXPLORERS.map((name) => document.querySelector(`.hopper-explorer[data-name="${name}"]`)).find(Boolean);
  if (section?.hopperForm) new Live(view, section);
}

class Live {
  #slots = new Map(); // pictures that are there, by side and order of the list
  #now = null; // { data, key, title, setting, since }
  #before = null;
  #asking = false;
  #moved = 0; // when a control was moved last
  #took = 500; // to work out links, as it was of late [ms]
  #rested = 0; // until when no links are asked for

  constructor(view, section) {
    Object.assign(this, { view, section });
    this.caption = view.figure.querySelector("figcaption");
    this.recorded = this.caption.textContent;
    this.start = dataOf(section).start;
    view.name = section.dataset.name;
    section.addEventListener("input", () => (this.#moved = performance.now()));
    section.hopperWatch = (values) => {
      // Which nodes the lists name is fetched when the first setting is shown.
      this.orders ??= fetched("orders").then((orders) => (view.floor.orders = orders));
      return (data, key) => this.orders.then(() => this.#take(data, key, values));
    };
    // What the build has answered, Python is asked for as well: it alone has the machine.
    section.hopperAnew = () => {
      clearTimeout(this.anew);
      this.anew = setTimeout(() => this.#askAnew(), REST);
    };
    view.onShown = () => (view.player.playing ? this.#fetchMore() : this.#later());
    this.back = make("button", { type: "button", class: "hopper-button", hidden: true }, "Show the recording");
    this.back.addEventListener("click", () => this.#leave());
    view.tools.append(this.back);
    this.note = make("p", { class: "hopper-help" }, NOTE);
    view.told.after(this.note);
    // Moved before the machine came near.
    const values = section.hopperForm.values();
    if (section.hopperForm.controls.some((control) => moved(control, this.start, values))) section.hopperAnew();
  }

  /** Ask for the machine of the latest setting; while one is on its way, only the latest wish is kept. */
  async #askAnew() {
    this.wished = true;
    if (this.working) return;
    this.working = true;
    while (this.wished) {
      this.wished = false;
      const values = this.section.hopperForm.values();
      await python.answer(this.view.name, values, true, { machine: this.section.hopperWatch(values) }).catch(() => {});
    }
    this.working = false;
  }

  #later() {
    clearTimeout(this.rest);
    this.rest = setTimeout(() => this.#fetchMore(), REST);
  }

  #take(data, key, values) {
    this.note.textContent = data.why ? `Not drawn: ${data.why}. The picture shown is the previous one.` : "";
    if (data.why) return;
    const setting = JSON.stringify(values);
    const now = performance.now();
    if (this.#now && this.#now.setting !== setting && now - this.#now.since > STOOD) this.#before = this.#now;
    const same = this.#now?.setting === setting;
    // Which machine it is stands before that.
    const controls = this.section.hopperForm.controls.filter(({ name }) => !data.floor || !["floor", "machine"].includes(name));
    const title = settingIn(controls, this.start, values);
    const { player, chosen } = this.view;
    // At its end it goes on with what comes; a time that the reader chose stays.
    const atEnd = !this.#now || player.time >= this.#now.data.end_s / 60;
    this.#now = { data, key, title, setting, since: same ? this.#now.since : now };
    if (this.#before?.setting === setting) this.#before = null;
    this.#show();
    player.seek(atEnd ? data.end_s / 60 : player.time);
    this.view.chosen = chosen;
  }

  #show() {
    const machines = [this.#placed("left", "Your setting", this.#now)];
    if (this.#before) machines.push(this.#placed("right", "Before", this.#before));
    this.caption.textContent = "Watch the machine: what the explorer above simulates for your setting";
    this.back.hidden = false;
    this.view.show(machines);
  }

  #placed(side, word, run) {
    const { data, key, title } = run;
    const { dimensions, x } = data.floor ?? this.view.floor;
    const slot = [side, data.order, data.machine, dimensions, x.length].join(" ");
    const floor = data.floor ?? inOrder(this.view.floor, data.order);
    const history = new History(data, floor.x.length);
    if (!this.#slots.has(slot)) {
      this.#slots.set(slot, new Machine("", floor, history));
      this.view.adopt(this.#slots.get(slot));
    }
    const machine = this.#slots.get(slot);
    machine.take(`${word}${data.floor ? ` on ${data.machine}` : ""} (${title})`, history);
    machine.key = key;
    machine.turn(Number(this.view.turn.value));
    return machine;
  }

  /** Back to what the build recorded. */
  #leave() {
    this.#now = this.#before = null;
    this.note.textContent = NOTE;
    this.caption.textContent = this.recorded;
    this.back.hidden = true;
    this.view.show(this.view.recorded);
    this.view.begin();
  }

  /** Ask Python for what the pictures still lack, one thing after the other: the days around the time, and the links. */
  async #fetchMore() {
    if (!this.#now || this.#asking) return;
    const { machines, player } = this.view;
    const minute = Math.floor(player.time);
    const away = machines.find(({ history }) => minute < history.from || (minute > history.until && history.until < history.length));
    // Before the days that are here come to their end, the next ones.
    const soon = player.playing && machines.find(({ history }) => minute > history.until - HOUR * AHEAD && history.until < history.length);
    const machine = away || soon;
    if (!machine?.key) return this.#fetchLinks();
    this.#asking = true;
    const from = Math.max(0, minute - HOUR * (away && !player.playing ? 2 * AHEAD : AHEAD));
    const { links, key } = machine;
    const more = await python.watched(key, "recording", from).catch(() => "");
    this.#asking = false;
    if (more && machine.links === links) {
      const { chosen } = this.view;
      this.view.chosen = undefined;
      machine.goOn(new History(more, machine.history.nodes));
      this.view.courses.show(machines);
      player.seek(player.time);
      this.view.chosen = chosen;
    }
    // What is forgotten is not asked for again and again.
    if (more !== "") this.#fetchMore();
  }

  /**
   * Ask for the links that are not known: those of the time, or, while it plays, the next that can be there in time. An
   * answer never waits behind more than one such request, and behind none while a control is moved.
   */
  async #fetchLinks() {
    const { machines, player, shows } = this.view;
    const now = performance.now();
    if (!shows.links || (player.playing && (now < this.#rested || now - this.#moved < QUIET))) return;
    const lacks = machines.filter(({ key }) => key).map((machine) => [machine, this.#dark(machine)]);
    const [machine, instant] = lacks.filter(([, at]) => at !== undefined).sort((a, b) => a[1] - b[1])[0] ?? [];
    if (!machine) return;
    if (python.busy) {
      if (!player.playing) this.#later();
      return;
    }
    this.#asking = true;
    const { links, history } = machine;
    const reply = await python.watched(machine.key, "links", Math.min(instant * LINKS_EVERY, history.length)).catch(() => null);
    const took = performance.now() - now;
    this.#asking = false;
    this.#took = (this.#took + took) / 2;
    this.#rested = performance.now() + BREATH * took;
    if (machine.links !== links || reply === null) return;
    links.set(instant, reply);
    machine.newLinks(instant);
    if (!player.playing) this.#fetchMore();
  }

  /** The instant whose links a machine lacks most. */
  #dark({ links, instant, history }) {
    const { player } = this.view;
    if (!player.playing) return links.has(instant) ? undefined : instant;
    const inTime = Math.floor((player.time + (this.#took / 1000) * player.perSecond) / LINKS_EVERY);
    const last = Math.floor(history.length / LINKS_EVERY);
    for (let at = inTime; at <= Math.min(last, inTime + SOON); at += 1) if (!links.has(at)) return at;
    return undefined;
  }
}
