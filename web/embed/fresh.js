// @ts-check
/** The button that announces new comments or posts. */
import { h } from "./element.js";

/**
 * Show, change or remove the button in a place. An existing button stays the same element: a reader
 * may be about to press it, and screen readers announce only a changed text.
 * @param {HTMLElement} place @param {number} n The count of new things; 0 removes the button.
 * @param {string} told The button's text. @param {() => void} press
 */
export function tellFresh(place, n, told, press) {
  const button = /** @type {HTMLElement} */ (place.firstElementChild || h("button", { part: "button" }));
  button.onclick = press;
  if (button.textContent !== told) button.textContent = told;
  if (!n) button.remove();
  else if (!button.isConnected) place.append(button);
}
