// A machine to watch: its queue, its floor and its torus over two days, one job in color, on the first free nodes beside
// one piece. Points are written straight into the pictures' bytes, so that a phone keeps up.

import { make } from "./dom.mjs";
import { Courses } from "./machine-courses.mjs";
import { fetched, History } from "./machine-data.mjs";
import { followLive } from "./machine-live.mjs";
import { clock, HOUR, Machine } from "./machine-one.mjs";
import { fillTables } from "./machine-table.mjs";
import { whenNear } from "./near.mjs";
import { Player } from "./player.mjs";

const PLAYED_IN = 64; // seconds, however long it is
const FOLLOWED = { torus: "Choose the job", scheduling: "Follow a largest job" };

/** Start a figure: its data are fetched when it comes near, or at a touch where the reader saves data. */
export function startMachine(figure) {
  const view = new View(figure);
  whenNear(figure, () => (view.loading ??= view.load()));
}

class View {
  #frame = 0;
  #hot = null; // { machine, job }: what is pointed at
  #kept = null; // the same: what was chosen
  #unasked = false; // whether it was chosen without the reader
  shows = { links: true };
  courses = new Courses();

  constructor(figure) {
    this.figure = figure;
    this.stage = figure.querySelector(".hopper-machine-stage");
    this.told = make("p", { class: "hopper-machine-told", "aria-live": "polite" });
  }

  async load() {
    let floor;
    let histories;
    try {
      [floor, ...histories] = await Promise.all(["floor", "first", "contiguous"].map(fetched));
    } catch (error) {
      this.stage.before(make("p", { class: "hopper-note" }, `The machine cannot be shown: ${error.message}.`));
      return;
    }
    const nodes = floor.x.length;
    this.floor = floor;
    this.recorded = histories.map((data) => new Machine(data.title, floor, new History(data, nodes)));
    this.machines = this.recorded;
    this.#build(this.recorded[0].history);
    for (const machine of this.machines) this.adopt(machine);
    this.show(this.recorded);
    new MutationObserver(() => this.#theme()).observe(document.documentElement, { attributeFilter: ["data-theme"] });
    new ResizeObserver(() => this.#fit()).observe(this.stage);
    this.begin();
    followLive(this);
    // For tests: draw a minute at once.
    this.figure.hopperDraw = (minute) => this.player.seek(minute);
    this.figure.classList.add("hopper-machine-live");
  }

  /** Go to the time that is told of, with the job in color whose slowness is told. */
  begin() {
    const { history } = this.recorded[0];
    this.player.seek(history.data.shown_s / 60);
    this.#choose({ machine: this.recorded[0], job: history.number.indexOf(history.data.worth) });
    this.#unasked = true;
    this.#tell();
  }

  #build({ length }) {
    this.player = new Player({
      length,
      step: 10,
      stride: HOUR,
      perSecond: length / PLAYED_IN,
      label: "Time since the reboot",
      words: clock,
      draw: (time, told) => this.#draw(Math.floor(time), told),
    });
    const links = make("input", { type: "checkbox", checked: true });
    links.addEventListener("change", () => {
      this.shows.links = links.checked;
      this.#repaint();
      this.onShown?.();
    });
    const turn = make("input", { type: "range", min: -180, max: 180, step: 5, value: -35, "aria-label": "Turn the torus" });
    turn.addEventListener("input", () => this.#turn(Number(turn.value)));
    this.turn = turn;
    this.follow = make("button", { type: "button", class: "hopper-button" });
    this.follow.addEventListener("click", () => this.#follow());
    this.tools = make(
      "div",
      { class: "hopper-machine-tools" },
      this.follow,
      make("label", {}, links, " Links from a fifth of their load"),
      make("label", {}, "Turn ", turn),
    );
    this.stage.before(this.player.element, this.tools, this.courses.element);
    this.details = this.figure.querySelector("details.hopper-data");
    this.details.addEventListener("toggle", () => fillTables(this.details, this.machines));
    this.figure.querySelector(".hopper-machine-told")?.remove();
    this.stage.after(this.told);
  }

  /** Show some machines beside each other, to the end of the longest. */
  show(machines) {
    this.machines = machines;
    const data = machines.map(({ history }) => history.data);
    this.stage.replaceChildren(...machines.map(({ element }) => element));
    this.stage.classList.toggle("hopper-one", machines.length === 1);
    // What is recorded begins on the second day.
    this.player.reach(Math.max(...machines.map(({ history }) => history.length)), PLAYED_IN, data[0].links ? machines[0].history.from : 0);
    this.follow.textContent = (!data[0].milc && FOLLOWED[this.name]) || "Next MILC job";
    this.follow.hidden = this.#followed().length === 0;
    this.#kept = this.#hot = null;
    this.courses.show(machines);
    this.#theme();
    fillTables(this.details, machines);
  }

  /** The number of the chosen job, and to choose it again where it runs. */
  get chosen() {
    return this.#kept?.machine.history.number[this.#kept.job];
  }

  set chosen(number) {
    const [machine] = this.machines;
    const job = number === undefined ? -1 : machine.running(number);
    this.#choose(job < 0 ? null : { machine, job });
  }

  /** The jobs that are stepped through, in the order of their starts. */
  #followed() {
    const { data, number: all } = this.machines[0].history;
    const numbers = data.follow ?? (data.milc ?? []).map(([number]) => number);
    return all.flatMap((number, job) => (numbers.includes(number) ? [job] : []));
  }

  /** Hear what is done to the pictures of a machine. */
  adopt(machine) {
    machine.shows = this.shows;
    const { floor, torus } = machine;
    for (const [canvas, find] of [[floor.canvas, (x, y) => floor.nodeAt(x, y)], [torus.over, (x, y) => torus.nodeAt(x, y)]]) {
      canvas.addEventListener("pointermove", (event) => {
        if (event.buttons && canvas === torus.over) {
          this.turn.value = String(((Number(this.turn.value) + event.movementX / 2 + 540) % 360) - 180);
          this.#turn(Number(this.turn.value));
          return;
        }
        const job = machine.history.holder[find(event.offsetX, event.offsetY)] ?? -1;
        if (job === (this.#hot?.machine === machine ? this.#hot.job : -1)) return;
        this.#hot = job < 0 ? null : { machine, job };
        this.#pointed();
      });
      canvas.addEventListener("pointerleave", () => {
        this.#hot = null;
        this.#pointed();
      });
      canvas.addEventListener("click", (event) => {
        const job = machine.history.holder[find(event.offsetX, event.offsetY)] ?? -1;
        this.#kept = job < 0 ? null : { machine, job };
        this.#pointed();
      });
    }
    floor.canvas.addEventListener("keydown", (event) => {
      const by = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: 10, ArrowUp: -10 }[event.key];
      if (by) this.#step(machine, by);
      else if (event.key === "Escape") this.#choose(null);
      else return;
      event.preventDefault();
    });
  }

  /** Choose the next job in the order of the floor. */
  #step(machine, by) {
    const jobs = machine.history.jobs();
    if (jobs.length === 0) return;
    const at = this.#kept?.machine === machine ? jobs.indexOf(this.#kept.job) : -1;
    const next = at < 0 ? (by > 0 ? 0 : jobs.length - 1) : (at + by + jobs.length * 10) % jobs.length;
    this.#choose({ machine, job: jobs[next] });
  }

  #choose(kept) {
    this.#kept = kept;
    this.#hot = null;
    this.#pointed();
  }

  /** Go to the start of the next job that is followed, and choose it. */
  #follow() {
    const [machine] = this.machines;
    const jobs = this.#followed();
    const next = jobs.find((job) => machine.history.start[job] > this.player.time) ?? jobs[0];
    this.player.pause();
    this.player.seek(machine.history.start[next] + 1);
    this.#choose({ machine, job: next });
  }

