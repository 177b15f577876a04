// Mechanisms that move. What they show was worked out by the models (hopperlib/site/scenes.py); here it is drawn.

import { dataOf, make } from "./dom.mjs";
import { COLORS, between, draw, eased, handle, playerOf, set } from "./drawing.mjs";
import { placement, rankOrder } from "./scenes-node.mjs";

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
    svg.append(draw("text", { x: x + 30, y: 210, "text-anchor": "middle" }, ost ? `OST ${ost}` : "slow"));
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

const SCENES = { stripe, "slow-ost": slowOst, overlap, "rank-order": rankOrder, placement };
