// A page whose sections can be shown one after the other, each on the whole window. Without this it is a page to read.

import { make } from "./dom.mjs";

const FORWARD = new Set(["ArrowRight", "ArrowDown", "PageDown", " "]);
const BACK = new Set(["ArrowLeft", "ArrowUp", "PageUp"]);
// Where these keys have work of their own.
const BUSY = "input, select, textarea, button, summary, a, [tabindex], .hopper-explorer, .hopper-machine, .hopper-scene";

/** On the page the tool of a slide is shown at a press, or where an address names it: with all of them it is too long to read. */
function foldTools(slides) {
  for (const slide of slides) {
    const open = make("button", { type: "button", class: "hopper-button hopper-slide-open" }, "Show the tool of this slide");
    const unfold = () => {
      slide.setAttribute("data-open", "");
      open.remove();
      // A chart that was hidden has no width to be drawn in.
      dispatchEvent(new Event("resize"));
    };
    open.addEventListener("click", unfold);
    slide.querySelector(":scope > :not(h2, p)").before(open);
    const named = () => location.hash.length > 1 && slide.querySelector(`[id="${CSS.escape(location.hash.slice(1))}"]`) && unfold();
    addEventListener("hashchange", named);
    named();
  }
}

/** Start the slides of a page: the button stands where the page says so, a slide is a section of the second level. */
export function startSlides(box) {
  const root = document.documentElement;
  const slides = [...document.querySelectorAll("article section > section")];
  // On paper each slide has a sheet of its own; words beside something to look at are smaller.
  root.classList.add("hopper-deck");
  for (const slide of slides) slide.toggleAttribute("data-shows", !slide.lastElementChild.matches("p"));
  foldTools(slides.filter((slide) => slide.hasAttribute("data-shows")));
  const place = make("span", { class: "hopper-slide-number", "aria-live": "polite" });
  const button = (label, run) => {
    const made = make("button", { type: "button", class: "hopper-button" }, label);
    made.addEventListener("click", run);
    return made;
  };
  let at = 0;
  const show = (number) => {
    slides[at].removeAttribute("data-shown");
    at = Math.min(Math.max(number, 0), slides.length - 1);
    slides[at].setAttribute("data-shown", "");
    place.textContent = `${at + 1} of ${slides.length}`;
    history.replaceState(null, "", `#${slides[at].id}`);
    scrollTo(0, 0);
    // A chart that was hidden has no width to be drawn in.
    dispatchEvent(new Event("resize"));
  };
  const start = () => {
    root.setAttribute("data-hopper-slides", "");
    show(Math.max(0, slides.findIndex(({ id }) => `#${id}` === location.hash)));
    bar.hidden = false;
    root.requestFullscreen?.().catch(() => {});
  };
  const end = () => {
    root.removeAttribute("data-hopper-slides");
    bar.hidden = true;
    if (document.fullscreenElement) document.exitFullscreen();
    slides[at].scrollIntoView();
  };
  const bar = make("div", { class: "hopper-slide-bar", role: "group", "aria-label": "Slides", hidden: true });
  bar.append(button("Back", () => show(at - 1)), place, button("Next", () => show(at + 1)), button("End", end));
  document.body.append(bar);
  box.append(button("Show as slides", start));
  addEventListener("keydown", (event) => {
    if (!root.hasAttribute("data-hopper-slides") || event.ctrlKey || event.altKey || event.metaKey) return;
    if (event.key === "Escape") return end();
    if (event.target.closest(BUSY)) return;
    if (FORWARD.has(event.key)) show(at + 1);
    else if (BACK.has(event.key)) show(at - 1);
    else if (event.key === "Home") show(0);
    else if (event.key === "End") show(slides.length - 1);
    else return;
    event.preventDefault();
  });
}