  #pointed() {
    this.#unasked = false;
    const { machine, job } = this.#hot ?? this.#kept ?? {};
    // The same job is shown on the other machine, if it runs there at this time.
    for (const each of this.machines) each.chosen = machine ? each.running(machine.history.number[job]) : -1;
    this.#repaint();
    this.#tell();
  }

  #tell() {
    const { machine, job } = this.#hot ?? this.#kept ?? {};
    const both = this.machines.filter((each) => each !== machine && each.chosen >= 0);
    const words = machine
      ? [machine, ...both].map((each) => each.tell(each === machine ? job : each.chosen)).join(" ")
      : `${matchMedia("(pointer: coarse)").matches ? "Touch" : "Point at"} a job to see all its nodes.`;
    if (this.told.textContent !== words) this.told.textContent = words;
    // On a phone what a reader asked for stays in sight.
    this.told.classList.toggle("hopper-chosen", Boolean(machine) && !this.#unasked);
  }

  #draw(minute, told) {
    if (this.#kept && this.#kept.machine.history.end[this.#kept.job] <= minute) this.#kept = null;
    this.#frame += 1;
    for (const machine of this.machines) machine.draw(minute);
    if (!this.#kept && !this.#hot) for (const machine of this.machines) machine.letGo();
    // While it plays, the two toruses take turns.
    const playing = this.player?.playing;
    const drawn = this.machines.filter(({ seen }) => seen);
    drawn.forEach((machine, at) => machine.flush(!playing || this.#frame % drawn.length === at));
    if (told) {
      this.courses.draw(minute);
      for (const machine of this.machines) machine.say();
    }
    if (!playing) this.#tell();
    this.onShown?.();
  }

  #repaint() {
    for (const machine of this.machines) {
      machine.repaint();
      machine.flush(true);
    }
  }

  #turn(degrees) {
    for (const machine of this.machines) machine.turn(degrees);
  }

  #fit() {
    // What is hidden keeps its size, once it has one.
    if (!this.stage.clientWidth && this.machines.every(({ fitted }) => fitted)) return;
    let changed = false;
    for (const machine of this.machines) changed = machine.fit() || changed;
    if (changed) this.#repaint();
  }

  #theme() {
    const dark = document.documentElement.dataset.theme === "dark";
    for (const machine of this.machines) machine.theme(dark);
    this.#fit();
    this.#repaint();
  }
}
