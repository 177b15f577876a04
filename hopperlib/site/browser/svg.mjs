// Drawings arrive as SVG text. Only shapes, text and the attributes that place and name them get into the page.

const NAMESPACE = "http://www.w3.org/2000/svg";

const ELEMENTS = new Set(
  ("svg g defs title desc path rect circle ellipse line polyline polygon text tspan pattern marker clipPath use symbol " +
    "linearGradient stop").split(" "),
);

const ATTRIBUTES = new Set(
  ("class id role viewBox width height x y x1 y1 x2 y2 cx cy r rx ry d points dx dy transform preserveAspectRatio " +
    "text-anchor dominant-baseline font-size font-weight font-style font-family letter-spacing fill fill-opacity " +
    "fill-rule stroke stroke-width stroke-dasharray stroke-dashoffset stroke-linecap stroke-linejoin stroke-opacity " +
    "opacity patternUnits patternTransform patternContentUnits markerWidth markerHeight markerUnits refX refY orient " +
    "marker-start marker-mid marker-end clip-path clipPathUnits offset stop-color stop-opacity gradientUnits tabindex " +
    "focusable vector-effect paint-order textLength lengthAdjust xml:space").split(" "),
);

/** Return the drawing as an element made of allowed parts only. */
export function drawingFrom(text) {
  const parsed = new DOMParser().parseFromString(text, "image/svg+xml");
  if (parsed.querySelector("parsererror") || parsed.documentElement.localName !== "svg") {
    throw new Error("the drawing is no SVG");
  }
  return cleaned(parsed.documentElement);
}

function cleaned(source) {
  const element = document.createElementNS(NAMESPACE, source.localName);
  for (const { name, value } of source.attributes) {
    if (allowed(name, value)) element.setAttribute(name, value);
  }
  for (const child of source.childNodes) {
    if (child.nodeType === Node.TEXT_NODE) element.append(child.data);
    else if (child.nodeType === Node.ELEMENT_NODE && ELEMENTS.has(child.localName)) element.append(cleaned(child));
  }
  return element;
}

function allowed(name, value) {
  // A reference may point into the drawing, and nowhere else.
  if (name === "href" || name === "xlink:href") return value.startsWith("#");
  if (/url\s*\(/i.test(value) && !/^url\(#[\w-]+\)$/.test(value)) return false;
  return ATTRIBUTES.has(name) || name.startsWith("aria-") || name.startsWith("data-");
}
