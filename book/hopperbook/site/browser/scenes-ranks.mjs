// Ranks as boxes on a grid, carried to the nodes that an order gives them: the order of the page's explorer, if it has one.

import { make } from "./dom.mjs";
import { between, COLORS, draggable, draw, eased, following, playerOf, set } from "./drawing.mjs";

const [WIDTH, LEFT, TOP, TALLEST, GAP] = [640, 20, 28, 210, 14];
const MOST_NODES = 8;
const LEAST_CELL = 3;
const CARRIED = 4; // how long a rank is under way, in ranks

const sides = (block) => block.join(" x ");
const product = (numbers) => numbers.reduce((one, other) => one * other, 1);

/** Return the boxes of so many cells that fit a grid, flat ones first; first of all the order of the numbers. */
export function boxesOf([X, Y, Z], cores) {
  const boxes = [];
  for (let z = 1; z <= Z; z += 1) {
    for (let y = 1; y <= Y; y += 1) {
      const x = cores / (y * z);
      if (Number.isInteger(x) && x <= X) boxes.push([x, y, z]);
    }
  }
  return [[X, 1, 1], ...boxes.filter(([x]) => x !== X)];
}

/** Return how the grid and the first nodes are drawn: sizes of cells, and how many nodes; nothing if it is too large. */
function layoutOf({ grid: [X, Y], order, cores }) {
  for (let nodes = Math.max(1, Math.min(MOST_NODES, Math.floor(order.length / cores))); nodes > 0; nodes -= 1) {
    const ranks = order.slice(0, nodes * cores);
    const planes = 1 + ranks.reduce((most, rank) => Math.max(most, Math.floor(rank / (X * Y))), 0);
    const cell = Math.min(26, TALLEST / Y, (WIDTH - 2 * LEFT - (planes - 1) * GAP) / (planes * X));
    if (cell >= LEAST_CELL) return { nodes, ranks, planes, cell };
  }
  return undefined;
}

