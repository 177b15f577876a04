// A machine file is an entry of the menu of machines beside which it stands, and is chosen and left there.

import { make } from "./dom.mjs";

/** The name that a machine file gives its machine. */
export function titleOf(file, otherwise) {
  return /^\s*title\s*=\s*"([^"]+)"/m.exec(file)?.[1] ?? otherwise;
}

export class MachineMenu {
  #entry = make("option", {});
  #file = ""; // the last one that was used or offered

  /** @param fields  the explorer's controls by name */
  constructor({ machine, floor, machine_file: file }) {
    this.menu = file && (machine ?? floor);
    this.field = file;
  }

  /** Make a file an entry of the menu, to be chosen. */
  offer(file) {
    if (!this.menu) return;
    this.#file = file;
    this.#entry.textContent = `${titleOf(file, "Your machine")} (your file)`;
    if (this.#entry.isConnected) return;
    // What is sent beside a file is the machine that stood there; the file goes before it.
    this.#entry.value = this.menu.value;
    // Last, as a value set by the page means the first entry that has it.
    this.menu.append(this.#entry);
  }

  /** Bring the menu and the file together after one of them was changed. */
  follow() {
    if (!this.menu) return;
    const file = this.field.value.trim() ? this.field.value : "";
    const chosen = this.menu.selectedOptions[0] === this.#entry;
    if (chosen && !file && this.inUse) this.menu.value = this.#entry.value;
    else if (chosen && !file) this.field.value = this.#file;
    else if (!chosen && file && this.inUse) this.field.value = "";
    else if (file) {
      this.offer(file);
      this.#entry.selected = true;
    }
    this.inUse = this.menu.selectedOptions[0] === this.#entry;
  }
}
