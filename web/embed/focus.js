// @ts-check
/** Where the focus goes after an answer. */

/** Focus a place, unless its reader writes elsewhere by now: the next keys would be lost. @param {Element | null | undefined} place */
export function goTo(place) {
  const at = /** @type {HTMLInputElement | null | undefined} */ (/** @type {Document | ShadowRoot | undefined} */ (place?.getRootNode())?.activeElement);
  if (!at?.matches("textarea, input, select") || at.readOnly) /** @type {HTMLElement | null | undefined} */ (place)?.focus();
}
