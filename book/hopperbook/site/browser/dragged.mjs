// Numbers in a page's text that set an explorer: dragged to the side, or moved with the arrow keys. What follows from
// them stands in the text too:
//
//   <span data-explorer="stripe" data-control="stripe_count">2</span>
//   <span data-explorer="stripe" data-fact="rate_gb_s" data-unit="GB/s">the rate above</span>
//
// `data-step` overrides the step of the control; `data-factor` multiplies what is shown.

const PER_STEP = 5; // how far a finger goes for one step [CSS pixels]
const MOST_STEPS = 60; // a scale with more steps than this moves faster

// A count is told in full, as the explorer tells it.
const short = (value) => (Number.isInteger(value) ? value : Number(value.toPrecision(3))).toLocaleString("en");

/** Start one of them. The explorer must be alive. */
export function startDragged(span) {
  const section = document.querySelector(`.hopper-explorer[data-name="${span.dataset.explorer}"]`);
  if (!section?.hopperForm) return;
  if (span.dataset.fact) startFact(span, section);
  else startNumber(span, section);
}

function startFact(span, section) {
  const show = () => {
    const value = section.hopperFacts()?.[span.dataset.fact];
    if (typeof value === "number") span.textContent = `${short(value * Number(span.dataset.factor ?? 1))} ${span.dataset.unit ?? ""}`.trim();
  };
  span.classList.add("hopper-fact");
  section.addEventListener("hopper-answer", show);
  show();
}

function startNumber(span, section) {
  const { control } = span.dataset;
  const { low, high, step: least, label, unit } = section.hopperForm.controls.find(({ name }) => name === control);
  const step = Number(span.dataset.step ?? least);
  const perPixel = Math.max(1, (high - low) / step <= 1000 ? (high - low) / step / MOST_STEPS : 1) / PER_STEP;
  const value = () => Number(section.hopperForm.values()[control]);
  const show = () => {
    if (Number.isNaN(value())) return;
    span.textContent = value().toLocaleString("en", { maximumFractionDigits: 6 });
    span.setAttribute("aria-valuenow", value());
    span.setAttribute("aria-valuetext", `${span.textContent} ${unit ?? ""}`.trim());
  };
  const move = (to) => {
    const moved = Math.min(high, Math.max(low, low + Math.round((to - low) / step) * step));
    if (moved !== value()) section.hopperSet({ [control]: Number(moved.toPrecision(12)) });
    show();
  };
  for (const [name, given] of [["role", "slider"], ["tabindex", "0"], ["aria-label", label], ["aria-valuemin", low], ["aria-valuemax", high]]) span.setAttribute(name, given);
  span.title = "Drag to the side, or use the arrow keys";
  span.classList.add("hopper-drag");
  span.addEventListener("keydown", (event) => {
    const by = { ArrowUp: 1, ArrowRight: 1, ArrowDown: -1, ArrowLeft: -1, PageUp: 10, PageDown: -10 }[event.key];
    if (!by) return;
    event.preventDefault();
    move(value() + by * step);
  });
  let from;
  span.addEventListener("pointerdown", (event) => {
    from = { x: event.clientX, value: value() };
    span.setPointerCapture(event.pointerId);
  });
  span.addEventListener("pointermove", ({ clientX }) => from && move(from.value + Math.round((clientX - from.x) * perPixel) * step));
  for (const kind of ["pointerup", "pointercancel"]) span.addEventListener(kind, () => (from = undefined));
  for (const kind of ["input", "change", "hopper-answer"]) section.addEventListener(kind, show);
  show();
}
