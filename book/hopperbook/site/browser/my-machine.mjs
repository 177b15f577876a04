// The reader's machine: chosen once at the top of any page, from those there are or as a file, kept in this browser,
// and put into every explorer that asks for a machine. Any other file, and what is pasted beside a field, goes to the box.

import { announce, dataOf, make } from "./dom.mjs";
import { titleOf } from "./machine-menu.mjs";
import { machines, own } from "./machines.mjs";
import { textOf, together } from "./textfile.mjs";

const KEY = "hopper.machine"; // { name } or { title, file }
const FILE = "a file";
const GIVEN = "hopper.given"; // a text on its way to the box, from page to page

/** Return the reader's machine: { name } or { file }, each with title and says; or null. */
function mine() {
  let kept = null;
  try {
    kept = JSON.parse(localStorage.getItem(KEY));
  } catch {
    // What cannot be read counts as nothing.
  }
  if (kept?.name in machines) return { name: kept.name, ...machines[kept.name] };
  if (kept?.file) return kept;
  return kept?.none ? null : own;
}

function keep(machine) {
  try {
    localStorage.setItem(KEY, JSON.stringify(machine ?? { none: true }));
  } catch {
    // Without a store it holds for this page.
  }
}

/** Do something with what is kept for the visit; nothing where a browser keeps nothing. */
function session(act) {
  try {
    return act(sessionStorage);
  } catch {
    return null;
  }
}

/** Give a text to the box that reads anything, on the front page. */
function toTheBox(text) {
  const box = document.getElementById("explorer-identify");
  if (box) {
    box.hopperSet({ text });
    box.scrollIntoView();
    return;
  }
  if (!session((kept) => (kept.setItem(GIVEN, text), true))) {
    announce("This browser keeps nothing: paste it into the box on the front page");
    return;
  }
  location.href = new URL("../../book/index.html#explorer-identify", import.meta.url).href;
}

/** Start the bar at the top of a page. */
export function startMachineBar(bar) {
  const id = "hopper-my-machine";
  const select = make("select", { id });
  const pick = make("input", { type: "file", multiple: "", id: `${id}-file`, "aria-describedby": `${id}-said` });
  const said = make("span", { id: `${id}-said`, class: "hopper-machine-said", role: "status" });
  bar.append(
    make("label", { for: id }, "My machine"),
    select,
    make("span", { class: "hopper-pick" }, make("label", { class: "hopper-button", for: pick.id }, "Use a file"), pick),
    make("a", { href: new URL("../../book/index.html#explorer-identify", import.meta.url).href }, "Paste anything"),
    said,
  );
  const show = () => {
    const machine = mine();
    const offered = Object.entries(machines).map(([name, { title }]) => [name, title]);
    if (machine?.file) offered.unshift([FILE, machine.title]);
    select.replaceChildren(make("option", { value: "" }, "not chosen"), ...offered.map(([value, title]) => make("option", { value }, title)));
    select.value = machine ? (machine.name ?? FILE) : "";
    said.textContent = machine?.says ?? "";
    if (machine?.file) for (const section of document.querySelectorAll(".hopper-explorer")) section.hopperMenu?.offer(machine.file);
    today(machine);
  };
  select.addEventListener("change", () => {
    if (select.value !== FILE) keep(select.value ? { name: select.value } : null);
    show();
    useNear();
  });
  const take = async (files) => {
    const [file] = files;
    if (!file) return;
    said.textContent = `Reading ${file.name} …`;
    try {
      const texts = await Promise.all([...files].map(textOf));
      const [text] = texts;
      if (texts.length > 1 || !(file.name.endsWith(".toml") || text.includes("[[node]]"))) {
        toTheBox(texts.length > 1 ? together(files, texts) : text);
        said.textContent = "";
        return;
      }
      const { python } = await import("./python.mjs");
      const answer = await python.answer("machines", { machine_file: text }, false, {});
      if (!answer.ok) throw new Error(answer.error.message);
      const title = titleOf(text, file.name);
      keep({ title, file: text, says: `${title}, from your file ${file.name}.` });
      show();
      useNear();
    } catch (error) {
      said.textContent = `${file.name} is not used: ${error.message}`;
    }
  };
  pick.addEventListener("change", () => take(pick.files).then(() => (pick.value = "")));
  bar.addEventListener("dragover", (event) => event.preventDefault());
  bar.addEventListener("drop", (event) => {
    event.preventDefault();
    take(event.dataTransfer.files);
  });
  document.addEventListener("paste", ({ target, clipboardData }) => {
    const text = clipboardData?.getData("text/plain") ?? "";
    if (text.trim() && !target.closest("input, textarea, [contenteditable]")) toTheBox(text);
  });
  if (document.getElementById("explorer-identify")) {
    const given = session((kept) => kept.getItem(GIVEN));
    session((kept) => kept.removeItem(GIVEN));
    if (given) toTheBox(given);
  }
  show();
  watchExplorers();
}

