// Marks what has been read in the lists of pages of a route.

import { make } from "./dom.mjs";
import { load } from "./progress.mjs";

/** Start a route: pages that are marked as read say so, here and after a change elsewhere. */
export function startRoute(box) {
  const root = new URL(document.documentElement.dataset.content_root ?? "./", location.href).pathname;
  const show = () => {
    const { read } = load();
    for (const item of box.querySelectorAll("li")) {
      item.querySelector(".hopper-done")?.remove();
      const page = new URL(item.querySelector("a").href).pathname.slice(root.length).replace(/\.html$/, "");
      if (read[page]) item.querySelector("p, a").append(make("span", { class: "hopper-done" }, " ✓ read"));
    }
  };
  addEventListener("hopper-progress", show);
  show();
}
