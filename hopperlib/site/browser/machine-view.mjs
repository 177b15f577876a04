// A machine to watch: its floor and its torus over two days, every job in a color of its own, on the first free nodes
// beside one piece. Points are written straight into the pictures' bytes, so that a phone keeps up.

import { make } from "./dom.mjs";
import { fetched, History } from "./machine-data.mjs";
import { Player } from "./player.mjs";

const TITLES = { first: "First free nodes", contiguous: "One piece, or wait" };
const HOUR = 60; // minutes
const HOURS_A_SECOND = 0.75;
const WORDS_EVERY = 15; // frames, while it plays
const GLOW = 2; // tenths of a link's bandwidth from which it is drawn

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

/** A minute in words. */
function clock(minute) {
  const whole = Math.floor(minute);
  return `day ${1 + Math.floor(whole / 1440)}, ${String(Math.floor(whole / 60) % 24).padStart(2, "0")}:${String(whole % 60).padStart(2, "0")}`;
}

const duration = (minutes) => (minutes < 90 ? `${minutes} min` : `${(minutes / 60).toFixed(1)} h`);
const some = (count, word) => `${count.toLocaleString("en")} ${word}${count === 1 ? "" : "s"}`;

/** One machine of the figure: floor, torus and a line of numbers. */
class Machine {
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

/** A picture whose bytes are written one by one. */
class Picture {
  constructor(attributes) {
    this.canvas = make("canvas", attributes);
    this.pen = this.canvas.getContext("2d");
  }

  size(width, height) {
    if (this.canvas.width === width && this.canvas.height === height) return false;
    this.canvas.width = width;
    this.canvas.height = height;
    this.wide = width;
    this.image = this.pen.createImageData(width, height);
    this.points = new Uint32Array(this.image.data.buffer);
    return true;
  }

  box(x, y, width, height, color) {
    const { points } = this;
    for (let row = y * this.wide + x, last = row + height * this.wide; row < last; row += this.wide) {
      for (let at = row; at < row + width; at += 1) points[at] = color;
    }
  }

  flush() {
    this.pen.putImageData(this.image, 0, 0);
  }
}

/** Points of the screen for one of the page, at most two: more cannot be seen here and would cost a phone its pace. */
const fineness = () => Math.min(2, devicePixelRatio || 1);

/** The floor: cabinets from the front, as on the machine; in each, cages one above the other, blades side by side. */
class Floor extends Picture {
  constructor(floor, label) {
    super({ role: "img", tabindex: 0, "aria-label": label, class: "hopper-floor" });
    Object.assign(this, { floor, lines: 4 * floor.cages });
  }

  fit() {
    const { columns, rows, slots, cages, column, row, cage, slot, node } = this.floor;
    const fine = fineness();
    const across = columns * (slots + 1) - 1;
    const cell = Math.max(1, Math.floor((this.canvas.parentElement.clientWidth * fine) / across));
    const tall = Math.max(1, Math.round(cell * 1.25));
    if (!this.size(across * cell, (rows * (this.lines + 2) - 2) * tall)) return false;
    const corner = (c, r, cage_, s, n) => [(c * (slots + 1) + s) * cell, (r * (this.lines + 2) + 4 * (cages - 1 - cage_) + n) * tall];
    const corners = column.map((_, at) => corner(column[at], row[at], cage[at], slot[at], node[at]));
    this.x = Int32Array.from(corners, ([x]) => x);
    this.y = Int32Array.from(corners, ([, y]) => y);
    this.service = this.floor.service.map((place) => corner(...place));
    this.canvas.style.width = `${this.canvas.width / fine}px`;
    Object.assign(this, { cell, tall, fine, gap: cell > 2 ? 1 : 0 });
    this.at = new Map(corners.map(([x, y], place) => [(y / tall) * across + x / cell, place]));
    this.across = across;
    return true;
  }