/** The control of an explorer that asks for a machine, if it offers this one. */
function settingFor(section, machine) {
  const { spec } = dataOf(section);
  const names = new Set(spec.controls.map(({ name }) => name));
  if (machine.file) return names.has("machine_file") ? { machine_file: machine.file } : null;
  const control = spec.controls.find(({ options }) => options?.some(([value]) => value === machine.name));
  if (!control) return null;
  return { [control.name]: machine.name, ...(names.has("machine_file") ? { machine_file: "" } : {}) };
}

const near = new Set();

function use(section) {
  const machine = mine();
  const setting = machine && settingFor(section, machine);
  section.querySelector(".hopper-not-mine")?.remove();
  if (!setting) {
    // A question that asks for no machine has nothing to say.
    if (machine && dataOf(section).spec.controls.some(({ name }) => name === "machine_file")) {
      const words = `${machine.title} is not used here: its file does not state what this question asks for.`;
      section.querySelector("form").prepend(make("p", { class: "hopper-help hopper-not-mine", role: "note" }, words));
    }
    return;
  }
  const all = section.querySelector(".hopper-form").hasAttribute("data-all");
  section.hopperSet(setting, true);
  // The bar at the top says which machine it is; its file need not be spread out.
  section.hopperForm.showAll(all);
}

function useNear() {
  for (const section of document.querySelectorAll(".hopper-explorer")) section.hopperMachineDone = false;
  for (const section of near) once(section);
}

/** Use the machine; where the text is an example, made for another machine, only once it is the reader's own. */
function once(section) {
  if (section.hopperMachineDone) return;
  const { spec, start } = dataOf(section);
  const example = spec.controls.find(({ kind, name, advanced }) => ["text", "file"].includes(kind) && !advanced && start[name]);
  const field = example && section.querySelector(`[name="${example.name}"]`);
  if (field && field.value.trim() === start[example.name].trim()) {
    field.addEventListener("input", () => once(section), { once: true });
    return;
  }
  section.hopperMachineDone = true;
  use(section);
}

/** Put the machine into an explorer when it comes near, unless the address says another. */
function watchExplorers() {
  const seen = new IntersectionObserver(
    (entries) => {
      for (const { target, isIntersecting } of entries) {
        if (!isIntersecting) near.delete(target);
        else if (target.hopperSet) {
          near.add(target);
          once(target);
        }
      }
    },
    { rootMargin: "300px" },
  );
  for (const section of document.querySelectorAll(".hopper-explorer")) {
    section.hopperMachineDone = /(machine|floor)=/.test(decodeURIComponent(location.hash)) || navigator.connection?.saveData === true;
    seen.observe(section);
  }
}

/** Say the machine where a page is about machines of today. */
function today(machine) {
  const heading = document.querySelector("#on-your-machine-today :is(h2, h3)");
  if (!heading) return;
  document.getElementById("hopper-today")?.remove();
  if (!machine) return;
  const explorer = document.querySelector(".hopper-explorer");
  const link = explorer && settingFor(explorer, machine) ? make("a", { href: `#${explorer.id}` }, " The explorer above starts with it.") : "";
  // The section may be folded below its heading.
  (heading.closest("summary") ?? heading).after(make("p", { id: "hopper-today" }, `Your machine: ${machine.says}`, link));
}
