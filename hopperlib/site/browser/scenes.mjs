// Mechanisms that move. What they show was worked out by the models (hopperlib/site/scenes.py); here it is drawn.

import { dataOf, make } from "./dom.mjs";
import { Player } from "./player.mjs";

const SVG = "http://www.w3.org/2000/svg";

/** Make an element of a drawing. */
function draw(tag, attributes = {}, text = "") {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
  element.textContent = text;
  return element;
}

const set = (element, attributes) => Object.entries(attributes).forEach(([name, value]) => element.setAttribute(name, String(value)));
const between = (from, to, share) => from + (to - from) * Math.min(1, Math.max(0, share));
/** Slow at both ends. */
const eased = (share) => (share <= 0 ? 0 : share >= 1 ? 1 : share * share * (3 - 2 * share));
const COLORS = ["#4477aa", "#228833", "#b8860b", "#aa3377", "#0e8a99", "#cc5544", "#6655aa", "#777777"];

/** Start a figure. */
export function startScene(figure) {
  const data = dataOf(figure);
  const told = figure.querySelector(".hopper-machine-told");
  const stage = { figure, data, svg: draw("svg", { role: "img", "aria-label": data.told }), handles: make("div", { class: "hopper-machine-tools" }) };
  stage.say = (text) => told.textContent !== text && (told.textContent = text);
  told.setAttribute("aria-live", "polite");
  figure.querySelector("figcaption").after(stage.svg, stage.handles);
  SCENES[figure.dataset.scene](stage);
  figure.classList.add("hopper-scene-live");
}

/** A scale that the reader drags. */
function handle(stage, label, { min, max, step = 1, value }, act, words) {
  const id = `${stage.figure.id}-${label.replace(/\W+/g, "-")}`;
  const scale = make("input", { type: "range", id, min, max, step, value });
  const output = make("output", { for: id });
  const heard = () => {
    output.textContent = words(Number(scale.value));
    scale.setAttribute("aria-valuetext", output.textContent);
    act(Number(scale.value));
  };
  scale.addEventListener("input", heard);
  stage.handles.append(make("label", { for: id }, label), scale, output);
  return heard;
}

function playerOf(stage, settings) {
  const player = new Player({ ...settings, label: `${stage.data.title}: time` });
  stage.svg.after(player.element);
  return player;
}

function stripe(stage) {
  const { data, svg } = stage;
  const { osts, settings } = data;
  const pieces = settings[0].osts.length;
  set(svg, { viewBox: "0 0 640 230" });
  const column = (ost) => 20 + ost * 77;
  for (let ost = 0; ost < osts; ost += 1) {
    svg.append(draw("rect", { x: column(ost), y: 70, width: 61, height: 130, class: "hopper-slot" }), draw("text", { x: column(ost) + 30, y: 218, "text-anchor": "middle" }, `OST ${ost}`));
  }
  svg.append(draw("text", { x: 20, y: 16 }, "the file, piece by piece"));
  const boxes = settings[0].osts.map((_, piece) => draw("rect", { width: 22, height: 14, rx: 2, fill: COLORS[piece % 8] }));
  svg.append(...boxes);
  let count = 4;
  const player = playerOf(stage, {
    length: pieces + 2,
    step: 1,
    perSecond: 5,
    words: (time) => `${Math.min(pieces, Math.floor(time))} of ${pieces} pieces`,
    draw: (time) => {
      const { osts: dealt } = settings[count - 1];
      const high = new Array(osts).fill(0);
      boxes.forEach((box, piece) => {
        const ost = dealt[piece];
        const place = high[ost]++;
        const share = eased(time - piece);
        const [across, row] = [place % 2, Math.floor(place / 2)];
        const deep = count < 2 ? 10 : 15;
        set(box, { x: between(20 + piece * 25.5, column(ost) + 7 + across * 25, share), y: between(26, 184 - row * Math.min(deep, 15), share) });
      });
    },
  });
  handle(stage, "Stripe count", { min: 1, max: osts, value: count }, (value) => {
    count = value;
    svg.querySelectorAll(".hopper-slot").forEach((slot, ost) => slot.classList.toggle("hopper-used", ost < count));
    stage.say(`With ${count} stripe${count > 1 ? "s" : ""}, ${data.gb} GB take ${settings[count - 1].seconds.toFixed(0)} s at best: the pieces are dealt in turn to ${count} of ${osts} OSTs, and each takes its share at its own rate.`);
    player.seek(player.playing ? player.time : pieces + 2);
  }, (value) => String(value))();
}

