// @ts-check
/** The colour scheme of the page around an element, whatever the reader's system prefers. */
import { around } from "./around.js";

/** Below this relative luminance light text is easier to read than dark (WCAG 2.2, contrast ratio). */
const DARK = 0.18;
/** The custom property that passes the scheme, `dark` or `light`, to an element's styles. */
const SEEN = "--plaza-seen";
const ink = /** @type {CanvasRenderingContext2D} */ (Object.assign(document.createElement("canvas"), { width: 1, height: 1 }).getContext("2d", { willReadFrequently: true }));

/**
 * Paint a colour below the painted ones, and return the visible mixture as RGBA.
 * @param {string} colour
 */
function under(colour) {
  ink.globalCompositeOperation = "destination-over";
  ink.fillStyle = colour;
  ink.fillRect(0, 0, 1, 1);
  return ink.getImageData(0, 0, 1, 1).data;
}

/**
 * The relative luminance of a colour, 0 to 1; the exponent 2.2 approximates sRGB's curve.
 * @param {Uint8ClampedArray} colour
 */
const luminance = ([red, green, blue]) => 0.2126 * (red / 255) ** 2.2 + 0.7152 * (green / 255) ** 2.2 + 0.0722 * (blue / 255) ** 2.2;

/**
 * Whether the page behind an element is dark or light: by its background, or by the colour of its
 * text if the background is transparent or a picture.
 * @param {Element} element
 */
function schemeAt(element) {
  ink.clearRect(0, 0, 1, 1);
  for (let each = /** @type {Element | null} */ (element); each; each = around(each)) {
    const { backgroundColor, backgroundImage } = getComputedStyle(each);
    const seen = under(backgroundColor);
    if (seen[3] === 255) return luminance(seen) < DARK ? "dark" : "light";
    if (backgroundImage !== "none") break;
  }
  ink.clearRect(0, 0, 1, 1);
  // A page chooses the colour of its text to suit its background.
  return luminance(under(getComputedStyle(around(element) || element).color)) > 0.5 ? "dark" : "light";
}

/** @type {Set<HTMLElement>} */
const followers = new Set();
let isPlanned = false;

/** Look at the page again before the next frame. */
function lookAtPage() {
  if (isPlanned) return;
  isPlanned = true;
  requestAnimationFrame(() => {
    isPlanned = false;
    followers.forEach(show);
  });
}

/** @param {HTMLElement} element */
function show(element) {
  if (!element.isConnected) followers.delete(element);
  else if (element.style.getPropertyValue(SEEN) !== schemeAt(element)) element.style.setProperty(SEEN, schemeAt(element));
}

const attributes = new MutationObserver(lookAtPage);
attributes.observe(document.head, { attributes: true, childList: true, subtree: true });
// A theme is switched by an attribute, a box that is ticked, a style sheet or the system.
for (const event of ["change", "click", "load", "transitionend"]) document.addEventListener(event, lookAtPage, true);
addEventListener("load", lookAtPage);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", lookAtPage);

/** Have an element follow the page. @param {HTMLElement} element */
export function followPage(element) {
  followers.add(element);
  show(element);
  for (let each = around(element); each; each = around(each)) attributes.observe(each, { attributes: true });
}
