// @ts-check
/** Places in a page. */

/** The parent element, or the host at the top of a shadow tree; null at the root of the page. @param {Element} element @returns {Element | null} */
export const around = (element) => element.parentElement || /** @type {ShadowRoot} */ (element.getRootNode()).host || null;

/** Change an element; if its end is in view and its top is above, scroll so that its end stays put. @param {Element} element @param {() => void} change */
export function keepEnd(element, change) {
  const { top, bottom } = element.getBoundingClientRect();
  change();
  if (top < 0 && bottom > 0 && bottom < innerHeight) scrollBy({ top: element.getBoundingClientRect().bottom - bottom, behavior: "instant" });
}
