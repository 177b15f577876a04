// Charts: pictures in the page, redrawn by plotly.js, in the colors of the page's theme, once a reader touches them.

import { dataOf, fileName, folded, make, saveFile } from "./dom.mjs";

const figures = new Map(); // plot element -> { data, drawn }
let loading; // promise of plotly.js

function library() {
  loading ??= new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = new URL("plotly/cartesian.min.js", import.meta.url).href;
    script.onload = () => resolve(window.Plotly);
    script.onerror = () => reject(new Error("the chart's script cannot be loaded"));
    document.head.append(script);
  });
  // What could not be loaded is asked for again.
  loading.catch(() => (loading = undefined));
  return loading;
}

// In a narrow place the picture's letters are too small: there a chart is drawn when it comes near.
const NARROW = 440;
const near = new IntersectionObserver(
  (entries) => {
    for (const { isIntersecting, target } of entries) {
      const picture = target.querySelector(":scope > svg");
      if (isIntersecting && !(picture && (target.clientWidth > NARROW || navigator.connection?.saveData))) draw(target);
    }
  },
  { rootMargin: "400px 0px" },
);

// Width and height of what may be drawn, told by the browser once it has laid out the page: to ask for them after a change
// would make it lay out the page there and then.
const sizes = new WeakMap();
const resized = new ResizeObserver((entries) => {
  for (const { target } of entries) {
    const known = sizes.get(target);
    sizes.delete(target);
    const { width, height } = sizeOf(target);
    if (known && width > 0 && (width !== known.width || height !== known.height) && figures.get(target)?.drawn) drawSoon(target);
  }
});

function sizeOf(plot) {
  if (!sizes.has(plot)) {
    resized.observe(plot);
    sizes.set(plot, { width: plot.clientWidth, height: plot.clientHeight });
  }
  return sizes.get(plot);
}

/** Draw a figure once it is touched; where no picture of it stands, once it comes near. */
export function placeFigure(element, data) {
  const plot = element.querySelector(".hopper-plot");
  figures.set(plot, { data, drawn: false });
  resized.observe(plot);
  near.observe(plot);
  // Who saves data keeps the picture, which then needs no more height than it has.
  plot.classList.toggle("hopper-as-is", navigator.connection?.saveData === true);
  for (const kind of ["pointerenter", "touchstart"]) {
    plot.addEventListener(kind, () => figures.get(plot).drawn || draw(plot), { once: true, passive: true });
  }
}

/** Fetch what draws an explorer's charts, so that its first answer need not wait. */
export function fetchLibraries(data) {
  if (data.length) library().catch(() => {});
}

/** Draw the charts in sight of an explorer that is about to be touched: its first answer then only moves them. */
export function drawAhead(section) {
  for (const plot of section.querySelectorAll(".hopper-plot")) {
    if (!figures.get(plot)?.drawn && !folded(plot) && sizeOf(plot).width > 0) draw(plot);
  }
}

/** Draw new data in the place of the old. */
export function updateFigure(element, data) {
  const plot = element.querySelector(".hopper-plot");
  // What is folded away, or not shown, has no width to be drawn in: it is drawn when it is unfolded.
  const seen = !folded(plot) && sizeOf(plot).width > 0;
  figures.set(plot, { data, drawn: seen && (figures.get(plot)?.drawn ?? false) });
  if (seen) return drawSoon(plot);
  plot.querySelector(":scope > svg")?.remove();
  near.observe(plot);
}

/** Start a figure that stands alone on a page. */
export function startFigure(box) {
  const data = dataOf(box);
  placeFigure(box.querySelector(".hopper-figure"), data);
  box.addEventListener("click", ({ target }) => {
    if (target.closest('[data-do="figure-csv"]')) saveFile(fileName(data.title, "csv"), data.table.csv, "text/csv");
  });
}

// Charts that are drawn once the words of their answer are on screen: then the latest data, whatever came meanwhile.
const due = new Map();
let painted = Promise.resolve();

function drawSoon(plot) {
  if (!due.has(plot)) due.set(plot, afterPaint().then(() => due.delete(plot) && draw(plot)));
  painted = Promise.all([painted, due.get(plot)]);
}

// A page that is not shown is given no frame, and does not always say that it is hidden. [ms]
const FRAME = 250;

const afterPaint = () =>
  new Promise((done) => {
    setTimeout(done, document.hidden ? 0 : FRAME);
    requestAnimationFrame(() => setTimeout(done));
  });

/** Resolve when every chart shows its latest data. */
export const drawn = () => painted;

/** Draw again all that is drawn: the theme has changed. */
function redrawAll() {
  colors = undefined;
  for (const [plot, { drawn }] of figures) if (drawn && plot.isConnected) draw(plot);
}

