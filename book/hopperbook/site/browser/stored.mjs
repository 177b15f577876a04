// Answers of a heavy question that the build stored: each control moved alone from the start, and the examples. One
// compressed file holds them as changes against the answer at the start (stored_answers.py).

/** Return the text of a reply that may be compressed still, or have been unpacked on the way. */
async function textOf(reply) {
  const bytes = await reply.arrayBuffer();
  const [first, second] = new Uint8Array(bytes, 0, 2);
  if (first !== 0x1f || second !== 0x8b) return new TextDecoder().decode(bytes);
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
}

/** Return a value with a change applied: `[value]` in its place, or changes by key, or none. */
function applied(before, change) {
  if (change === undefined || change === null) return before;
  if (Array.isArray(change)) return change[0];
  if (Array.isArray(before)) return before.map((part, i) => applied(part, change[i]));
  return Object.fromEntries(Object.entries(before).map(([key, part]) => [key, applied(part, change[key])]));
}

export class Stored {
  #name;
  #start;
  #kept;
  #asked;

  /**
   * @param name   the file
   * @param start  the values of the controls that its answers start from
   */
  constructor(name, start) {
    this.#name = name;
    this.#start = start;
  }

  /** Fetch the file, unless it is there. */
  fetch() {
    return (this.#asked ??= fetch(new URL(`../answers/${this.#name}`, import.meta.url))
      .then(async (reply) => (this.#kept = reply.ok ? JSON.parse(await textOf(reply)) : { moves: {} }))
      .catch(() => (this.#kept = { moves: {} })));
  }

  /** Return the answer to a setting if it is stored, and the file is here. */
  at(values) {
    if (!this.#kept) return undefined;
    const { start, moves, answers } = this.#kept;
    const moved = Object.keys(values).filter((name) => String(values[name]) !== String(this.#start[name])).sort();
    if (moved.length === 0) return start;
    const at = moves[moved.map((name) => `${name}=${values[name]}`).join(" ")];
    return at === undefined ? undefined : applied(start, answers[at]);
  }
}
