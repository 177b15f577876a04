// A figure that is scrolled through: the picture of the step whose text is being read stands beside the texts, or, on a
// phone, above them. Pictures and texts were made at build time (book/hopperbook/site/stories); here one is chosen.

const NARROW = matchMedia("(max-width: 50rem)");
const STILL = matchMedia("(prefers-reduced-motion: reduce)");
// Where on the screen a text is read: at which part of its height. On a phone the picture takes the upper part.
const READ_AT = { wide: 0.55, narrow: 0.75 };

/** Start a story. */
export function startStory(story) {
  const steps = [...story.querySelectorAll(".hopper-story-step")];
  const texts = steps.map((step) => step.querySelector(".hopper-story-text"));
  const [back, next] = story.querySelectorAll(".hopper-story-bar button");
  const said = story.querySelector(".hopper-story-bar output");
  let now = 0;
  let bound; // for which step the page is on its way after a press: those that it passes are not shown

  const show = (number) => {
    now = number;
    steps.forEach((step, at) => step.classList.toggle("hopper-now", at === now));
    // Heard by those who press the buttons, and not while the page is scrolled.
    said.setAttribute("aria-live", said.parentElement.contains(document.activeElement) ? "polite" : "off");
    said.textContent = `${now + 1} of ${steps.length}`;
    // Still to be pressed at the ends, as a button that is switched off would lose the focus.
    back.setAttribute("aria-disabled", String(now === 0));
    next.setAttribute("aria-disabled", String(now === steps.length - 1));
  };

  const goBy = (by) => {
    const to = now + by;
    if (to < 0 || to >= steps.length) return;
    scrollTo(to, STILL.matches ? "instant" : "smooth");
    bound = to;
    show(to);
  };
  const scrollTo = (to, behavior) => texts[to].scrollIntoView({ block: NARROW.matches ? "end" : "center", behavior });
  const arrived = () => (bound = undefined);
  for (const sign of ["wheel", "touchstart"]) addEventListener(sign, arrived, { passive: true });
  // A second press stops the way of the first one: what is left of it is done at once.
  addEventListener("scrollend", () => {
    if (bound === undefined) return;
    scrollTo(bound, "instant");
    show(bound);
    arrived();
  });
  for (const button of [back, next]) button.addEventListener("click", () => goBy(Number(button.dataset.by)));

  let seen;
  const watch = () => {
    seen?.disconnect();
    const at = 100 * READ_AT[NARROW.matches ? "narrow" : "wide"];
    // A line across the screen: the text that it crosses is the one that is read.
    seen = new IntersectionObserver(
      (entries) => {
        const entry = entries.find(({ isIntersecting }) => isIntersecting);
        const crossed = texts.indexOf(entry?.target);
        if (crossed < 0 || (bound !== undefined && crossed !== bound)) return;
        arrived();
        show(crossed);
      },
      { rootMargin: `-${at}% 0px -${100 - at}% 0px` },
    );
    for (const text of texts) seen.observe(text);
  };
  NARROW.addEventListener("change", watch);
  watch();
  show(0);
  if (story.querySelector(".hopper-story-times")) import("./story-times.mjs").then(({ startTimes }) => startTimes(story));
}
