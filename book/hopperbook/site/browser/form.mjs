// The controls of an explorer: reading what is set, setting it, and pointing at what is wrong.

import { make, prose } from "./dom.mjs";
import { LARGEST_FILE, textOf, together } from "./textfile.mjs";

// Browsers take seconds to paste more than this into a field, line by line; set at once it takes none. [characters]
const LARGE_PASTE = 20_000;

export class Form {
  /**
   * @param element   the <form>
   * @param controls  the explorer's controls, as data
   * @param changed   called with true when a value is settled, false while it is being typed or dragged
   */
  constructor(element, controls, changed) {
    this.element = element;
    this.controls = controls;
    this.fields = Object.fromEntries(controls.map(({ name }) => [name, this.#box(name).querySelector(`[name="${name}"]`)]));
    element.addEventListener("submit", (event) => {
      event.preventDefault();
      changed(true);
    });
    for (const kind of ["input", "change"]) {
      element.addEventListener(kind, (event) => {
        if (!event.target.name) return;
        this.#echo(event.target.name);
        changed(kind === "change");
      });
    }
    for (const control of controls) {
      if (control.kind === "number") this.#stepWithArrows(control, changed);
      if (control.kind === "file") this.#takeFiles(control, changed);
    }
  }

  #box(name) {
    return this.element.querySelector(`[data-control="${name}"]`);
  }

  /** Return all values as they stand: numbers of scales as numbers, what was typed as text. */
  values() {
    const read = { slider: (field) => Number(field.value), switch: (field) => field.checked };
    return Object.fromEntries(
      this.controls.map(({ name, kind }) => [name, (read[kind] ?? ((field) => field.value))(this.fields[name])]),
    );
  }

  /** Whether a control stands elsewhere than the page came with: moved before this script, or kept by the browser. */
  get moved() {
    return Object.values(this.fields).some((field) => {
      if (field.type === "checkbox") return field.checked !== field.defaultChecked;
      // The browser itself moves a start between two steps, by half of one at most.
      if (field.type === "range") return Math.abs(field.valueAsNumber - Number(field.defaultValue)) > 0.6 * Number(field.step);
      if (field.options) return [...field.options].some(({ defaultSelected }) => defaultSelected) && !field.selectedOptions[0].defaultSelected;
      return field.value !== field.defaultValue;
    });
  }

  /** Set values; return, by control, those that a control cannot show. */
  set(values) {
    const refused = {};
    for (const { name, kind } of this.controls) {
      if (!(name in values)) continue;
      const field = this.fields[name];
      const value = values[name];
      if (kind === "switch") {
        field.checked = value === true || ["true", "on", "1"].includes(String(value).toLowerCase());
      } else if (kind === "choice" && ![...field.options].some((option) => option.value === String(value))) {
        refused[name] = value;
      } else {
        field.value = String(value);
        if (kind === "slider" && Math.abs(field.valueAsNumber - Number(value)) > 1e-9 * Math.abs(field.valueAsNumber)) {
          refused[name] = value;
        }
        if (kind === "slider" && Number.isNaN(Number(value))) refused[name] = value;
      }
      // What was filled in is seen, even where it is folded away.
      if (["text", "file"].includes(kind) && field.value !== "") this.#unfold(name);
      this.#echo(name);
    }
    return refused;
  }

  /** Show every control, or the first ones alone, as many as the screen has room for. */
  showAll(all = !this.element.hasAttribute("data-all")) {
    this.element.toggleAttribute("data-all", all);
    const button = this.element.querySelector(".hopper-all");
    button?.setAttribute("aria-expanded", String(all));
    if (button) button.textContent = all ? "Fewer settings" : `All ${this.controls.length} settings`;
  }

  #unfold(name) {
    if (!this.#box(name).checkVisibility()) this.showAll(true);
  }

  /** Show a scale's number beside it. */
  #echo(name) {
    const { kind, unit } = this.controls.find((control) => control.name === name) ?? {};
    if (kind !== "slider") return;
    const field = this.fields[name];
    const text = unit ? `${Number(field.value)} ${unit}` : String(Number(field.value));
    this.#box(name).querySelector("output").textContent = text;
    if (unit) field.setAttribute("aria-valuetext", text);
  }

  /** Point at a control and say what is wrong with it; return whether there is such a control. */
  refuse(name, message) {
    const field = this.fields[name];
    if (!field) return false;
    const error = this.#box(name).querySelector(".hopper-error");
    error.replaceChildren(...prose(message));
    error.hidden = false;
    field.setAttribute("aria-invalid", "true");
    const described = (field.getAttribute("aria-describedby") ?? "").split(" ").filter((id) => id && id !== error.id);
    field.setAttribute("aria-describedby", [...described, error.id].join(" "));
    this.#unfold(name);
    return true;
  }

  /** Take back what `refuse` said. */
  accept() {
    for (const field of this.element.querySelectorAll("[aria-invalid]")) {
      const error = this.#box(field.name).querySelector(".hopper-error");
      error.hidden = true;
      error.replaceChildren();
      field.removeAttribute("aria-invalid");
      const described = (field.getAttribute("aria-describedby") ?? "").split(" ").filter((id) => id && id !== error.id);
      if (described.length > 0) field.setAttribute("aria-describedby", described.join(" "));
      else field.removeAttribute("aria-describedby");
    }
  }

  #stepWithArrows(control, changed) {
    const field = this.fields[control.name];
    field.addEventListener("keydown", (event) => {
      const direction = { ArrowUp: 1, ArrowDown: -1 }[event.key];
      const number = Number(field.value);
      if (!direction || field.value.trim() === "" || Number.isNaN(number)) return;
      event.preventDefault();
      const moved = Math.min(control.high, Math.max(control.low, number + direction * control.step));
      field.value = String(Number(moved.toPrecision(12)));
      changed(false);
    });
  }

