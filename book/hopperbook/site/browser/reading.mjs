// "Mark as read" at the end of a page; the page is also remembered, to go on there.

import { announce, make } from "./dom.mjs";
import { load, notePage, noteVisit } from "./progress.mjs";

/** Start the button at the end of a page. */
export function startReading(box) {
  const page = box.dataset.page;
  const button = make("button", { type: "button", class: "hopper-button" });
  const show = () => {
    const when = load().read[page];
    button.textContent = when ? `Read on ${when.slice(0, 10)}: take the mark back` : "Mark as read";
    button.setAttribute("aria-pressed", String(Boolean(when)));
  };
  button.addEventListener("click", () => {
    const read = !load().read[page];
    announce(notePage(page, read) ? (read ? "Marked as read" : "Mark taken back") : "This browser keeps nothing");
    show();
  });
  addEventListener("hopper-progress", show);
  show();
  noteVisit(page, box.dataset.title);
  box.append(button);
}
