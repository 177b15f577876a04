// What a room gained: the share of right answers by aim, in the test before and in the one after.

import { make } from "./dom.mjs";
import { isRight } from "./guessed.mjs";

/** Return the share of right answers by variant and aim: { before: { <aim>: [right, all] }, ... }. */
export function byAim(participants, checks) {
  const counted = {};
  for (const [name, { guess }] of participants.flatMap(Object.entries)) {
    const [, variant, aim] = /^test-(before|after)-(.+)$/.exec(name) ?? [];
    const check = checks.get(name);
    if (!check) continue;
    const [right, all] = ((counted[variant] ??= {})[aim] ??= [0, 0]);
    counted[variant][aim] = [right + (isRight(check, guess) ? 1 : 0), all + 1];
  }
  return counted;
}

const words = ([right, all] = [0, 0]) => (all ? `${right} of ${all}` : "–");
const sum = (counts) => Object.values(counts ?? {}).reduce(([right, all], [more, of]) => [right + more, all + of], [0, 0]);

/** Return the table of both tests. */
export function gainTable(participants, checks, aims) {
  const counted = byAim(participants, checks);
  const rows = aims.map(({ key, module, aim }) => [`${module}: ${aim}`, words(counted.before?.[key]), words(counted.after?.[key])]);
  rows.push(["All questions", words(sum(counted.before)), words(sum(counted.after))]);
  return make("div", { class: "hopper-scroll", role: "group", tabindex: "0", "aria-label": "Right answers by aim" },
    make("table", { class: "hopper-table" },
      make("caption", {}, "Right answers by aim"),
      make("thead", {}, make("tr", {}, ["Aim", "Before", "After"].map((text) => make("th", { scope: "col" }, text)))),
      make("tbody", {}, rows.map((row) => make("tr", {}, row.map((cell) => make("td", {}, cell)))))));
}
