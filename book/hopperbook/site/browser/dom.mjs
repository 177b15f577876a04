// Small helpers around the document. Text goes in as text, never as HTML.

/** Make an element: attributes (undefined, null and false are left out), then children (nodes or text). */
export function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== undefined && value !== null && value !== false) {
      element.setAttribute(name, value === true ? "" : String(value));
    }
  }
  element.append(...children.flat().filter((child) => child !== undefined && child !== null && child !== false));
  return element;
}

/** Read the JSON that the build put into an element. */
export function dataOf(element) {
  return JSON.parse(element.querySelector(":scope > script.hopper-data-block").textContent);
}

/** Whether an element is folded away. Its size is not asked for: the browser would have to lay out all that is folded. */
export const folded = (element) => element.closest("details:not([open])") !== null;

/** Return text as nodes, every other part of what a pattern splits made into an element. */
const marked = (text, pattern, element) => text.split(pattern).map((part, i) => (i % 2 ? element(part) : part)).filter((part) => part !== "");

const spans = (text, pattern, name) => marked(text, pattern, (part) => make("span", { class: name }, part));

/** Return text in which no line breaks between an option and its value, or a number and its unit. */
const quantities = (text) => spans(text, /((?<![\w.,])\d[\d.,]* (?:%|[mn]?s\b|min\b|h\b|[kMGTP]?i?B\b(?:\/s)?))/, "hopper-quantity");
const unbroken = (text) => spans(text, /((?<!\S)--?[A-Za-z][\w-]*(?:=\S+| (?!-)\S+)?)/, "hopper-unbroken").flatMap((part) => (part.tagName ? [part] : quantities(part)));

/** Return text as nodes, with what stands between backticks as code. */
export const prose = (text) => marked(text, /`([^`]+)`/, (code) => make("code", {}, unbroken(code))).flatMap((part) => (part.tagName ? [part] : unbroken(part)));

/** Return text without the marks of code, for names that hold no elements. */
export const withoutTicks = (text) => text.replaceAll("`", "");

/** Let the reader save a text as a file. */
export function saveFile(name, text, mediaType = "text/plain") {
  const address = URL.createObjectURL(new Blob([text], { type: `${mediaType};charset=utf-8` }));
  const link = make("a", { href: address, download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

/** Turn a caption into a file name. */
export function fileName(caption, ending) {
  const stem = caption.toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "");
  return `${stem || "data"}.${ending}`;
}

/** Copy text; say on the button how it went. */
export async function copyText(text, button) {
  let done = true;
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    done = copyBySelection(text);
  }
  say(button, done ? "Copied" : "Not copied: select the text and copy it by hand");
}

/** Copy by the old way, for pages that come from no secure address. */
function copyBySelection(text) {
  const field = make("textarea", { class: "hopper-offscreen", "aria-hidden": "true" });
  field.value = text;
  document.body.append(field);
  field.select();
  const done = document.execCommand("copy");
  field.remove();
  return done;
}

/** Show a word on a button for two seconds, and tell screen readers. */
function say(button, word) {
  const before = button.dataset.label ?? button.textContent;
  button.dataset.label = before;
  button.textContent = word;
  announce(word);
  clearTimeout(Number(button.dataset.timer));
  button.dataset.timer = String(setTimeout(() => (button.textContent = before), 2000));
}

/** Tell screen readers something that stands nowhere on the page. */
export function announce(text) {
  let region = document.getElementById("hopper-announcer");
  if (!region) {
    region = make("p", { id: "hopper-announcer", class: "hopper-offscreen", role: "status" });
    (document.querySelector("main") ?? document.body).append(region);
  }
  region.textContent = text;
}
