// Mechanisms of nodes: ranks carried to nodes, and the memory channels of a node that fill.

import { make } from "./dom.mjs";
import { COLORS, between, draw, eased, following, placeIn, playerOf, set } from "./drawing.mjs";

export function rankOrder(stage) {
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
    player.seek(player.playing ? player.time : Math.floor(player.length / 2));
  };
  select.addEventListener("change", choose);
  stage.handles.append(make("label", { for: id }, "Order"), select);
  choose();
}

export function placement(stage) {
  const { data, svg } = stage;
  const { dies, cores, each } = data;
  // Two by two on a phone, so that a finger finds each task.
  const wide = stage.figure.clientWidth < 520 ? 2 : dies;
  const place = (die) => [20 + (die % wide) * 155, Math.floor(die / wide) * 220];
  set(svg, { viewBox: `0 0 ${20 + wide * 155} ${220 * Math.ceil(dies / wide)}` });
  let tasks = [...data.packed];
  const corner = (core) => {
    const die = Math.floor(core / cores);
    const [x, y] = place(die);
    return [x + 8 + (core % 3) * 42, y + 46 + Math.floor((core % cores) / 3) * 46];
  };
  const fills = Array.from({ length: dies }, (_, die) => {
    const [x, y] = place(die);
    svg.append(
      draw("text", { x, y: y + 24 }, `NUMA node ${die}`),
      draw("rect", { x, y: y + 36, width: 137, height: 106, rx: 6, class: "hopper-slot" }),
      draw("rect", { x, y: y + 156, width: 137, height: 22, rx: 3, class: "hopper-slot" }),
    );
    const fill = draw("rect", { x, y: y + 156, height: 22, rx: 3, fill: COLORS[0] });
    const words = draw("text", { x, y: y + 200 });
    svg.append(fill, words);
    return { fill, words };
  });
  for (let core = 0; core < dies * cores; core += 1) {
    const [x, y] = corner(core);
    svg.append(draw("rect", { x, y, width: 36, height: 40, rx: 4, class: "hopper-slot hopper-used" }));
  }
  // As many as there are cores: an explorer may ask for more than the twelve.
  const boxes = Array.from({ length: dies * cores }, (_, task) => {
    const box = draw("g", { tabindex: 0, role: "button", class: "hopper-task" });
    box.append(draw("rect", { width: 36, height: 40, rx: 4, fill: COLORS[1] }), draw("text", { x: 18, y: 25, "text-anchor": "middle", class: "hopper-on-color" }, String(task)));
    svg.append(box);
    return box;
  });
  svg.setAttribute("role", "group");
  const show = () => {
    boxes.forEach((box, task) => (box.style.display = task < tasks.length ? "" : "none"));
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
    const onDrawing = (event) => placeIn(svg, event);
    box.addEventListener("pointermove", (event) => {
      if (!box.hasPointerCapture(event.pointerId)) return;
      const { x, y } = onDrawing(event);
      box.setAttribute("transform", `translate(${x - 18} ${y - 20})`);
    });
    box.addEventListener("pointerup", (event) => {
      const { x, y } = onDrawing(event);
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
  // The node that the explorer draws, where it is one of this kind and each task has a core to itself.
  following("place", ({ machine }, { tasks_by_numa_node: by }) => {
    if (machine !== "hopper" || by?.length !== dies || by.some((count) => count > cores) || !by.some(Boolean)) return;
    tasks = by.flatMap((count, die) => Array.from({ length: count }, (_, core) => die * cores + core));
    show();
  });
  show();
}
