// A link to what an explorer shows; what was typed is in it only if the reader says so.

import { linkTo, sharedPart } from "./address.mjs";
import { copyText } from "./dom.mjs";
import { button } from "./form.mjs";

// What is typed goes into a link up to this length. [characters]
const LONGEST_IN_LINK = 1500;

/** Copy a link to an explorer's setting; offer one with what was typed. */
export function copyLink({ form, spec, start, key, section }, pressed) {
  const values = form.values();
  const shared = sharedPart(spec.controls, start, values);
  copyText(linkTo(key, section.id, shared), pressed);
  section.querySelector(".hopper-with-text")?.remove();
  const typed = spec.controls
    .filter(({ shareable, name }) => !shareable && values[name] !== start[name] && values[name].length <= LONGEST_IN_LINK)
    .map(({ name }) => [name, values[name]]);
  if (typed.length === 0) return;
  const link = linkTo(key, section.id, { ...shared, ...Object.fromEntries(typed) });
  const offer = button("Copy with what you typed", () => copyText(link, offer), "hopper-button hopper-with-text");
  pressed.after(offer);
}
