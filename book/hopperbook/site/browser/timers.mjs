// Named timers: setting one again replaces it.

export class Timers {
  #running = new Map();

  set(name, milliseconds, act) {
    this.clear(name);
    const id = setTimeout(() => {
      this.#running.delete(name);
      act();
    }, milliseconds);
    this.#running.set(name, { id, act });
  }

  clear(...names) {
    for (const name of names) {
      clearTimeout(this.#running.get(name)?.id);
      this.#running.delete(name);
    }
  }

  has(name) {
    return this.#running.has(name);
  }

  /** Do now what a timer would do later. */
  hurry(name) {
    const act = this.#running.get(name)?.act;
    this.clear(name);
    act?.();
  }
}
