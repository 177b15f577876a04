// The reader's run times, laid over the last picture of a story: each over the quickest of them.

import { draw } from "./drawing.mjs";

const MOST = 10_000;

/** Return the numbers above 0 of a text, such as "412.7 s, 1,298.9 s" line by line; null if it holds none. */
export function timesOf(text) {
  // A number in a word, such as a name of a job, is no time. Commas before three digits part thousands; another is a point.
  const found = text.match(/(?<![\w.])(?:\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:[.,]\d+)?)(?![\w.]*[A-Za-rt-z_])/g) ?? [];
  const times = found.map((each) => Number(each.replace(/,(?=\d{3}(?!\d))/g, "").replace(",", "."))).filter((time) => time > 0);
  return times.length > 0 ? times : null;
}

/** Start the box for times. */
export function startTimes(story) {
  const box = story.querySelector(".hopper-story-times");
  const [area, status] = [box.querySelector("textarea"), box.querySelector("[role=status]")];
  const svg = [...story.querySelectorAll("svg[data-low]")].at(-1);
  const [layer, hint] = [svg.querySelector(".readers"), svg.querySelector(".readers-none")];
  const [low, high, first, last] = ["low", "high", "first", "last"].map((name) => Number(svg.dataset[name]));
  area.addEventListener("input", () => {
    const times = timesOf(area.value);
    layer.querySelectorAll("line, text").forEach((each) => each.remove());
    hint.toggleAttribute("hidden", Boolean(times));
    if (!times) {
      status.textContent = area.value.trim() ? "No run time is in this text: write numbers such as 412.7, with spaces or lines between them." : "";
      return;
    }
    if (times.length > MOST) {
      status.textContent = `${times.length} numbers are more than the ${MOST} that this picture holds.`;
      return;
    }
    const least = Math.min(...times);
    const most = Math.max(...times) / least;
    for (const time of times) {
      const x = first + ((Math.min(time / least, high) - low) / (high - low)) * (last - first);
      layer.append(draw("line", { x1: x, x2: x, y1: 60, y2: 84 }));
    }
    layer.append(draw("text", { x: first, y: 50 }, `your ${times.length === 1 ? "run" : `${times.length} runs`}: 1.0 to ${most.toFixed(2)}`));
    const beyond = times.filter((time) => time / least > high).length;
    status.textContent =
      times.length < 3
        ? "Three runs or more say something."
        : `Your slowest run takes ${most.toFixed(2)} times as long as your quickest${beyond ? `; ${beyond} of ${times.length} are beyond the axis` : ""}.`;
  });
}
