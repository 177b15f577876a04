// The pictures of a machine: points written straight into their bytes, so that a phone keeps up.

import { make } from "./dom.mjs";

const GLOW = 2; // tenths of a link's bandwidth from which it is drawn

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

// What is hidden has no width: it is drawn at this one until it is seen. [CSS pixels]
const UNSEEN = 600;

/** The floor: cabinets from the front, as on the machine; in each, cages one above the other, blades side by side. */
export class Floor extends Picture {
  constructor(floor, label) {
    super({ role: "img", tabindex: 0, "aria-label": label, class: "hopper-floor" });
    Object.assign(this, { floor, lines: 4 * floor.cages });
  }

  fit() {
    const { columns, rows, slots, cages, column, row, cage, slot, node } = this.floor;
    const fine = fineness();
    const across = columns * (slots + 1) - 1;
    const room = this.canvas.parentElement.clientWidth || UNSEEN;
    // Whole points are sharp; where they would leave much of the room, finer ones are drawn and made smaller.
    const fits = (room * fine) / across;
    const shrunk = Math.floor(fits) < 0.7 * fits;
    const cell = shrunk ? Math.ceil(fits) : Math.floor(fits);
    const tall = Math.max(1, Math.round(cell * 1.25));
    if (!this.size(across * cell, (rows * (this.lines + 2) - 2) * tall)) return false;
    const corner = (c, r, cage_, s, n) => [(c * (slots + 1) + s) * cell, (r * (this.lines + 2) + 4 * (cages - 1 - cage_) + n) * tall];
    const corners = column.map((_, at) => corner(column[at], row[at], cage[at], slot[at], node[at]));
    this.x = Int32Array.from(corners, ([x]) => x);
    this.y = Int32Array.from(corners, ([, y]) => y);
    this.service = this.floor.service.map((place) => corner(...place));
    const width = shrunk ? room : this.canvas.width / fine;
    this.canvas.style.width = `${width}px`;
    Object.assign(this, { cell, tall, fine: this.canvas.width / width, gap: cell > 2 ? 1 : 0 });
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

  draw(node, color) {
    this.box(this.x[node], this.y[node], this.cell - this.gap, this.tall - this.gap, color);
  }
}

// The torus, seen from the side: x to the right, z upwards, y into the picture, drawn wider apart than the others.
const SPREAD = [1, 1.7, 0.8];
const PITCH = 0.42;

export class Torus extends Picture {
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
    const width = this.canvas.parentElement.clientWidth || UNSEEN;
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
    if (this.points) this.#project();
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

  paint(colors) {
    const { points, wide, free, left, right, sides, corners } = this;
    points.fill(0);
    const { order } = this;
    for (let i = 0; i < order.length; i += 1) {
      const at = order[i];
      const corner = corners[at];
      if (corner < 0) continue;
      const side = sides[at];
      const [one, other] = [colors[left[at]], colors[right[at]]];
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