  /** Which node is drawn at a place of the page, or -1. */
  nodeAt(x, y) {
    return this.at.get(Math.floor((y * this.fine) / this.tall) * this.across + Math.floor((x * this.fine) / this.cell)) ?? -1;
  }

  clear(service) {
    this.points.fill(0);
    for (const [x, y] of this.service) this.box(x, y + (this.tall >> 2), this.cell - this.gap, Math.max(1, this.tall >> 1), service);
  }

  /** Draw a node; one of the probe has a frame, or a bar where a frame has no room. */
  draw(node, color, frame) {
    const width = this.cell - this.gap;
    const height = this.tall - this.gap;
    this.box(this.x[node], this.y[node], width, height, frame || color);
    if (frame && width > 2) this.box(this.x[node] + 1, this.y[node] + 1, width - 2, height - 2, color);
  }
}

// The torus, seen from the side: x to the right, z upwards, y into the picture, drawn wider apart than the others.
const SPREAD = [1, 1.7, 0.8];
const PITCH = 0.42;

class Torus extends Picture {
  constructor(floor, label) {
    super({ role: "img", "aria-label": label, class: "hopper-torus-nodes" });
    this.over = make("canvas", { class: "hopper-torus-links", "aria-hidden": "true" });
    this.lines = this.over.getContext("2d");
    this.dimensions = floor.dimensions;
    const [, sy, sz] = floor.dimensions;
    const router = floor.x.map((x, node) => (x * sy + floor.y[node]) * sz + floor.z[node]);
    this.routers = floor.dimensions.reduce((product, size) => product * size, 1);
    // The first and the last node of each router; service nodes are not drawn.
    this.left = new Int32Array(this.routers).fill(-1);
    this.right = new Int32Array(this.routers).fill(-1);
    router.forEach((at, node) => {
      if (this.left[at] < 0) this.left[at] = node;
      this.right[at] = node;
    });
    this.yaw = (-35 * Math.PI) / 180;
  }

  fit() {
    // Half as fine as the floor may be: it is painted as a whole.
    const fine = Math.min(1.25, fineness());
    const width = this.canvas.parentElement.clientWidth;
    const changed = this.size(Math.floor(width * fine), Math.floor(Math.min(width * 0.72, 380) * fine));
    if (!changed) return false;
    this.over.width = this.canvas.width;
    this.over.height = this.canvas.height;
    for (const { style } of [this.canvas, this.over]) style.height = `${this.canvas.height / fine}px`;
    this.fine = fine;
    this.#project();
    return true;
  }

  turn(degrees) {
    this.yaw = (degrees * Math.PI) / 180;
    this.#project();
  }

  #project() {
    const { width, height } = this.canvas;
    const half = this.dimensions.map((size, axis) => ((size - 1) / 2) * SPREAD[axis]);
    const reach = Math.hypot(half[0], half[1]);
    const tall = half[2] * Math.cos(PITCH) + reach * Math.sin(PITCH);
    const scale = Math.min((width * 0.48) / reach, (height * 0.48) / tall);
    const [cos, sin, up, flat] = [Math.cos(this.yaw), Math.sin(this.yaw), Math.cos(PITCH), Math.sin(PITCH)];
    this.sx = new Float32Array(this.routers);
    this.sy = new Float32Array(this.routers);
    const depth = new Float32Array(this.routers);
    let at = 0;
    for (let x = 0; x < this.dimensions[0]; x += 1) {
      for (let y = 0; y < this.dimensions[1]; y += 1) {
        for (let z = 0; z < this.dimensions[2]; z += 1, at += 1) {
          const [a, b, c] = [x * SPREAD[0] - half[0], y * SPREAD[1] - half[1], z * SPREAD[2] - half[2]];
          const away = b * cos - a * sin;
          depth[at] = away * up + c * flat;
          this.sx[at] = width / 2 + (a * cos + b * sin) * scale;
          this.sy[at] = height / 2 - (c * up + away * flat) * scale;
        }
      }
    }
    this.order = Uint16Array.from([...depth.keys()].sort((a, b) => depth[b] - depth[a]));
    // What lies farther back is drawn smaller.
    const most = reach * up + half[2] * flat;
    const side = Math.max(1.5, scale * 0.21);
    this.sides = Uint8Array.from(depth, (away) => Math.max(1, Math.round(side * (1 - (0.45 * away) / most))));
    this.corners = Int32Array.from(this.sides, (half, i) => {
      const [x, y] = [Math.round(this.sx[i]) - half, Math.round(this.sy[i]) - half];
      const inside = x > 0 && y > 0 && x + 2 * half < width && y + 2 * half < height;
      return inside && this.left[i] >= 0 ? y * width + x : -1;
    });
  }

