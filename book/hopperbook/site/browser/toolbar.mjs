// A row of buttons that takes one press of Tab: arrow keys, Home and End move within it.

const STEPS = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };

/** Let the arrow keys move between the buttons of a toolbar, whose first button alone can be reached with Tab. */
export function moveByArrows(toolbar) {
  const buttons = [...toolbar.querySelectorAll("button")];
  const stop = (button) => {
    for (const each of buttons) each.tabIndex = each === button ? 0 : -1;
  };
  toolbar.addEventListener("focusin", ({ target }) => buttons.includes(target) && stop(target));
  toolbar.addEventListener("keydown", (event) => {
    const at = buttons.indexOf(event.target);
    if (at < 0 || event.altKey || event.ctrlKey || event.metaKey) return;
    const last = buttons.length - 1;
    const next = { Home: 0, End: last }[event.key] ?? (event.key in STEPS ? (at + STEPS[event.key] + buttons.length) % buttons.length : -1);
    if (next < 0) return;
    event.preventDefault();
    buttons[next].focus();
  });
}
