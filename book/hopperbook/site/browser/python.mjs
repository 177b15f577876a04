// The page's one worker, shared by all explorers, and by the pages of a visit where the browser lets it live from one to
// the next. It starts when first needed.

// How long nothing may be heard of an answer before the worker counts as dead. [ms]
const PATIENCE = { start: 90_000, light: 20_000, heavy: 60_000 };

/** Why there is no answer: "start" (Python cannot start), "dead", "cancelled" or "model" (a defect of the model). */
export class Failure extends Error {
  constructor(kind, message) {
    super(message);
    this.kind = kind;
  }
}

// Whether a worker can outlive its page: a browser that knows of it asks for the option before it refuses the address.
let livesOn = false;
try {
  new SharedWorker("//[", { get extendedLifetime() { return (livesOn = true); } });
} catch {
  // As expected.
}

// The name of the visit's worker is kept for as long as the tab; the worker lives this long after the last page. [ms]
const VISIT = "hopper-python";
const KEPT = 60_000;

/** Return what takes messages to Python and back, or none if pages cannot share it. */
function ofVisit(code, broken) {
  try {
    const name = sessionStorage.getItem(VISIT) ?? `${VISIT}-${Math.random()}`;
    sessionStorage.setItem(VISIT, name);
    const worker = new SharedWorker(code, { type: "module", name, extendedLifetime: true });
    worker.onerror = broken;
    // It ends when it has done what it was asked before; who asks next has one of another name.
    const terminate = () => {
      if (sessionStorage.getItem(VISIT) === name) sessionStorage.removeItem(VISIT);
      worker.port.postMessage({ end: true });
    };
    return Object.assign(worker.port, { terminate, shared: true });
  } catch {
    return null; // such as where nothing may be kept
  }
}

function ofPage(code, broken) {
  // From a blob it inherits the page's policy: it, too, can reach this site's host alone.
  const blob = URL.createObjectURL(new Blob([`import ${JSON.stringify(code)};`], { type: "text/javascript" }));
  return Object.assign(new Worker(blob, { type: "module", name: "python" }), { onerror: broken });
}

export class Python {
  #calls = new Map();
  #how;
  // Unlike those of other pages of the visit.
  #next = Math.floor(performance.timeOrigin);
  #begun; // when the worker was started or found
  #watch;
  #watching = {}; // the machine that was asked for last
  worker = null;
  ready = false;

  /** `apart`: in a worker that no other page shares; `largest`: the memory in bytes above which the next call begins in a new one. */
  constructor({ apart = false, patience = PATIENCE, largest = Infinity } = {}) {
    this.#how = { apart, patience, largest };
  }

  /** Start the worker, unless it runs. */
  warm() {
    if (this.worker) return;
    this.#begun = performance.now();
    const code = new URL("./worker.mjs", import.meta.url).href;
    const broken = (event) => {
      event.preventDefault();
      if (worker === this.worker) this.#fail(new Failure("start", event.message || "the worker cannot be loaded"));
    };
    const worker = (livesOn && !this.#how.apart && ofVisit(code, broken)) || ofPage(code, broken);
    worker.onmessage = ({ data }) => worker === this.worker && this.#hear(data);
    this.worker = worker;
    this.#wait(this.#how.patience.start, new Failure("start", "Python has not started within a minute and a half"));
  }

  /**
   * Return the answer of an explorer: the parsed result of `answer_json`; `soFar` is given what is known before, `beat` is
   * called while Python works on it, and `machine` is given the machine to watch, as it grows, with the key by which
   * `watched` asks for more.
   */
  answer(name, values, heavy, { soFar, beat, machine } = {}) {
    return this.#ask({ name, values: JSON.stringify(values), watched: Boolean(machine) }, { heavy, soFar, beat, machine });
  }

  /** Return of a machine that was asked for its "recording" from an instant on, or its "links" then; "" if it is forgotten. */
  watched(key, what, minute) {
    return this.#ask({ key, what, seconds: 60 * minute }, { heavy: true });
  }

  /** Run a text of Python; return what it prints, its error, and its first value that is not the wanted one. */
  run(source, values) {
    return this.#ask({ source, values: JSON.stringify(values) }, { heavy: false });
  }

  /** Whether an answer is being worked out. */
  get busy() {
    return this.#calls.size > 0;
  }

  #ask(message, how) {
    this.warm();
    const id = this.#next++;
    if (how.machine) this.#watching = { id, show: how.machine };
    return new Promise((resolve, reject) => {
      this.#calls.set(id, { resolve, reject, ...how });
      this.worker.postMessage({ id, ...message });
      if (this.ready) this.#watchAnswers();
    });
  }

  /** Leave the worker to the next page, or give it up if it has something to do: the next need not wait for that. */
  leave() {
    if (!this.worker?.shared) return;
    if (this.#calls.size > 0) this.worker.terminate();
    else this.worker.postMessage({ left: KEPT });
    this.worker = null;
    // Where the browser shows this page again, it finds the worker, or starts one, and asks again.
    addEventListener("pageshow", () => this.stop(), { once: true });
  }

  /** Stop the worker; whatever it was asked fails with this failure. */
  stop(failure = new Failure("cancelled", "stopped")) {
    this.#fail(failure);
  }

  #hear(message) {
    if (message.ready) {
      this.ready = true;
      performance.measure("hopper: Python started", { start: this.#begun, detail: message.from });
    } else if (message.broken) {
      const kind = this.ready ? "dead" : "start";
      this.#fail(new Failure(kind, message.broken));
      return;
    } else if (message.soFar) {
      this.#calls.get(message.id).soFar?.(JSON.parse(message.soFar));
    } else if ("beat" in message) {
      this.#calls.get(message.id)?.beat?.();
    } else if (message.machine) {
      if (this.#watching.id === message.id) this.#watching.show(JSON.parse(message.machine), message.id);
    } else {
      const call = this.#calls.get(message.id);
      this.#calls.delete(message.id);
      if (message.failure) call.reject(new Failure("model", message.failure));
      else call.resolve(JSON.parse(message.answer));
      if (message.bytes > this.#how.largest) this.stop();
    }
    this.#watchAnswers();
  }

  #watchAnswers() {
    clearTimeout(this.#watch);
    if (this.#calls.size === 0) return;
    const heavy = [...this.#calls.values()].some((call) => call.heavy);
    const patience = heavy ? this.#how.patience.heavy : this.#how.patience.light;
    this.#wait(patience, new Failure("dead", `Python has not answered within ${patience / 1000} seconds`));
  }

  #wait(milliseconds, failure) {
    clearTimeout(this.#watch);
    this.#watch = setTimeout(() => this.#fail(failure), milliseconds);
  }

  #fail(failure) {
    clearTimeout(this.#watch);
    this.worker?.terminate();
    this.worker = null;
    this.ready = false;
    const calls = [...this.#calls.values()];
    this.#calls.clear();
    for (const call of calls) call.reject(failure);
  }
}

export const python = new Python();
addEventListener("pagehide", () => python.leave());
