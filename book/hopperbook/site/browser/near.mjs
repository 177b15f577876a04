// When something of the page is about to be used.

// How near the screen it must be, and how long a busy browser is waited for. [ms]
const NEAR = "300px";
const IDLE = 2000;

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