  #takeFiles(control, changed) {
    const box = this.#box(control.name);
    const pick = box.querySelector('input[type="file"]');
    const take = async (given) => {
      const files = [...given].slice(0, control.multiple ? given.length : 1);
      if (files.length === 0) return;
      const sizes = files.map(({ size }) => size);
      if (sizes.reduce((sum, size) => sum + size) > LARGEST_FILE) {
        const what = files.length > 1 ? "These files together are" : `${files[0].name} is`;
        this.refuse(control.name, `${what} larger than 20 MB. Cut out the part that matters and paste it.`);
        return;
      }
      const texts = [];
      for (const file of files) {
        try {
          texts.push(await textOf(file));
        } catch (error) {
          this.refuse(control.name, `${file.name} cannot be read: ${error.message}.`);
          return;
        }
      }
      this.fields[control.name].value = texts.length > 1 ? together(files, texts) : texts[0];
      changed(true);
    };
    const field = this.fields[control.name];
    field.addEventListener("paste", (event) => {
      const text = event.clipboardData?.getData("text/plain") ?? "";
      if (text.length < LARGE_PASTE) return;
      event.preventDefault();
      field.setRangeText(text, field.selectionStart, field.selectionEnd, "end");
      changed(true);
    });
    pick.addEventListener("change", () => take(pick.files).then(() => (pick.value = "")));
    box.addEventListener("dragover", (event) => {
      event.preventDefault();
      box.classList.add("hopper-over");
    });
    box.addEventListener("dragleave", () => box.classList.remove("hopper-over"));
    box.addEventListener("drop", (event) => {
      event.preventDefault();
      box.classList.remove("hopper-over");
      take(event.dataTransfer.files);
    });
  }
}

/** Return a button. */
export function button(label, act, kind = "hopper-button") {
  const element = make("button", { type: "button", class: kind }, label);
  element.addEventListener("click", act);
  return element;
}
