// What somebody answered, read back from the words in which it is kept (prediction.mjs writes them).

import { mark } from "./marking.mjs";

/** Return an answer as marking takes it: the typed text, the numbers of the chosen options, the heights of a curve. */
export function givenOf(check, guess) {
  if (check.kind === "number") return guess;
  if (check.kind === "curve") return guess.split(" ").map(Number);
  // An option may hold a comma: the longest text that fits comes first.
  let rest = guess;
  const chosen = [];
  for (const [i, { text }] of [...check.options.entries()].sort(([, a], [, b]) => b.text.length - a.text.length)) {
    if (`, ${rest}, `.includes(`, ${text}, `)) {
      chosen.push(i);
      rest = `, ${rest}, `.replace(`, ${text}, `, ", ").replace(/^, |, $/g, "");
    }
  }
  return chosen.sort((a, b) => a - b);
}

/** Whether an answer is right; what cannot be read, such as "I do not know", is not. */
export const isRight = (check, guess) => mark(check, givenOf(check, guess)).right;
