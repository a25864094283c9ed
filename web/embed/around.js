// @ts-check
/** Places in a page. */

/** The element around an element, also where that is a component of the page. @param {Element} element @returns {Element | null} */
export const around = (element) => element.parentElement || /** @type {ShadowRoot} */ (element.getRootNode()).host || null;

/** Change an element; what follows it stays where it is for who has it in view, and not the element's beginning. @param {Element} element @param {() => void} change */
export function keepEnd(element, change) {
  const { top, bottom } = element.getBoundingClientRect();
  change();
  if (top < 0 && bottom > 0 && bottom < innerHeight) scrollBy({ top: element.getBoundingClientRect().bottom - bottom, behavior: "instant" });
}
