// A machine to watch: its floor and its torus over two days, every job in a color of its own, on the first free nodes
// beside one piece. Points are written straight into the pictures' bytes, so that a phone keeps up.

import { make } from "./dom.mjs";
import { fetched, History } from "./machine-data.mjs";
import { clock, HOUR, Machine } from "./machine-one.mjs";
import { Player } from "./player.mjs";

const TITLES = { first: "First free nodes", contiguous: "One piece, or wait" };
const HOURS_A_SECOND = 0.75;
const WORDS_EVERY = 15; // frames, while it plays

/** Start a figure: its data are fetched when it comes near, or at a touch where the reader saves data. */
export function startMachine(figure) {
  const start = () => new View(figure).load();
  if (navigator.connection?.saveData) {
    const button = make("button", { type: "button", class: "hopper-button" }, "Load the machine");
    button.addEventListener("click", () => (button.remove(), start()));
    figure.querySelector(".hopper-machine-stage").before(button);
    return;
  }
  const near = new IntersectionObserver(
    (entries) => {
      if (!entries.some((entry) => entry.isIntersecting)) return;
      near.disconnect();
      start();
    },
    { rootMargin: "400px 0px" },
  );
  near.observe(figure);
}

class View {
  #frame = 0;
  #hot = null; // { machine, job }: what is pointed at
  #kept = null; // the same: what was chosen

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
    this.machines = histories.map((data, at) => new Machine(Object.values(TITLES)[at], floor, new History(data, nodes)));
    this.#build();
    this.#theme();
    new MutationObserver(() => this.#theme()).observe(document.documentElement, { attributeFilter: ["data-theme"] });
    new ResizeObserver(() => this.#fit()).observe(this.stage);
    this.player.seek(histories[0].shown);
    // For tests: draw a minute at once.
    this.figure.hopperDraw = (minute) => this.player.seek(minute);
    this.figure.classList.add("hopper-machine-live");
  }

  #build() {
    const [{ history }] = this.machines;
    this.player = new Player({
      length: history.data.minutes,
      step: 10,
      stride: HOUR,
      perSecond: HOURS_A_SECOND * HOUR,
      label: "Time since the reboot",
      words: clock,
      draw: (time) => this.#draw(Math.floor(time)),
    });
    const check = (label, name, on) => {
      const box = make("input", { type: "checkbox", checked: on });
      box.addEventListener("change", () => {
        for (const machine of this.machines) machine.shows[name] = box.checked;
        this.#repaint();
      });
      return make("label", {}, box, ` ${label}`);
    };
    const turn = make("input", { type: "range", min: -180, max: 180, step: 5, value: -35, "aria-label": "Turn the torus" });
    turn.addEventListener("input", () => this.#turn(Number(turn.value)));
    this.turn = turn;
    const step = (label, by) => {
      const button = make("button", { type: "button", class: "hopper-button" }, label);
      button.addEventListener("click", () => this.#step(this.#kept?.machine ?? this.machines[0], by));
      return button;
    };
    const follow = make("button", { type: "button", class: "hopper-button" }, "Follow a MILC job");
    follow.addEventListener("click", () => this.#follow());
    this.tools = make(
      "div",
      { class: "hopper-machine-tools" },
      step("Previous job", -1),
      step("Next job", 1),
      follow,
      check(`Probe of ${history.data.probe.nodes} nodes`, "probe", true),
      check("Links from a fifth of their load", "links", true),
      make("label", {}, "Turn ", turn),
    );
    this.stage.replaceChildren(...this.machines.map((machine) => machine.element));
    this.stage.before(this.player.element, this.tools);
    this.figure.querySelector(".hopper-machine-told")?.remove();
    this.stage.after(this.told);
    for (const machine of this.machines) this.#listen(machine);
  }

  #listen(machine) {
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

  /** Go to the start of the next MILC job, and choose it. */
  #follow() {
    const [machine] = this.machines;
    const { history } = machine;
    const numbers = history.data.milc.map(([number]) => number);
    const jobs = [...history.start.keys()].filter((job) => numbers.includes(history.data.number[job]));
    const next = jobs.find((job) => history.start[job] > this.player.time) ?? jobs[0];
    this.player.pause();
    this.player.seek(history.start[next] + 1);
    this.#choose({ machine, job: next });
  }

  #pointed() {
    const { machine, job } = this.#hot ?? this.#kept ?? {};
    // The same job is shown on the other machine, if it runs there at this time.
    for (const each of this.machines) each.chosen = machine ? each.running(machine.history.data.number[job]) : -1;
    this.#repaint();
    this.#tell();
  }

  #tell() {
    const { machine, job } = this.#hot ?? this.#kept ?? {};
    const both = this.machines.filter((each) => each !== machine && each.chosen >= 0);
    const words = machine
      ? [machine, ...both].map((each) => each.tell(each === machine ? job : each.chosen)).join(" ")
      : "Point at a job, or step from job to job, to see all its nodes.";
    if (this.told.textContent !== words) this.told.textContent = words;
  }

  #draw(minute) {
    if (this.#kept && this.#kept.machine.history.end[this.#kept.job] <= minute) this.#kept = null;
    this.#frame += 1;
    for (const machine of this.machines) machine.draw(minute);
    if (!this.#kept && !this.#hot) for (const machine of this.machines) machine.letGo();
    // While it plays, the two toruses take turns.
    const playing = this.player?.playing;
    this.machines.forEach((machine, at) => machine.flush(!playing || this.#frame % this.machines.length === at));
    if (!playing || this.#frame % WORDS_EVERY === 0) for (const machine of this.machines) machine.say();
    if (!playing) this.#tell();
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
    // What is hidden has no width; it is fitted when it is seen again.
    if (!this.stage.clientWidth) return;
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