function slowOst(stage) {
  const { data, svg } = stage;
  const { osts, settings } = data;
  set(svg, { viewBox: "0 0 640 230" });
  const phases = settings[0].phases.length;
  const longest = Math.max(...settings.map(({ seconds }) => seconds));
  const tall = 150 / phases;
  const bars = [];
  for (let ost = 0; ost < osts; ost += 1) {
    const x = 20 + ost * 77;
    for (let phase = 0; phase < phases; phase += 1) {
      svg.append(draw("rect", { x, y: 40 + (phases - 1 - phase) * tall, width: 61, height: tall - 4, class: "hopper-slot hopper-used" }));
      const bar = draw("rect", { x, width: 61, fill: ost ? COLORS[phase] : "var(--hopper-bad)" });
      svg.append(bar);
      bars.push([bar, ost, phase]);
    }
    svg.append(draw("text", { x: x + 30, y: 210, "text-anchor": "middle" }, ost ? `OST ${ost}` : "slow OST"));
  }
  const state = draw("text", { x: 20, y: 22 });
  svg.append(state);
  let setting = settings[2];
  const player = playerOf(stage, {
    length: Math.ceil(longest),
    step: 1,
    stride: longest / 12,
    perSecond: longest / 9,
    words: (time) => `${Math.floor(time)} s`,
    draw: (time) => {
      for (const [bar, ost, phase] of bars) {
        const [start, good, last] = setting.phases[phase];
        const height = (tall - 4) * Math.min(1, Math.max(0, (time - start) / ((ost ? good : last) - start)));
        set(bar, { y: 40 + (phases - phase) * tall - 4 - height, height });
      }
      const now = setting.phases.findIndex(([start, , last]) => time >= start && time < last);
      const waits = now >= 0 && time >= setting.phases[now][1];
      state.textContent = now < 0 ? "done" : `variable ${now + 1} of ${phases}: ${waits ? `${osts - 1} OSTs wait at the barrier` : "all write"}`;
    },
  });
  handle(stage, "Rate of the slow OST", { min: 0, max: settings.length - 1, value: 2 }, (value) => {
    setting = settings[value];
    stage.say(`With one OST at ${setting.percent} % of the rate the dump takes ${setting.seconds.toFixed(0)} s, and the OSTs wait ${setting.idle.toFixed(0)} % of their time: at every barrier all wait for the slowest.`);
    player.seek(player.time);
  }, (value) => `${settings[value].percent} %`)();
  player.seek(settings[2].phases[0][1] + 5);
}

function overlap(stage) {
  const { data, svg } = stage;
  set(svg, { viewBox: "0 0 640 150" });
  const whole = data.compute + data.communication;
  const wide = (seconds) => (600 * seconds) / whole;
  const bars = ["computation", "communication, beside it", "communication, after it"].map((name, at) => {
    const bar = draw("rect", { height: 34, y: at === 1 ? 78 : 36, fill: COLORS[at === 0 ? 0 : at === 1 ? 1 : 5], rx: 3 });
    svg.append(bar);
    return bar;
  });
  const words = [[20, 30, "computation"], [20, 128, "communication: green beside the computation, red after it"]].map(([x, y, text]) => draw("text", { x, y }, text));
  const cursor = draw("line", { y1: 24, y2: 118, class: "hopper-cursor" });
  svg.append(...words, cursor);
  let fraction = 5;
  const player = playerOf(stage, {
    length: whole,
    step: 0.5,
    stride: 2,
    perSecond: 3,
    words: (time) => `${Math.min(time, data.settings[fraction]).toFixed(1)} s of ${data.settings[fraction].toFixed(1)} s`,
    draw: (time) => {
      const beside = (data.communication * fraction) / 10;
      const end = data.settings[fraction];
      const after = data.communication - beside;
      const shown = (start, length) => ({ x: 20 + wide(start), width: Math.max(0, wide(Math.min(length, time - start))) });
      set(bars[0], shown(0, data.compute));
      set(bars[1], shown(0, beside));
      set(bars[2], { ...shown(end - after, after), y: 36 });
      const at = 20 + wide(Math.min(time, end));
      set(cursor, { x1: at, x2: at });
    },
  });
  handle(stage, "Share that can run beside", { min: 0, max: 10, value: fraction }, (value) => {
    fraction = value;
    const saved = data.settings[0] - data.settings[value];
    stage.say(`If ${10 * value} % of the communication can run beside the computation, the step takes ${data.settings[value].toFixed(1)} s in place of ${data.settings[0].toFixed(1)} s: ${saved.toFixed(1)} s are hidden.`);
    player.seek(player.playing ? player.time : whole);
  }, (value) => `${10 * value} %`)();
}

