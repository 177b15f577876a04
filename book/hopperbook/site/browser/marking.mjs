// Marks answers to self-checks, by the rules that hopperbook.self_checks states in its data.
// A verdict is { right, feedback, readable }: what is not readable counts as no try.

const verdict = (right, feedback, readable = true) => ({ right, feedback, readable });
const filled = (template, parts) => template.replace(/\{(\w+)\}/g, (whole, name) => parts[name] ?? whole);

const PARTS = /^([+-]?[0-9., ]*[0-9])(?:e([+-]?[0-9]{1,3}))?([^0-9].*)?$/i;
const SPACED = /^[+-]?[0-9]{1,3}(?: [0-9]{3})+(?:[.,][0-9]+)?$/;
const PLAIN = /^[+-]?[0-9]*\.?[0-9]+$/;
const TWO_READINGS = /^[+-]?[1-9][0-9]{0,2},[0-9]{3}$/;
const THOUSANDS = /^[+-]?[1-9][0-9]{0,2}(?:,[0-9]{3})+(?:\.[0-9]+)?$/;
const DECIMAL_COMMA = /^[+-]?[0-9]*,[0-9]+$/;

const strip = (text, characters) => text.replace(new RegExp(`^[${characters}]+|[${characters}]+$`, "g"), "");
const folded = (unit) => unit.replaceAll(" ", "").toLowerCase();

/** Read a typed number: { number } or { problem }, with the messages of the check. */
export function readTypedNumber(text, { unit, spellings, messages }) {
  const typed = strip(text.replaceAll("\u2212", "-").replace(/[\u00a0\u2009\u202f\t]/g, " "), " ");
  if (!typed) return { problem: messages.empty };
  const unreadable = { problem: filled(messages.not_a_number, { text: typed }) };
  const parts = PARTS.exec(typed);
  if (!parts) return unreadable;
  const [, digits, power = "0"] = parts;
  const after = strip(parts[3] ?? "", " .");
  let plain;
  if (digits.includes(" ")) {
    if (!SPACED.test(digits)) return unreadable;
    plain = digits.replaceAll(" ", "").replaceAll(",", ".");
  } else if (PLAIN.test(digits)) {
    plain = digits;
  } else if (TWO_READINGS.test(digits)) {
    const readings = { thousands: digits.replaceAll(",", ""), decimal: digits.replaceAll(",", ".") };
    return { problem: filled(messages.two_readings, { text: typed, ...readings }) };
  } else if (THOUSANDS.test(digits)) {
    plain = digits.replaceAll(",", "");
  } else if (DECIMAL_COMMA.test(digits)) {
    plain = digits.replaceAll(",", ".");
  } else {
    return unreadable;
  }
  const number = Number(`${plain}e${power}`);
  if (!Number.isFinite(number)) return unreadable;
  if (after && !unit) return { problem: filled(messages.no_unit, { given: after }) };
  if (after && ![unit, ...spellings].map(folded).includes(folded(after))) {
    return { problem: filled(messages.other_unit, { unit, given: after }) };
  }
  return { number };
}

function markNumber(check, text) {
  const { number, problem } = readTypedNumber(text, check);
  if (problem) return verdict(false, problem, false);
  if (check.low <= number && number <= check.high) return verdict(true, check.explanation);
  const mistake = check.mistakes.find(({ low, high }) => low <= number && number <= high);
  return verdict(false, mistake?.feedback ?? check.wrong);
}

function markChoice(check, chosen) {
  if (chosen.length === 0) return verdict(false, check.messages.empty, false);
  const picked = check.options.filter((_, i) => chosen.includes(i));
  const mistaken = picked.filter((option) => !option.right);
  if (mistaken.length > 0) return verdict(false, [...new Set(mistaken.map((option) => option.feedback))].join(" "));
  const right = check.options.filter((option) => option.right);
  if (picked.length < right.length) {
    return verdict(false, filled(check.messages.more, { chosen: String(picked.length), right: String(right.length) }));
  }
  return verdict(true, [...new Set([...right.map((option) => option.feedback), check.explanation])].join(" "));
}

const COMPARE = {
  "==": (a, b) => a === b,
  "!=": (a, b) => a !== b,
  "<": (a, b) => a < b,
  "<=": (a, b) => a <= b,
  ">": (a, b) => a > b,
  ">=": (a, b) => a >= b,
};

function markGoal(check, facts) {
  if (!facts) return verdict(false, check.messages.empty, false);
  const holds = ({ fact, operator, target }) => typeof facts[fact] === typeof target && COMPARE[operator](facts[fact], target);
  const missed = check.conditions.find((condition) => !holds(condition));
  return missed ? verdict(false, missed.feedback) : verdict(true, check.explanation);
}

/** Return how far a curve lies off, on average. [% of the chart's height] */
function offPercent({ answer, high }, heights) {
  const total = heights.reduce((sum, height, i) => sum + Math.abs(height - answer[i]), 0);
  return Math.floor((100 * total) / answer.length / high + 0.5);
}

function markCurve(check, heights) {
  if (heights.length !== check.x.length) return verdict(false, check.messages.empty, false);
  const off = offPercent(check, heights);
  const said = filled(check.messages.off, { off: String(off) });
  return off <= check.within ? verdict(true, `${said} ${check.explanation}`) : verdict(false, said);
}

const KINDS = { number: markNumber, choice: markChoice, goal: markGoal, curve: markCurve };

/** Mark an answer: text for a number, indices for a choice, facts for a goal, heights for a curve. */
export function mark(check, answer) {
  return KINDS[check.kind](check, answer);
}
