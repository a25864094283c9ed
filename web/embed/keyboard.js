// @ts-check
/** Key presses of input methods, which must not reach an element's shortcuts. */

/**
 * The `keyCode` of a key that an input method handles. Safari sends it after the composition has
 * ended, with `isComposing` false. Source: UI Events, legacy `keyCode`.
 */
const COMPOSING = 229;

/**
 * Return a listener that calls `act` except while a reader composes with an input method.
 * @param {(event: KeyboardEvent) => void} act @returns {(event: KeyboardEvent) => void}
 */
export function whenTyped(act) {
  return (event) => {
    if (!event.isComposing && event.keyCode !== COMPOSING) act(event);
  };
}
