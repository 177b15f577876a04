// A mechanism of nodes: the memory channels that fill.

import { make } from "./dom.mjs";
import { COLORS, draw, drawNode, following, placeIn, set } from "./drawing.mjs";

export function placement(stage) {
  const { data, svg } = stage;
  const { dies, cores, each } = data;
  let tasks = [...data.packed];
  // Two by two on a phone, so that a finger finds each task.
  const { place, corner } = drawNode(svg, { dies, cores }, { wide: stage.figure.clientWidth < 520 ? 2 : dies, tall: 220 });
  const fills = Array.from({ length: dies }, (_, die) => {
    const { x, y } = place(die);
    const fill = draw("rect", { x, y: y + 156, height: 22, rx: 3, fill: COLORS[0] });
    const words = draw("text", { x, y: y + 200 });
    svg.append(draw("rect", { x, y: y + 156, width: 137, height: 22, rx: 3, class: "hopper-slot" }), fill, words);
    return { fill, words };
  });
  // As many as there are cores: an explorer may ask for more than the twelve.
  const boxes = Array.from({ length: dies * cores }, (_, task) => {
    const box = draw("g", { tabindex: 0, role: "button", class: "hopper-task" });
    box.append(draw("rect", { width: 36, height: 40, rx: 4, fill: COLORS[1] }), draw("text", { x: 18, y: 25, "text-anchor": "middle", class: "hopper-on-color" }, String(task)));
    svg.append(box);
    return box;
  });
  svg.setAttribute("role", "group");
  const counted = () => fills.map((_, die) => tasks.filter((core) => Math.floor(core / cores) === die).length);
  const show = () => {
    boxes.forEach((box, task) => (box.style.display = task < tasks.length ? "" : "none"));
    const counts = counted();
    tasks.forEach((core, task) => {
      boxes[task].setAttribute("transform", `translate(${corner(core).x} ${corner(core).y})`);
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
      const near = [...Array(dies * cores).keys()].map((core) => [Math.hypot(corner(core).x + 18 - x, corner(core).y + 20 - y), core]).sort((a, b) => a[0] - b[0]);
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
  const ask = following("place", ({ machine }, { tasks_by_numa_node: by }) => {
    if (machine !== "hopper" || by?.length !== dies || by.some((count) => count > cores) || !by.some(Boolean)) return;
    // What was dragged stays on its cores.
    if (String(by) === String(counted())) return;
    tasks = by.flatMap((count, die) => Array.from({ length: count }, (_, core) => die * cores + core));
    show();
  });
  show();
  if (!ask()) return;
  const button = make("button", { type: "button", class: "hopper-button" }, "Show it in the explorer");
  button.addEventListener("click", () => {
    ask({ machine: "hopper", line: `aprun -n ${tasks.length} -N ${tasks.length} -cc ${tasks.join(",")} a.out` });
    document.querySelector('.hopper-explorer[data-name="place"]').scrollIntoView();
  });
  stage.handles.append(button);
}
