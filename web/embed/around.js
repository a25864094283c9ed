// @ts-check
/** Places in a page. */

/** The element around an element, also where that is a component of the page. @param {Element} element @returns {Element | null} */
export const around = (element) => element.parentElement || /** @type {ShadowRoot} */ (element.getRootNode()).host || null;
