// A setting in the fragment of the address: #placement.tasks=12&placement.order=xyz
// Several explorers share it. A fragment without "=" is an ordinary link into the page and stays as it is.

/** Return the settings that the address gives for an explorer, as text by control. */
export function readSetting(key) {
  const fragment = location.hash.slice(1);
  if (!fragment.includes("=")) return {};
  const mine = [...new URLSearchParams(fragment)].filter(([name]) => name.startsWith(`${key}.`));
  return Object.fromEntries(mine.map(([name, value]) => [name.slice(key.length + 1), value]));
}

/** Return what differs from the start, of controls that may stand in an address. */
export function sharedPart(controls, start, values) {
  const names = controls.filter((control) => control.shareable).map((control) => control.name);
  return Object.fromEntries(names.filter((name) => String(values[name]) !== String(start[name])).map((name) => [name, values[name]]));
}

function fragmentWith(key, setting) {
  const fragment = location.hash.slice(1);
  const kept = fragment.includes("=") ? [...new URLSearchParams(fragment)] : [];
  const others = kept.filter(([name]) => !name.startsWith(`${key}.`));
  const mine = Object.entries(setting).map(([name, value]) => [`${key}.${name}`, String(value)]);
  return new URLSearchParams([...others, ...mine]).toString();
}

/** Put an explorer's setting into the address, without a new entry in the history. */
export function writeSetting(key, setting) {
  const anchor = !location.hash.includes("=");
  if (anchor && Object.keys(setting).length === 0) return;
  const fragment = fragmentWith(key, setting);
  history.replaceState(history.state, "", fragment ? `#${fragment}` : location.pathname + location.search);
}

/** Return a link to this page with one explorer's setting. */
export function linkTo(key, elementId, setting) {
  const mine = Object.entries(setting).map(([name, value]) => [`${key}.${name}`, String(value)]);
  const fragment = mine.length > 0 ? new URLSearchParams(mine).toString() : elementId;
  return `${location.origin}${location.pathname}${location.search}#${fragment}`;
}
