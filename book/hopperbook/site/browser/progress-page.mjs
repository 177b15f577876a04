// The progress page: which studies were read, how the self-checks went, and how to take it along or forget it.

import { copyText, dataOf, make, saveFile, withoutTicks } from "./dom.mjs";
import { exportText, importText, load, predictionsText, reset } from "./progress.mjs";
import { whenMade } from "./touched.mjs";

/** Return the words for a self-check's record. */
function outcome(record) {
  if (record.off) return `${record.right ? "predicted" : "predicted otherwise"}${whenMade(record)}: ${String(record.off).split(". ")[0].replace(/\.$/, "")}`;
  if (record.guess) return record.right ? `predicted${whenMade(record)}` : `predicted ${withoutTicks(record.guess)}${whenMade(record)}; it is ${withoutTicks(record.answer)}`;
  if (record.right && !record.shown) return record.tries > 1 ? `right after ${record.tries} tries` : "right at once";
  if (record.right) return "right, after the answer was shown";
  return record.shown ? "answer shown" : "not right yet";
}

/** Return how many predictions were made before a control was touched, and how many after; nothing without any. */
function predictions(answered) {
  const made = answered.map(([, record]) => record).filter(({ guess, before }) => guess && before !== undefined);
  if (made.length === 0) return "";
  const counted = (kept) => `${kept.filter(({ right }) => right).length} of ${kept.length} right`;
  return make("p", {}, `Predictions made before trying: ${counted(made.filter(({ before }) => before))}; after trying: ${counted(made.filter(({ before }) => !before))}.`);
}

/** Return a table of rows, or a sentence if there are none. */
function table(caption, headings, rows, none) {
  if (rows.length === 0) return make("p", {}, none);
  return make("div", { class: "hopper-scroll", role: "group", tabindex: "0", "aria-label": caption },
    make("table", { class: "hopper-table" },
      make("caption", {}, caption),
      make("thead", {}, make("tr", {}, headings.map((text) => make("th", { scope: "col" }, text)))),
      make("tbody", {}, rows.map((row) => make("tr", {}, row.map((cell) => make("td", {}, cell)))))));
}

/** Return a function that links to a page of the book; only names that look like one of its pages are linked. */
function linker(studies) {
  const root = document.documentElement.dataset.content_root ?? "../";
  const titles = Object.fromEntries(studies.map(({ page, title }) => [page, title]));
  return (page, title) => {
    if (!/^[\w/-]+$/.test(page ?? "")) return page ?? "";
    return make("a", { href: `${root}${page}.html` }, titles[page] ?? title ?? page);
  };
}

/** Start the page. */
export function startProgress(box) {
  const { studies } = dataOf(box);
  const pageLink = linker(studies);
  const status = make("p", { role: "status" });
  const lists = make("div");
  const file = make("input", { type: "file", accept: ".json,application/json", id: "hopper-import" });
  const show = () => {
    const { checks, read, last } = load();
    const answered = Object.entries(checks);
    const rightOn = (page) => answered.filter(([, record]) => record.right && record.page === page).length;
    const done = studies.filter(({ page }) => read[page]).length;
    const asked = studies.reduce((sum, study) => sum + study.checks, 0);
    const right = studies.reduce((sum, { page }) => sum + rightOn(page), 0);
    const onward = last?.page
      ? make("p", {}, "Go on where you were: ", pageLink(last.page, String(last.title ?? last.page)))
      : make("p", {}, "No study has been opened yet. ", pageLink("book/routes", "Ways through the book"), " lead through them.");
    lists.replaceChildren(
      onward,
      make("p", {}, `${done} of ${studies.length} studies read, ${right} of ${asked} self-checks right.`),
      predictions(answered),
      table("Studies", ["Study", "Read", "Self-checks right"],
        studies.map(({ page, checks: all }) => [pageLink(page), (read[page] ?? "").slice(0, 10) || "–", all ? `${rightOn(page)} of ${all}` : "none there"]), ""),
      table("Self-checks answered", ["Question", "Study", "Outcome"],
        answered.map(([name, record]) => [withoutTicks(record.question ?? name), pageLink(record.page), outcome(record)]),
        "No self-check has been answered."),
    );
  };
  const take = make("button", { type: "button", class: "hopper-button" }, "Save as a file");
  take.addEventListener("click", () => saveFile("hopper-progress.json", exportText(), "application/json"));
  const share = make("button", { type: "button", class: "hopper-button" }, "Copy my predictions as a short text");
  share.addEventListener("click", () => copyText(predictionsText(), share));
  const forget = make("button", { type: "button", class: "hopper-button" }, "Forget everything");
  forget.addEventListener("click", () => {
    if (forget.dataset.sure) {
      reset();
      delete forget.dataset.sure;
      forget.textContent = "Forget everything";
      status.textContent = "All progress is forgotten.";
    } else {
      forget.dataset.sure = "asked";
      forget.textContent = "Really forget everything?";
      status.textContent = "Press once more to forget all progress. It cannot be brought back.";
    }
  });
  file.addEventListener("change", async () => {
    try {
      importText(await file.files[0].text());
      status.textContent = "The file was added to what was here.";
    } catch (error) {
      status.textContent = error.message;
    }
    file.value = "";
  });
  addEventListener("hopper-progress", show);
  show();
  box.append(
    lists,
    make("p", { class: "hopper-actions" }, take, " ", share, " ", forget),
    make("p", { class: "hopper-actions" }, make("label", { for: "hopper-import" }, "Add the progress of another browser:"), " ", file),
    status,
  );
}