function rankOrder(stage) {
  const { data, svg } = stage;
  const [across] = data.grid;
  set(svg, { viewBox: "0 0 640 270" });
  const ranks = data.settings[0].order.length;
  svg.append(draw("text", { x: 20, y: 18 }, "the grid of ranks"), draw("text", { x: 330, y: 18 }, "the nodes"));
  const nodes = ranks / data.cores;
  const slot = (position) => {
    const node = Math.floor(position / data.cores);
    return [330 + (node % 2) * 150 + (position % data.cores % 4) * 30, 30 + Math.floor(node / 2) * 58 + Math.floor((position % data.cores) / 4) * 25];
  };
  for (let node = 0; node < nodes; node += 1) {
    const [x, y] = slot(node * data.cores);
    svg.append(draw("rect", { x: x - 4, y: y - 4, width: 124, height: 53, class: "hopper-slot", rx: 4 }));
  }
  const boxes = Array.from({ length: ranks }, (_, rank) => {
    const box = draw("g", {});
    box.append(draw("rect", { width: 26, height: 22, rx: 3 }), draw("text", { x: 13, y: 15, "text-anchor": "middle", class: "hopper-on-color" }, String(rank)));
    return box;
  });
  svg.append(...boxes);
  let setting = data.settings[0];
  const player = playerOf(stage, {
    length: ranks + 4,
    step: 1,
    stride: data.cores,
    perSecond: 14,
    words: (time) => `${Math.min(ranks, Math.floor(time))} of ${ranks} ranks`,
    draw: (time) => {
      setting.order.forEach((rank, position) => {
        const share = eased((time - position) / 4);
        const [x, y] = slot(position);
        const [gx, gy] = [20 + (rank % across) * 32, 30 + Math.floor(rank / across) * 28];
        boxes[rank].setAttribute("transform", `translate(${between(gx, x, share)} ${between(gy, y, share)})`);
      });
    },
  });
  const id = `${stage.figure.id}-order`;
  const select = make("select", { id }, ...data.settings.map(({ title }, at) => make("option", { value: at }, title)));
  const choose = () => {
    setting = data.settings[Number(select.value)];
    setting.order.forEach((rank, position) => boxes[rank].firstChild.setAttribute("fill", COLORS[Math.floor(position / data.cores) % 8]));
    stage.say(`${setting.title}: ${setting.cut} pairs of neighbors sit on different nodes, and each of them is a message through the network. Colors are nodes.`);
    player.seek(player.playing ? player.time : 0);
  };
  select.addEventListener("change", choose);
  stage.handles.append(make("label", { for: id }, "Order"), select);
  choose();
}

