// What every page needs: a switch for its code, and printing, in the colors of paper and with charts unfolded.

import { className } from "./progress.mjs";

const root = document.documentElement;
// Kept from the first page of a visit on.
className();

// A page is printed as a handout, without solutions, unless they are asked for.
for (const button of document.querySelectorAll("[data-hopper-print]")) {
  const solutions = button.dataset.hopperPrint === "solutions";
  button.hidden = solutions && !document.querySelector(".admonition.solution");
  button.addEventListener("click", () => {
    root.toggleAttribute("data-hopper-solutions", solutions);
    window.print();
  });
}

const cells = document.querySelectorAll("div.cell details.above-input");
for (const button of document.querySelectorAll("[data-hopper-show-code]")) {
  button.hidden = cells.length === 0;
  button.addEventListener("click", () => {
    const shown = root.toggleAttribute("data-hopper-code");
    button.setAttribute("aria-pressed", String(shown));
    for (const cell of cells) cell.open = shown;
  });
}

// The button of a folded solution is made when all is loaded, and its name says not what it unfolds.
addEventListener("load", () => {
  for (const button of document.querySelectorAll(".admonition-title > .toggle-button")) {
    button.setAttribute("aria-label", button.parentElement.textContent.trim().replace(/\s+/g, " "));
  }
});

/** Unfold what the address names, or what it stands in. */
function unfold() {
  const named = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  // A label for a section is an empty element at its beginning, before what is folded.
  const section = named?.matches("span:empty") ? named.parentElement : named;
  const fold = section?.querySelector(":scope > details.hopper-fold") ?? named?.closest("details:not([open])");
  if (!fold || fold.open) return;
  fold.open = true;
  named.scrollIntoView();
}
addEventListener("hashchange", unfold);
unfold();

// On a phone the cells of such a table stand below each other (look.css), each after the heading of its column.
for (const table of document.querySelectorAll("table.table.hopper-wordy")) {
  const headings = [...table.querySelectorAll("thead th")].map(({ textContent }) => textContent.trim());
  for (const row of table.tBodies[0].rows) {
    row.setAttribute("role", "row");
    [...row.cells].forEach((cell, i) => {
      cell.setAttribute("role", "cell");
      cell.dataset.heading = headings[i];
    });
  }
}

// The theme looks once, when the page starts, which code is too wide for its place and must scroll by keys.
document.addEventListener(
  "toggle",
  ({ target }) => {
    for (const code of target.querySelectorAll("pre")) code.tabIndex = code.scrollWidth > code.clientWidth ? 0 : -1;
  },
  { capture: true },
);

// Rows of a table that is not printed unless the reader has unfolded it.
const MANY = 32;

let theme;
let folded = [];
addEventListener("beforeprint", () => {
  theme = root.dataset.theme;
  root.dataset.theme = "light";
  const short = [...document.querySelectorAll(".text_html > details.hopper-further:not([open])")].filter((part) => part.querySelectorAll("tr").length < MANY);
  folded = [...document.querySelectorAll("details.hopper-fold:not([open]), [data-part=figures] > details:not([open])"), ...short];
  for (const part of folded) part.open = true;
});
addEventListener("afterprint", () => {
  root.dataset.theme = theme;
  root.removeAttribute("data-hopper-solutions");
  for (const part of folded) part.open = false;
});
