// What every page needs: a switch for its code, and printing, in the colors of paper and with every chart drawn.

const root = document.documentElement;

for (const button of document.querySelectorAll("[data-hopper-print]")) {
  button.addEventListener("click", async () => {
    if (document.querySelector(".hopper-figure")) await (await import("./plot.mjs")).drawAll();
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

let theme;
addEventListener("beforeprint", () => {
  theme = root.dataset.theme;
  root.dataset.theme = "light";
  // A chart that was never near is not drawn: its data stand in for it.
  for (const note of document.querySelectorAll(".hopper-plot-note")) {
    note.closest(".hopper-figure").querySelector("details").open = true;
  }
});
addEventListener("afterprint", () => {
  root.dataset.theme = theme;
});
