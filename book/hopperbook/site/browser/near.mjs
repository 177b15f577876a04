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

/** Act at the first sign that an element will be used: a pointer or the focus in it, a paste, a file dragged onto the page, a scroll back to it. */
export function whenMeant(element, act) {
  const signs = new AbortController();
  const meant = () => {
    signs.abort();
    back.disconnect();
    act();
  };
  const once = { passive: true, signal: signs.signal };
  // A finger on it may only be scrolling.
  element.addEventListener("pointerover", ({ pointerType }) => pointerType !== "touch" && meant(), once);
  for (const kind of ["focusin", "click"]) element.addEventListener(kind, meant, once);
  for (const kind of ["paste", "dragenter"]) addEventListener(kind, meant, once);
  let left = false;
  const back = new IntersectionObserver(([{ isIntersecting }]) => {
    if (isIntersecting && left) meant();
    left ||= !isIntersecting;
  });
  back.observe(element);
}