async function draw(plot) {
  near.unobserve(plot);
  try {
    const plotly = await library();
    if (!plot.isConnected) {
      figures.delete(plot);
      return;
    }
    const state = figures.get(plot);
    if (!state.drawn) {
      plotly.purge(plot);
      plot.replaceChildren();
      plot.classList.remove("hopper-as-is");
      sizes.delete(plot);
    }
    state.drawn = true;
    const { data, layout } = state.data.figure;
    const page = themed(layout, sizeOf(plot));
    for (const name of ["x", "y"]) if (page[`${name}axis`]) tickEach(page[`${name}axis`], data.flatMap((trace) => trace[name] ?? []));
    await plotly.react(plot, structuredClone(data), page, CONFIG);
  } catch (error) {
    const note = plot.querySelector(".hopper-plot-note") ?? make("p", { class: "hopper-plot-note" });
    plot.prepend(note);
    note.textContent = `${figures.get(plot)?.data.alt} (${error.message}: reload the page to try again)`;
  }
}

// Whole numbers as few as this get a tick each, and none between them.
const EACH = 12;

/** Set a tick at each name, and at each whole number of an axis on which few others can stand. */
function tickEach(axis, values) {
  if (axis.type === "log") return tickLog(axis, values.filter((value) => value > 0));
  const names = values.length > 0 && values.every((value) => typeof value === "string" && /[A-Za-z]/.test(value));
  const whole = values.length > 1 && values.every(Number.isInteger) && axis.type !== "log";
  if (names ? new Set(values).size <= EACH : whole && Math.max(...values) - Math.min(...values) <= EACH) axis.dtick ??= 1;
}

/** Set the ticks of a log axis, each with its whole number, no more than can be read. */
function tickLog(axis, values) {
  const [low, high] = axis.range?.map((end) => 10 ** end) ?? [Math.min(...values), Math.max(...values)];
  const first = Math.floor(Math.log10(low));
  const powers = Array.from({ length: Math.ceil(Math.log10(high)) - first + 1 || 0 }, (_, at) => 10 ** (first + at));
  const choices = [[1, 2, 5], [1, 3], [1]].map((steps) => powers.flatMap((power) => steps.map((step) => step * power)));
  const few = (ticks) => ticks.filter((tick) => tick >= low && tick <= high).length <= (axis.nticks ?? 8);
  axis.tickvals ??= choices.find(few) ?? choices[2].filter((_, at) => at % 2 === 0);
  axis.ticktext ??= axis.tickvals.map((tick) => tick.toLocaleString("en", { maximumSignificantDigits: 3 }));
}

const LETTER = 7.5; // [CSS pixels]

/** Return words in lines that fit so many pixels. */
const inLines = (words, room) =>
  words.split(" ").reduce((text, word) => text + ((text.split("<br>").at(-1).length + 1 + word.length) * LETTER > room ? "<br>" : " ") + word);

const PAPER = 620;
let printing = false;

const CONFIG = { displayModeBar: false, scrollZoom: false, doubleClick: "reset" };

let colors; // of the theme, by name, and the page's type

function look() {
  const style = getComputedStyle(document.documentElement);
  const names = ["grid", "line", "ink", "panel"];
  colors = Object.fromEntries(names.map((name) => [name, style.getPropertyValue(`--hopper-${name}`).trim()]));
  colors.family = getComputedStyle(document.body).fontFamily;
  return colors;
}

/** Return the layout in the colors and the type of the page. */
function themed(layout, size) {
  const { family } = colors ?? look();
  const color = (name) => colors[name];
  const line = { gridcolor: color("grid"), linecolor: color("line"), zerolinecolor: color("line"), tickcolor: color("line") };
  const result = structuredClone(layout);
  result.font = { family, size: 13, ...layout.font, color: color("ink") };
  result.paper_bgcolor = "rgba(0,0,0,0)";
  result.plot_bgcolor = "rgba(0,0,0,0)";
  result.hoverlabel = { bgcolor: color("panel"), bordercolor: color("line"), font: { color: color("ink") }, ...layout.hoverlabel };
  Object.assign(result, size);
  if (size.width < NARROW) {
    result.legend = { ...result.legend, font: { size: 11 } };
    result.margin = { ...result.margin, l: 44, r: 8 };
    for (const note of result.annotations ?? []) note.font = { size: 11 };
    // The names of rows take half of the room from the title below them.
    for (const [name, room] of [["xaxis", size.width * (layout.yaxis?.title?.text ? 0.8 : 0.45)], ["yaxis", size.height * 0.6]]) {
      const axis = result[name];
      if (!axis) continue;
      axis.nticks ??= 5;
      if (axis.title?.text) axis.title.text = inLines(axis.title.text, room);
    }
  }
  // Paper is as narrow as this, and what is drawn wider would be cut off.
  if (printing) result.width = Math.min(size.width, PAPER);
  // On a phone a finger scrolls the page; it must not draw zoom boxes.
  if (matchMedia("(pointer: coarse)").matches) result.dragmode = false;
  for (const name of Object.keys(result)) {
    if (/^[xy]axis\d*$/.test(name)) Object.assign(result[name], line);
  }
  return result;
}

new MutationObserver(redrawAll).observe(document.documentElement, { attributeFilter: ["data-theme"] });

// Ctrl+P gives no time to fetch anything: what is drawn is drawn again in the colors of paper.
for (const kind of ["beforeprint", "afterprint"]) {
  addEventListener(kind, () => {
    printing = kind === "beforeprint";
    redrawAll();
  });
}