export function rankOrder(stage) {
  const { data, svg } = stage;
  const id = `${stage.figure.id}-box`;
  const select = make("select", { id });
  let now = { ...data, ...data.settings[0], before: data.settings[0].cut };
  let boxes = [];
  let drawn = { ranks: [], move: () => {} };
  const player = playerOf(stage, {
    length: 1,
    step: 1,
    perSecond: 1,
    words: (time) => `${Math.min(drawn.ranks.length, Math.floor(time))} of ${drawn.ranks.length} ranks`,
    draw: (time) => drawn.move(time),
  });

  /** Draw the grid, its planes beside each other, and the nodes below them. */
  function build() {
    const { grid, cores, block } = now;
    const layout = grid.length === 3 ? layoutOf(now) : undefined;
    svg.style.display = layout ? "" : "none";
    player.element.hidden = !layout;
    if (!layout) return stage.say(`A grid of ${sides(grid)} is not drawn. ${told()}`);
    const { nodes, ranks, planes, cell } = layout;
    const [X, Y] = grid;
    const plane = (z) => LEFT + z * (X * cell + GAP);
    const across = Math.min(nodes, 4);
    const columns = Math.ceil(Math.sqrt(1.4 * cores));
    const slot = Math.min(26, 132 / columns);
    const frame = { width: columns * slot + 8, height: Math.ceil(cores / columns) * slot + 8 };
    const below = TOP + Y * cell + 40;
    const nodeAt = (node) => [LEFT + (node % across) * 150, below + Math.floor(node / across) * (frame.height + 12)];
    const gridAt = (rank) => [plane(Math.floor(rank / (X * Y))) + (rank % X) * cell, TOP + (Math.floor(rank / X) % Y) * cell];
    const slotAt = (position) => {
      const [x, y] = nodeAt(Math.floor(position / cores));
      return [x + 4 + ((position % cores) % columns) * slot, y + 4 + Math.floor((position % cores) / columns) * slot];
    };
    svg.replaceChildren(draw("text", { x: LEFT, y: 16 }, planes > 1 ? "the grid of ranks, plane by plane" : "the grid of ranks"), draw("text", { x: LEFT, y: below - 10 }, "the nodes"));
    set(svg, { viewBox: `0 0 ${WIDTH} ${nodeAt(nodes - 1)[1] + frame.height + 6}` });
    for (let z = 0; z < planes; z += 1) svg.append(draw("rect", { x: plane(z), y: TOP, width: X * cell, height: Y * cell, class: "hopper-slot" }));
    for (let node = 0; node < nodes; node += 1) {
      const [x, y] = nodeAt(node);
      svg.append(draw("rect", { x, y, ...frame, rx: 4, class: "hopper-slot" }));
    }
    const numbered = cell >= 20 && slot >= 20;
    const carried = ranks.map((rank, position) => {
      const box = draw("g", {});
      const square = draw("rect", { rx: 2, fill: COLORS[Math.floor(position / cores) % COLORS.length] });
      box.append(square);
      if (numbered) box.append(draw("text", { x: 12, y: 16, "text-anchor": "middle", class: "hopper-on-color" }, String(rank)));
      return { box, square, from: gridAt(rank), to: slotAt(position) };
    });
    svg.append(...carried.map(({ box }) => box));
    // What the first node holds, and where it is dragged.
    const grip = draw("g", { class: "hopper-grip" });
    const [x, y] = [LEFT + Math.min(block[0], X) * cell, TOP + Math.min(block[1], Y) * cell];
    grip.append(draw("rect", { x: LEFT, y: TOP, width: x - LEFT, height: y - TOP }), draw("circle", { cx: x, cy: y, r: 7 }));
    svg.append(grip);
    const move = (time) => carried.forEach(({ box, square, from, to }, position) => {
      const share = eased((time - position) / CARRIED);
      const size = between(cell, slot, share) - Math.min(2, cell / 5);
      box.setAttribute("transform", `translate(${between(from[0], to[0], share)} ${between(from[1], to[1], share)})`);
      set(square, { width: size, height: size });
    });
    drawn = { ranks, move, cell };
    player.reach(ranks.length + CARRIED, 6);
    player.stride = cores;
    player.seek(player.playing ? player.time : Math.floor(player.length / 2));
    const shown = nodes * cores < product(grid) ? ` Drawn are the first ${nodes === 1 ? "node" : `${nodes} nodes`} of ${Math.ceil(product(grid) / cores)}.` : "";
    stage.say(`${told()} Colors are nodes.${shown} Drag the corner of the first node's box.`);
  }

  function told() {
    const { block, grid, cut, before, pairs } = now;
    const name = String(block) === String([grid[0], 1, 1]) ? "As the ranks are numbered" : `In boxes of ${sides(block)}`;
    return `${name}, ${cut.toLocaleString("en")} of ${pairs.toLocaleString("en")} pairs of neighbors sit on different nodes${cut === before ? "" : `, ${before.toLocaleString("en")} as numbered`}. Each of them is a message through the network.`;
  }

  /** Show a setting, and the boxes that could be chosen in its place. */
  function show() {
    boxes = now.grid.length === 3 ? boxesOf(now.grid, now.cores) : [];
    if (!boxes.some((box) => String(box) === String(now.block))) boxes.push(now.block);
    select.replaceChildren(...boxes.map((box, at) => make("option", { value: at }, at === 0 && now.grid.length === 3 ? "as numbered" : sides(box))));
    select.value = String(boxes.findIndex((box) => String(box) === String(now.block)));
    build();
  }

  let ask = () => false;
  const choose = (box) => {
    if (String(box) === String(now.block)) return;
    const setting = data.settings.find(({ block }) => String(block) === String(box));
    if (ask({ block: box.join("x") }) || !setting) return;
    now = { ...now, ...setting };
    show();
  };
  select.addEventListener("change", () => choose(boxes[Number(select.value)]));
  stage.handles.append(make("label", { for: id }, "Box of the grid for a node"), select);
  draggable(svg, ({ x, y }) => {
    const [wide, high] = [(x - LEFT) / drawn.cell, (y - TOP) / drawn.cell];
    if (high > now.grid[1] + 1) return;
    const far = ([across, down]) => (across - wide) ** 2 + (down - high) ** 2;
    choose([...boxes].sort((a, b) => far(a) - far(b))[0]);
  });
  ask = following("rank-order", ({ cores_per_node: cores }, facts) => {
    if (!facts?.order) return;
    now = { grid: facts.grid, cores: Number(cores), block: facts.block, order: facts.order, cut: facts.off_node_after, before: facts.off_node_before, pairs: facts.pairs };
    show();
  });
  if (!ask()) show();
}
