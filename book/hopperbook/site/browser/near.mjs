// When something of the page is about to be used.

// How near the screen it must be, and how long a busy browser is waited for. [ms]
const NEAR = "300px";
const IDLE = 2000;
const USED = ["scroll", "pointerdown", "keydown"];

/** Typeset the formulas of the page, where it has some: to be waited for before it is printed. */
export let typeset = () => {};

/** Load a script that typesets formulas when one of them comes near, or the page is used at all. */
export function startLate({ src }) {
  let loading;
  const load = () => {
    near.disconnect();
    for (const kind of USED) removeEventListener(kind, load);
    loading ??= new Promise((done) => {
      const script = Object.assign(document.createElement("script"), { src, onload: () => done(globalThis.MathJax.startup.promise) });
      document.head.append(script);
    });
    return loading;
  };
  typeset = load;
  const near = new IntersectionObserver((entries) => entries.some((entry) => entry.isIntersecting) && load(), { rootMargin: "600px" });
  for (const formula of document.querySelectorAll(".math")) near.observe(formula);
  for (const kind of USED) addEventListener(kind, load, { passive: true });
}

/** Act when an element comes near and the browser has time, unless the reader saves data; in any case at the first touch. */
export function whenNear(element, act) {
  for (const kind of ["pointerenter", "focusin", "touchstart"]) {
    element.addEventListener(kind, act, { once: true, passive: true });
  }
  if (navigator.connection?.saveData) return;
  const idle = globalThis.requestIdleCallback ?? ((run) => setTimeout(run, 200));
  const near = new IntersectionObserver(
    (entries) => {
      if (!entries.some((entry) => entry.isIntersecting)) return;
      near.disconnect();
      idle(act, { timeout: IDLE });
    },
    { rootMargin: NEAR },
  );
  near.observe(element);
}
