// A term's entry of the glossary, shown beside the term when the pointer rests on it or the keyboard reaches it.

import { make } from "./dom.mjs";

const tip = make("div", { class: "hopper-tip", id: "hopper-tip", role: "tooltip", hidden: true });
let shown = null; // the link that it belongs to

/** Start a link to the glossary. The browser's own title, which only a pointer brings up, is taken over. */
export function startTerm(link) {
  link.dataset.entry = link.title;
  link.removeAttribute("title");
  link.addEventListener("pointerenter", () => show(link));
  link.addEventListener("focus", () => show(link));
  link.addEventListener("blur", hide);
  link.addEventListener("pointerleave", hideUnlessReached);
}

function show(link) {
  hide();
  shown = link;
  tip.textContent = link.dataset.entry;
  tip.hidden = false;
  if (!tip.isConnected) (document.querySelector("main") ?? document.body).append(tip);
  link.setAttribute("aria-describedby", tip.id);
  const { left, bottom } = link.getBoundingClientRect();
  const most = document.documentElement.clientWidth - tip.offsetWidth - 8;
  const offset = tip.offsetParent?.getBoundingClientRect() ?? { left: 0, top: 0 };
  tip.style.left = `${Math.max(8, Math.min(left, most)) - offset.left}px`;
  tip.style.top = `${bottom - offset.top}px`;
}

function hide() {
  shown?.removeAttribute("aria-describedby");
  shown = null;
  tip.hidden = true;
}

/** The entry stays while the pointer is on it, so that it can be read, enlarged and copied. */
function hideUnlessReached() {
  setTimeout(() => tip.matches(":hover") || shown?.matches(":hover, :focus-visible") || hide(), 120);
}

tip.addEventListener("pointerleave", hideUnlessReached);
addEventListener("keydown", ({ key }) => key === "Escape" && hide());
