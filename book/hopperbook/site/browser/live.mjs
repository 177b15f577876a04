// Brings a page to life. What a page does not hold is not loaded.

import "./page.mjs";

/** Run a task for each element that matches, with a module that is fetched only if one does. */
async function enliven(selector, load) {
  const elements = [...document.querySelectorAll(selector)];
  if (elements.length === 0) return;
  const start = await load();
  for (const element of elements) start(element);
}

const explorers = enliven(".hopper-explorer", async () => (await import("./explorer.mjs")).startExplorer);
const parts = [
  enliven("#predict-first", async () => (await import("./touched.mjs")).startTouched),
  explorers,
  // It puts the reader's machine into explorers that are there.
  explorers.then(() => enliven(".hopper-my-machine", async () => (await import("./my-machine.mjs")).startMachineBar)),
  explorers.then(() => enliven("span[data-explorer]:is([data-control], [data-fact])", async () => (await import("./dragged.mjs")).startDragged)),
  explorers.then(() => enliven("span[data-explorer]:is([data-try], [data-example], [data-focus])", async () => (await import("./trying.mjs")).startTrying)),
  enliven(".hopper-alone", async () => (await import("./plot.mjs")).startFigure),
  enliven(".hopper-read", async () => (await import("./reading.mjs")).startReading),
  enliven(".hopper-progress", async () => (await import("./progress-page.mjs")).startProgress),
  // Both follow the explorers that are there.
  explorers.then(() => enliven(".hopper-scene", async () => (await import("./scenes.mjs")).startScene)),
  explorers.then(() => enliven(".hopper-machine", async () => (await import("./machine-view.mjs")).startMachine)),
  enliven(".hopper-story", async () => (await import("./story.mjs")).startStory),
  enliven("#search-results", async () => (await import("./searching.mjs")).startSearch),
  enliven(".hopper-room", async () => (await import("./room.mjs")).startRoom),
  enliven(".hopper-slides", async () => (await import("./slides.mjs")).startSlides),
  enliven(".hopper-route", async () => (await import("./routes.mjs")).startRoute),
  enliven("a[title]:has(> .std-term)", async () => (await import("./terms.mjs")).startTerm),
  enliven(".hopper-check[data-kind=code]", async () => (await import("./code-check.mjs")).startCodeCheck),
  enliven(".hopper-model", async () => (await import("./code-area.mjs")).startModelBox),
  enliven(".hopper-check:not([data-kind=code], .hopper-exam *)", async () => (await import("./checks.mjs")).startCheck),
  enliven(".hopper-exam", async () => (await import("./exam.mjs")).startExam),
];

// Tests and scripts that print wait for this.
Promise.all(parts).then(() => document.documentElement.classList.add("hopper-ready"));
