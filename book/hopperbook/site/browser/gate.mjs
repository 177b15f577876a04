// What plays out the answer stays covered until the reader has committed to the page's predictions, or does not want to.
//
// One entry of local storage, "hopper.open": { all: true, pages: [<page>] }, where readers asked to see it without.

import { announce, make } from "./dom.mjs";

const KEY = "hopper.open";
const PLAYED = ".hopper-explorer, .hopper-scene, .hopper-story";
const PAGE = location.pathname;

/** Return what is shown without predictions: all pages, or some. */
export function opened() {
  try {
    return { all: false, pages: [], ...JSON.parse(localStorage.getItem(KEY)) };
  } catch {
    return { all: false, pages: [] };
  }
}

/** Keep it; a browser that keeps nothing asks again. */
export function keepOpened(what) {
  try {
    localStorage.setItem(KEY, JSON.stringify(what));
  } catch {
    announce("This browser keeps nothing");
  }
}

/** Cover what stands below the predictions of a section. */
export function startGate(section) {
  const explore = document.getElementById("explore");
  const checks = [...section.querySelectorAll(".hopper-check")].filter(({ dataset }) => ["number", "choice", "curve"].includes(dataset.kind));
  const { all, pages } = opened();
  if (!explore || checks.length === 0 || all || pages.includes(PAGE) || ledTo(explore)) return;
  const yours = checks.length > 1 ? "your predictions" : "your prediction";
  const covers = [...explore.querySelectorAll(PLAYED)].map((played) => cover(played, yours, uncover));
  explore.classList.add("hopper-covering");
  const committed = () => checks.every(({ dataset }) => "committed" in dataset) && uncover();
  const led = () => ledTo(explore) && uncover();
  section.addEventListener("hopper-committed", committed);
  addEventListener("hashchange", led);
  committed();

  function uncover() {
    removeEventListener("hashchange", led);
    explore.classList.remove("hopper-covering");
    for (const each of covers) {
      each.closest(".hopper-covered").classList.remove("hopper-covered");
      each.remove();
    }
  }
}

/** Whether the address leads to something in it, or carries a setting. */
function ledTo(explore) {
  const fragment = decodeURIComponent(location.hash.slice(1));
  return fragment.includes("=") || (fragment !== explore.id && explore.contains(document.getElementById(fragment)));
}

function cover(played, yours, uncover) {
  const shows = (label, keep) => {
    const button = make("button", { type: "button", class: "hopper-button" }, label);
    button.addEventListener("click", () => {
      keep();
      uncover();
      // The focus goes on in what is shown now.
      played.tabIndex = -1;
      played.focus();
    });
    return button;
  };
  const box = make("div", { class: "hopper-cover" },
    make("p", {}, "Predict first: ", make("a", { href: "#predict-first" }, yours), "."),
    make("p", { class: "hopper-ends" },
      shows("Skip", () => keepOpened({ ...opened(), pages: [...opened().pages, PAGE] })),
      shows("Never ask", () => keepOpened({ ...opened(), all: true }))));
  played.classList.add("hopper-covered");
  // The controls are not covered, but what they move.
  played.querySelector(".hopper-form, figcaption, .hopper-story-title").after(box);
  return box;
}
