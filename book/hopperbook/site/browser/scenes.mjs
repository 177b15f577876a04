// Mechanisms that move. What they show was worked out by the models (book/hopperbook/site/scenes.py); here it is drawn.

import { dataOf, make } from "./dom.mjs";
import { COLORS, between, draggable, draw, eased, following, handle, playerOf, set } from "./drawing.mjs";
import { placement } from "./scenes-node.mjs";
import { rankOrder } from "./scenes-ranks.mjs";

/** Start a figure. */
export function startScene(figure) {
  const data = dataOf(figure);
  const told = figure.querySelector(".hopper-machine-told");
  const stage = { figure, data, svg: draw("svg", { role: "img", "aria-label": data.told }), handles: make("div", { class: "hopper-machine-tools" }) };
  // What the reader's explorer answers is heard there, and not here once more.
  stage.say = (text) => {
    told.setAttribute("aria-live", figure.contains(document.activeElement) ? "polite" : "off");
    if (told.textContent !== text) told.textContent = text;
  };
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
  const grip = draw("g", { class: "hopper-grip" });
  grip.append(draw("line", { y1: 62, y2: 208 }), draw("circle", { r: 9, cy: 62 }));
  svg.append(grip);
  let count = 4;
  let ask;
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
  const counted = handle(stage, "Stripe count", { min: 1, max: osts, value: count }, (value) => {
    count = value;
    svg.querySelectorAll(".hopper-slot").forEach((slot, ost) => slot.classList.toggle("hopper-used", ost < count));
    grip.setAttribute("transform", `translate(${column(count) - 8} 0)`);
    stage.say(`With ${count} stripe${count > 1 ? "s" : ""}, ${data.gb} GB take ${settings[count - 1].seconds.toFixed(0)} s at best: the pieces are dealt in turn to ${count} of ${osts} OSTs, and each takes its share at its own rate.`);
    player.seek(player.playing ? player.time : pieces + 2);
    ask?.({ stripe_count: count });
  }, (value) => String(value));
  counted();
  draggable(svg, ({ x }) => counted.to(1 + Math.floor((x - column(0)) / 77)));
  ask = following("stripe", ({ stripe_count: asked }) => Number(asked) > 0 && Number(asked) <= osts && counted.to(Number(asked)));
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
  let ask;
  let healthy = 0; // the rate of the explorer's other OSTs
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
  const rated = handle(stage, "Rate of the slow OST", { min: 0, max: settings.length - 1, value: 2 }, (value) => {
    setting = settings[value];
    stage.say(`With one OST at ${setting.percent} % of the rate the dump takes ${setting.seconds.toFixed(0)} s, and the OSTs wait ${setting.idle.toFixed(0)} % of their time: at every barrier all wait for the slowest.`);
    player.seek(player.time);
    ask?.({ slow_mb_s: Math.round((healthy * setting.percent) / 100), slow: 1 });
  }, (value) => `${settings[value].percent} %`);
  rated();
  draggable(svg, ({ x }) => rated.to(((x - 20) / 600) * (settings.length - 1)));
  ask = following("slow-ost", ({ slow, slow_mb_s: rate, healthy_mb_s: others }) => {
    healthy = Number(others);
    const percent = Number(slow) > 0 ? (100 * rate) / healthy : 100;
    const near = (setting) => Math.abs(setting.percent - percent);
    rated.to(settings.indexOf([...settings].sort((a, b) => near(a) - near(b))[0]));
  });
  player.seek(setting.phases[0][1] + 5);
}

function overlap(stage) {
  const { data, svg } = stage;
  set(svg, { viewBox: "0 0 640 150" });
  // A step as it is drawn: the explorer's, where the page has it, else that of the build.
  let step = { compute: data.compute, communication: data.communication, share: 0.5, seconds: data.settings[5] };
  const whole = () => step.compute + step.communication;
  const wide = (seconds) => (600 * seconds) / whole();
  const bars = ["computation", "communication, beside it", "communication, after it"].map((name, at) => {
    const bar = draw("rect", { height: 34, y: at === 1 ? 78 : 36, fill: COLORS[at === 0 ? 0 : at === 1 ? 1 : 5], rx: 3 });
    svg.append(bar);
    return bar;
  });
  const words = [[20, 30, "computation"], [20, 128, "communication: green beside the computation, red after it"]].map(([x, y, text]) => draw("text", { x, y }, text));
  const cursor = draw("line", { y1: 24, y2: 118, class: "hopper-cursor" });
  svg.append(...words, cursor);
  const player = playerOf(stage, {
    length: whole(),
    step: 0.5,
    stride: 2,
    perSecond: whole() / 5,
    words: (time) => `${Math.min(time, step.seconds).toFixed(1)} s of ${step.seconds.toFixed(1)} s`,
    draw: (time) => {
      const beside = step.communication * step.share;
      const after = step.communication - beside;
      const shown = (start, length) => ({ x: 20 + wide(start), width: Math.max(0, wide(Math.min(length, time - start))) });
      set(bars[0], shown(0, step.compute));
      set(bars[1], shown(0, beside));
      set(bars[2], { ...shown(step.seconds - after, after), y: 36 });
      const at = 20 + wide(Math.min(time, step.seconds));
      set(cursor, { x1: at, x2: at });
    },
  });
  const show = () => {
    const saved = whole() - step.seconds;
    stage.say(`If ${Math.round(100 * step.share)} % of the communication can run beside the computation, the step takes ${step.seconds.toFixed(1)} s in place of ${whole().toFixed(1)} s: ${saved.toFixed(1)} s are hidden.`);
    player.reach(whole(), 5);
    player.seek(player.playing ? player.time : whole());
  };
  let ask;
  const shared = handle(stage, "Share that can run beside", { min: 0, max: 20, value: 10 }, (value) => {
    if (ask?.({ overlap: value / 20 })) return;
    if (value % 2 === 0) step = { ...step, share: value / 20, seconds: data.settings[value / 2] };
    show();
  }, (value) => `${5 * value} %`);
  shared();
  ask = following("overlap", (values, facts) => {
    shared.to(values.overlap * 20);
    // What merged collectives save is not sent.
    const communication = values.communication_s * (1 - values.saved_fraction);
    step = { compute: values.compute_s, communication, share: values.overlap, seconds: facts.time_s };
    show();
  });
  draggable(svg, ({ x }) => shared.to(((x - 20) / Math.max(1, wide(step.communication))) * 20));
}

const SCENES = { stripe, "slow-ost": slowOst, overlap, "rank-order": rankOrder, placement };
