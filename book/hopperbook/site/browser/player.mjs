// A bar that plays something over time: play and pause, a scale to move along, and the time in words.
// It plays only while it is on the screen. Readers who asked for less motion see it go in steps.

import { make } from "./dom.mjs";

const less = matchMedia("(prefers-reduced-motion: reduce)");
const STEP_EVERY = 900; // with less motion [ms]
const LONGEST_FRAME = 100; // a tab that slept goes on where it was [ms]
// How often the scale and the words follow while it plays: each time costs a layout and a paint of the page, on a phone
// more than all that is drawn in a frame. [ms]
const TOLD_EVERY = 400;

export class Player {
  #frame = 0;
  #before = 0;
  #seen = true;
  #told = 0;

  /**
   * @param length     where the time ends, in units of the scene
   * @param step       of the scale, and of a step with less motion
   * @param perSecond  units of the scene a second
   * @param label      what the scale is called
   * @param words      time -> text
   * @param draw       called with each new time, and whether it is told in words too
   */
  constructor({ length, step, stride = step, perSecond, label, words, draw }) {
    Object.assign(this, { length, stride, perSecond, words, draw, low: 0, time: 0, playing: false });
    this.button = make("button", { type: "button", class: "hopper-button hopper-main hopper-play" });
    this.scale = make("input", { type: "range", min: 0, max: length, step, value: 0, "aria-label": label });
    this.output = make("output", {});
    this.element = make("div", { class: "hopper-player" }, this.button, this.scale, this.output);
    this.button.addEventListener("click", () => (this.playing ? this.pause() : this.play()));
    this.scale.addEventListener("input", () => {
      // Pausing shows the time that was.
      const asked = Number(this.scale.value);
      this.pause();
      this.seek(asked);
    });
    const seen = new IntersectionObserver((entries) => {
      this.#seen = entries.at(-1).isIntersecting;
    });
    // It stands in its figure once the code that made it has put it there.
    queueMicrotask(() => seen.observe(this.element.parentElement ?? this.element));
    this.#show();
  }

  /** Let the time begin and end elsewhere, played in so many seconds. What does not move needs no bar. */
  reach(length, seconds, low = 0) {
    Object.assign(this, { length, low, perSecond: (length - low) / seconds });
    this.scale.min = String(low);
    this.scale.max = String(length);
    this.element.hidden = length === low;
    this.time = Math.min(Math.max(this.time, low), length);
  }

  /** Go to a time. */
  seek(time) {
    this.time = Math.min(this.length, Math.max(this.low, time));
    const told = !this.playing || less.matches || performance.now() - this.#told > TOLD_EVERY;
    if (told) this.#show();
    this.draw(this.time, told);
  }

  play() {
    if (this.time >= this.length) this.time = this.low;
    this.playing = true;
    this.#before = performance.now();
    this.#show();
    this.#frame = requestAnimationFrame((now) => this.#next(now));
  }

  pause() {
    this.playing = false;
    cancelAnimationFrame(this.#frame);
    this.#show();
  }

  #next(now) {
    if (!this.playing) return;
    const passed = now - this.#before;
    if (less.matches ? passed >= STEP_EVERY : true) {
      this.#before = now;
      const on = less.matches ? this.stride : (Math.min(passed, LONGEST_FRAME) / 1000) * this.perSecond;
      if (this.#seen) this.seek(this.time + on);
      if (this.time >= this.length) return this.pause();
    }
    this.#frame = requestAnimationFrame((then) => this.#next(then));
  }

  #show() {
    this.#told = performance.now();
    const label = this.playing ? "Pause" : this.time >= this.length ? "Play again" : "Play";
    if (this.button.textContent !== label) this.button.textContent = label;
    this.scale.value = String(this.time);
    const words = this.words(this.time);
    if (this.output.textContent === words) return;
    this.output.textContent = words;
    this.scale.setAttribute("aria-valuetext", words);
  }
}
