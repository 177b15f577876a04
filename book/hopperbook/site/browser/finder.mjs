// Looks the words of a search up in what the explorers know: messages, options, fields (finder.py).

const WORD = /(?<!\S)-[A-Za-z](?![^\s=])|[A-Za-z0-9]+(?:[_-][A-Za-z0-9]+)*/g;
const ENDING = /(?<=...)(?:ing|ed|(?<!s)s)$/;
// Of the words of a search an entry must hold this share, by how rare they are, to be what was meant.
const MEANT = 0.5;

/** The words of a text as finder.py writes them. */
export function words(text) {
  const found = new Set();
  for (const [whole] of text.matchAll(WORD)) {
    if (whole.startsWith("-")) {
      found.add(whole);
      continue;
    }
    const parts = whole.toLowerCase().split(/[_-]/);
    for (const part of parts.length > 1 ? [whole.toLowerCase(), ...parts] : parts) found.add(part.replace(ENDING, ""));
  }
  return [...found];
}

export class Finder {
  #counts = new Map();

  constructor({ pages, entries }) {
    this.pages = pages;
    this.entries = entries.map(([explorer, title, text, control, value]) => ({ explorer, title, control, value, words: new Set(text.split(" ")), titled: new Set(words(title)) }));
    for (const entry of this.entries) for (const word of entry.words) this.#counts.set(word, (this.#counts.get(word) ?? 0) + 1);
  }

  /** How rare a word is, from 0 for one that all entries hold to 1 for one that none does. */
  #rarity(word) {
    const all = this.entries.length + 1;
    return Math.log(all / ((this.#counts.get(word) ?? 0) + 1)) / Math.log(all);
  }

  /** The entries that hold most of what was asked for, or at least a share of it, best first: { entry, share, letters }. */
  find(asked, least = MEANT) {
    const sought = words(asked).map((word) => ({ word, weight: word.length * this.#rarity(word) }));
    const most = sought.reduce((sum, { weight }) => sum + weight, 0);
    const found = this.entries.map((entry) => {
      const held = sought.filter(({ word }) => entry.words.has(word));
      const letters = held.reduce((sum, { word, weight }) => sum + weight * (entry.titled.has(word) ? 1.2 : 1), 0);
      // Of equals the one with fewer other words.
      return { entry, letters, share: most && letters / most, rank: letters - entry.words.size / 1000 };
    });
    return found.filter(({ share }) => share > 0 && share >= least).sort((one, other) => other.rank - one.rank);
  }
}
