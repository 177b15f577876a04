// The machines of a figure as a table, for those who would rather read: every few hours of the days that are here.

import { make } from "./dom.mjs";
import { History } from "./machine-data.mjs";

const ROWS = 8; // after the first

function rowsOf({ history: { data, nodes, from, until, length } }) {
  const history = new History(data, nodes);
  return Array.from({ length: length ? ROWS + 1 : 1 }, (_, row) => {
    const minute = Math.floor(from + ((until - from) * row) / ROWS);
    history.go(minute, () => {});
    return [(minute / 60).toFixed(0), Math.round((100 * history.busy) / nodes), history.running, history.free().pieces, history.waiting(minute).length];
  });
}

/** Fill an element that unfolds with a table of each machine. */
export function fillTables(details, machines) {
  if (!details.open) return;
  const tables = machines.map((machine) => {
    const cells = (tag, row, attributes = {}) => make("tr", {}, row.map((cell) => make(tag, attributes, String(cell))));
    const table = make("table", { class: "hopper-table" },
      make("caption", {}, machine.title),
      make("thead", {}, cells("th", ["Hour", "Busy [%]", "Jobs", "Free pieces", "Waiting"], { scope: "col" })),
      make("tbody", {}, rowsOf(machine).map((row) => cells("td", row))));
    return make("div", { class: "hopper-scroll", role: "group", tabindex: 0, "aria-label": machine.title }, table);
  });
  details.replaceChildren(details.firstElementChild, ...tables);
}
