// What a reader has done, kept in this browser and nowhere else.
//
// One entry of local storage, "hopper.progress":
//   { version: 1,
//     checks: { <name of the check>: { right, shown, tries, hints, first, last, page, question } },
//               of a prediction also { guess, answer, before: whether no control was touched before }
//     read: { <page>: <when> },
//     touched: { <page>: <when> } where a control of the page's tools was touched first,
//     last: { page, title } of the study opened last }
// Times are ISO texts; `right` stays true once it was; `shown` says that the answer was looked up before that.

const KEY = "hopper.progress";
const EMPTY = { version: 1, checks: {}, read: {}, touched: {} };

/** Return everything, as plain data. */
export function load() {
  try {
    const kept = JSON.parse(localStorage.getItem(KEY));
    return kept?.version === 1 ? { ...EMPTY, ...kept } : structuredClone(EMPTY);
  } catch {
    return structuredClone(EMPTY);
  }
}

/** Keep everything; return whether the browser let us. */
export function save(progress) {
  try {
    localStorage.setItem(KEY, JSON.stringify(progress));
  } catch {
    return false;
  }
  dispatchEvent(new CustomEvent("hopper-progress"));
  return true;
}

/** Return what is kept about a check, or undefined. */
export function checkRecord(name) {
  return load().checks[name];
}

/** Note something about a check: a try, a hint taken, the answer shown. */
export function noteCheck(name, about, { right = false, tried = false, hint = false, shown = false }) {
  const progress = load();
  const now = new Date().toISOString();
  const before = progress.checks[name] ?? { right: false, shown: false, tries: 0, hints: 0, first: now };
  progress.checks[name] = {
    ...before,
    ...about,
    right: before.right || right,
    shown: before.shown || (shown && !before.right),
    tries: before.tries + (tried && !before.right ? 1 : 0),
    hints: before.hints + (hint ? 1 : 0),
    last: now,
  };
  return save(progress) ? progress.checks[name] : undefined;
}

/** Mark a page as read, or not. */
export function notePage(page, read) {
  const progress = load();
  if (read) progress.read[page] = new Date().toISOString();
  else delete progress.read[page];
  return save(progress);
}

/** Note that a control of a page's tools was touched; only the first time counts. */
export function noteTouch(page) {
  const progress = load();
  if (page in progress.touched) return;
  progress.touched[page] = new Date().toISOString();
  save(progress);
}

/** Remember the study that was opened last, to go on there. */
export function noteVisit(page, title) {
  save({ ...load(), last: { page, title } });
}

/** Return everything as text that `importText` reads. */
export function exportText() {
  return JSON.stringify(load(), null, 2);
}

/** Return the predictions alone as one line, for a class to be laid over each other (room.mjs). */
export function predictionsText() {
  const guessed = Object.entries(load().checks).filter(([, { guess }]) => guess);
  return JSON.stringify({ class: className(), predictions: Object.fromEntries(guessed.map(([name, { page, guess, before }]) => [name, { page, guess, before }])) });
}

/** The class whose link this visit began with: ?class=NAME. */
export function className() {
  try {
    const named = new URLSearchParams(location.search).get("class");
    if (named) sessionStorage.setItem("hopper.class", named.slice(0, 60));
    return sessionStorage.getItem("hopper.class") ?? "";
  } catch {
    return "";
  }
}

/** Add what another browser kept; throws an Error that says what is wrong with the text. */
export function importText(text) {
  let given;
  try {
    given = JSON.parse(text);
  } catch {
    throw new Error("This is no progress file: it cannot be read as JSON.");
  }
  if (given?.version !== 1 || typeof given.checks !== "object" || typeof given.read !== "object") {
    throw new Error("This is no progress file of this book.");
  }
  const mine = load();
  for (const [name, record] of Object.entries(given.checks)) {
    const kept = mine.checks[name];
    mine.checks[name] = kept && (kept.right || !record.right) ? kept : record;
  }
  save({ ...mine, read: { ...given.read, ...mine.read }, touched: { ...given.touched, ...mine.touched } });
}

/** Forget everything. */
export function reset() {
  save(structuredClone(EMPTY));
}