function placement(stage) {
  const { data, svg } = stage;
  const { dies, cores, each } = data;
  set(svg, { viewBox: "0 0 640 250" });
  let tasks = [...data.packed];
  const corner = (core) => {
    const die = Math.floor(core / cores);
    return [28 + die * 155 + (core % 3) * 42, 46 + Math.floor((core % cores) / 3) * 46];
  };
  const fills = Array.from({ length: dies }, (_, die) => {
    const x = 20 + die * 155;
    svg.append(
      draw("text", { x, y: 24 }, `NUMA node ${die}`),
      draw("rect", { x, y: 36, width: 137, height: 106, rx: 6, class: "hopper-slot" }),
      draw("rect", { x, y: 160, width: 137, height: 22, rx: 3, class: "hopper-slot" }),
    );
    const fill = draw("rect", { x, y: 160, height: 22, rx: 3, fill: COLORS[0] });
    const words = draw("text", { x, y: 204 });
    svg.append(fill, words);
    return { fill, words };
  });
  for (let core = 0; core < dies * cores; core += 1) {
    const [x, y] = corner(core);
    svg.append(draw("rect", { x, y, width: 36, height: 40, rx: 4, class: "hopper-slot hopper-used" }));
  }
  const boxes = tasks.map((_, task) => {
    const box = draw("g", { tabindex: 0, role: "button", class: "hopper-task" });
    box.append(draw("rect", { width: 36, height: 40, rx: 4, fill: COLORS[1] }), draw("text", { x: 18, y: 25, "text-anchor": "middle", class: "hopper-on-color" }, String(task)));
    svg.append(box);
    return box;
  });
  svg.setAttribute("role", "group");
  const show = () => {
    const counts = fills.map((_, die) => tasks.filter((core) => Math.floor(core / cores) === die).length);
    tasks.forEach((core, task) => {
      boxes[task].setAttribute("transform", `translate(${corner(core).join(" ")})`);
      boxes[task].setAttribute("aria-label", `Task ${task} on core ${core}, NUMA node ${Math.floor(core / cores)}. Arrow keys move it.`);
    });
    fills.forEach(({ fill, words }, die) => {
      const drawn = counts[die] ? counts[die] * each[counts[die] - 1] : 0;
      set(fill, { width: (137 * drawn) / data.gb_s, fill: drawn >= data.gb_s * 0.999 ? "var(--hopper-bad)" : COLORS[0] });
      words.textContent = counts[die] ? `${drawn.toFixed(1)} of ${data.gb_s} GB/s` : "idle";
    });
    const slowest = Math.min(...counts.filter(Boolean).map((count) => each[count - 1]));
    const idle = counts.filter((count) => count === 0).length;
    stage.say(`The slowest task gets ${slowest.toFixed(1)} GB/s, where one alone gets ${each[0].toFixed(1)}. ${idle ? `${idle} NUMA node${idle > 1 ? "s" : ""} and the channels of ${idle > 1 ? "these" : "it"} stand idle.` : "All channels are in use."} Drag a task to another core, or move it with the arrow keys.`);
  };
  const move = (task, core) => {
    if (core < 0 || core >= dies * cores || tasks.includes(core)) return;
    tasks[task] = core;
    show();
  };
  boxes.forEach((box, task) => {
    box.addEventListener("keydown", (event) => {
      const by = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: cores, ArrowUp: -cores }[event.key];
      if (!by) return;
      event.preventDefault();
      let core = tasks[task] + by;
      while (tasks.includes(core) && core >= 0 && core < dies * cores) core += Math.sign(by);
      move(task, core);
    });
    box.addEventListener("pointerdown", (event) => {
      event.preventDefault();
      box.focus();
      box.setPointerCapture(event.pointerId);
    });
    const place = ({ clientX, clientY }) => new DOMPoint(clientX, clientY).matrixTransform(svg.getScreenCTM().inverse());
    box.addEventListener("pointermove", (event) => {
      if (!box.hasPointerCapture(event.pointerId)) return;
      const { x, y } = place(event);
      box.setAttribute("transform", `translate(${x - 18} ${y - 20})`);
    });
    box.addEventListener("pointerup", (event) => {
      const { x, y } = place(event);
      const near = [...Array(dies * cores).keys()].map((core) => [Math.hypot(corner(core)[0] + 18 - x, corner(core)[1] + 20 - y), core]).sort((a, b) => a[0] - b[0]);
      if (near[0][0] < 60) move(task, near[0][1]);
      show();
    });
  });
  for (const [label, start] of [["Packed", data.packed], ["Spread", data.spread]]) {
    const button = make("button", { type: "button", class: "hopper-button" }, label);
    button.addEventListener("click", () => {
      tasks = [...start];
      show();
    });
    stage.handles.append(button);
  }
  show();
}

const SCENES = { stripe, "slow-ost": slowOst, overlap, "rank-order": rankOrder, placement };
