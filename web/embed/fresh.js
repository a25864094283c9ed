// @ts-check
/** A button that tells of new comments or posts. */
import { h } from "./element.js";

/** Tell of what is new; a button that is there stays, for who is about to press it and for who has heard it. @param {HTMLElement} place @param {number} n How much there is. @param {string} told @param {() => void} press */
export function tellFresh(place, n, told, press) {
  const button = /** @type {HTMLElement} */ (place.firstElementChild || h("button", { part: "button" }));
  button.onclick = press;
  if (button.textContent !== told) button.textContent = told;
  if (!n) button.remove();
  else if (!button.isConnected) place.append(button);
}
