// The machine of the reader's own setting: what the explorer of the page simulates, as far as it has come. What stood
// there for a while before, stands beside it.

import { make } from "./dom.mjs";
import { fetched, History, inOrder } from "./machine-data.mjs";
import { HOUR, LIVE_LINKS_EVERY, Machine } from "./machine-one.mjs";
import { python } from "./python.mjs";

const EXPLORERS = ["torus", "fragmentation", "variability", "scheduling"];
const STOOD = 1500; // a setting that was shown for less is not kept beside the next [ms]
const NOTE = "Move a control of the explorer above, and the machine of your setting is shown here in place of the recording.";
const REST = 250; // before more is asked for of a time that is dragged along [ms]
const AHEAD = 12; // hours

/** What a reader set otherwise than it was at the start, in words. */
function settingIn(controls, start, values) {
  const words = (control) => {
    const value = values[control.name];
    const option = control.options?.find(([name]) => name === value)?.[1];
    return `${control.label.toLowerCase()}: ${option ?? `${value}${control.unit ? ` ${control.unit}` : ""}`}`;
  };
  const changed = controls.filter(({ name }) => values[name] !== start[name]).map(words);
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

  constructor(view, section) {
    Object.assign(this, { view, section });
    this.caption = view.figure.querySelector("figcaption");
    this.recorded = this.caption.textContent;
    this.start = section.hopperForm.values();
    view.name = section.dataset.name;
    section.hopperWatch = (values) => {
      this.note.textContent = (values.floor ?? "hopper") === "hopper" ? NOTE : "Only Hopper's floor is drawn here; its last picture stays.";
      // Which nodes the lists name is fetched when the first setting is shown.
      this.orders ??= fetched("orders").then((orders) => (view.floor.orders = orders));
      return (data, key) => this.orders.then(() => this.#take(data, key, values));
    };
    // What the build has answered, Python is asked for as well: it alone has the machine.
    section.hopperAnew = () => {
      const values = section.hopperForm.values();
      python.answer(view.name, values, true, undefined, section.hopperWatch(values)).catch(() => {});
    };
    view.onShown = () => {
      clearTimeout(this.rest);
      this.rest = setTimeout(() => this.#fetchMore(), view.player.playing ? 0 : REST);
    };
    this.back = make("button", { type: "button", class: "hopper-button", hidden: true }, "Show the recording");
    this.back.addEventListener("click", () => this.#leave());
    view.tools.append(this.back);
    this.note = make("p", { class: "hopper-help" }, NOTE);
    view.told.after(this.note);
  }

  #take(data, key, values) {
    const setting = JSON.stringify(values);
    const now = performance.now();
    if (this.#now && this.#now.setting !== setting && now - this.#now.since > STOOD) this.#before = this.#now;
    const same = this.#now?.setting === setting;
    const title = settingIn(this.section.hopperForm.controls, this.start, values);
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
    const slot = `${side} ${data.order}`;
    const floor = inOrder(this.view.floor, data.order);
    const history = new History(data, floor.x.length);
    if (!this.#slots.has(slot)) {
      this.#slots.set(slot, new Machine("", floor, history));
      this.view.adopt(this.#slots.get(slot));
    }
    const machine = this.#slots.get(slot);
    machine.take(`${word} (${title})`, history);
    machine.key = key;
    machine.turn(Number(this.view.turn.value));
    return machine;
  }

  /** Back to what the build recorded. */
  #leave() {
    this.#now = this.#before = null;
    this.caption.textContent = this.recorded;
    this.back.hidden = true;
    this.view.show(this.view.recorded);
    this.view.player.seek(this.view.recorded[0].history.data.shown_s / 60);
  }

  /**
   * Ask Python for what the pictures still lack, one thing after the other: the days around the time, and, if it stands
   * still, the links. To work out links takes so long that a reader who plays would wait for every other answer.
   */
  async #fetchMore() {
    if (!this.#now || this.#asking) return;
    const { machines, player, shows } = this.view;
    const minute = Math.floor(player.time);
    const away = machines.find(({ history }) => minute < history.from || (minute > history.until && history.until < history.length));
    // Before the days that are here come to their end, the next ones.
    const soon = player.playing && machines.find(({ history }) => minute > history.until - HOUR * AHEAD && history.until < history.length);
    const dark = !player.playing && shows.links && machines.find((each) => !each.links.has(each.instant));
    const machine = away || soon || dark;
    if (!machine?.key) return;
    this.#asking = true;
    const { key, instant, links } = machine;
    const from = Math.max(0, minute - HOUR * (away && !player.playing ? 2 * AHEAD : AHEAD));
    const reply = away || soon ? python.watched(key, "recording", from) : python.watched(key, "links", Math.min(instant * LIVE_LINKS_EVERY, machine.history.length));
    const more = await reply.catch(() => "");
    this.#asking = false;
    if (machine.links === links) {
      const { chosen } = this.view;
      if (typeof more === "string") links.set(instant, more);
      else {
        this.view.chosen = undefined;
        machine.goOn(new History(more, machine.history.nodes));
      }
      player.seek(player.time);
      this.view.chosen = chosen;
    }
    // What is forgotten is not asked for again and again.
    if (more !== "") this.#fetchMore();
  }
}