  /** Which node is drawn at a place of the page, or -1: the nearest router that is not behind another. */
  nodeAt(x, y) {
    const [px, py] = [x * this.fine, y * this.fine];
    for (let i = this.order.length - 1; i >= 0; i -= 1) {
      const at = this.order[i];
      const reach = this.sides[at] + 1;
      if (Math.abs(this.sx[at] - px) <= reach && Math.abs(this.sy[at] - py) <= reach) return px < this.sx[at] ? this.left[at] : this.right[at];
    }
    return -1;
  }

  paint(colors, probed) {
    const { points, wide, free, ink, left, right, sides, corners } = this;
    points.fill(0);
    const { order } = this;
    for (let i = 0; i < order.length; i += 1) {
      const at = order[i];
      const corner = corners[at];
      if (corner < 0) continue;
      const side = sides[at];
      const [one, other] = [colors[left[at]], colors[right[at]]];
      if (probed && (probed[left[at]] || probed[right[at]])) this.#square(corner - wide - 1, 2 * side + 2, ink);
      // Free nodes are dots, so that jobs behind them are seen.
      if (one === free && other === free) {
        this.#square(corner + (side - 1) * (wide + 1), 2, free);
        continue;
      }
      for (let row = corner, last = corner + 2 * side * wide; row < last; row += wide) {
        for (let x = 0; x < side; x += 1) {
          points[row + x] = one;
          points[row + side + x] = other;
        }
      }
    }
    this.flush();
  }

  #square(corner, side, color) {
    const { points, wide } = this;
    for (let row = corner, last = corner + side * wide; row < last; row += wide) {
      for (let x = row; x < row + side; x += 1) points[x] = color;
    }
  }

  /** Draw the links in use: the fuller, the thicker and the brighter. */
  drawLinks(tenths) {
    const { lines } = this;
    lines.clearRect(0, 0, this.over.width, this.over.height);
    const strides = [this.dimensions[1] * this.dimensions[2], this.dimensions[2], 1];
    for (let level = GLOW; level <= 9 && tenths; level += 1) {
      lines.beginPath();
      for (let link = 0; link < tenths.length; link += 1) {
        if (tenths.charCodeAt(link) - 48 !== level) continue;
        const axis = Math.floor(link / this.routers);
        const at = link % this.routers;
        const last = Math.floor(at / strides[axis]) % this.dimensions[axis] === this.dimensions[axis] - 1;
        // A link that closes a ring leads off to both sides.
        if (last) this.#stub(at, at - strides[axis]);
        else {
          lines.moveTo(this.sx[at], this.sy[at]);
          lines.lineTo(this.sx[at + strides[axis]], this.sy[at + strides[axis]]);
        }
      }
      lines.strokeStyle = `rgba(${this.glow.join(",")},${0.25 + 0.12 * (level - GLOW)})`;
      lines.lineWidth = this.fine * (0.7 + 0.35 * (level - GLOW));
      lines.stroke();
    }
  }

  #stub(at, before) {
    this.lines.moveTo(this.sx[at], this.sy[at]);
    this.lines.lineTo(this.sx[at] + (this.sx[at] - this.sx[before]) / 2, this.sy[at] + (this.sy[at] - this.sy[before]) / 2);
  }
}
