// @ts-check
/** The way of every key to an element: past the input methods that people compose with. */

/** Sent for a key of an input method; Safari ends the composition before this event, and `isComposing` is false. Source: UI Events, legacy `keyCode`. */
const COMPOSING = 229;

/** Return a listener that leaves keys to the input method while a reader composes. @param {(event: KeyboardEvent) => void} act @returns {(event: KeyboardEvent) => void} */
export function whenTyped(act) {
  return (event) => {
    if (!event.isComposing && event.keyCode !== COMPOSING) act(event);
  };
}
