// @ts-check
/** Parts of an element, each of which may fail without the others. */
import { h } from "./element.js";

/**
 * Return what `make` returns; if it throws, an alert with the reason, so that other parts stay.
 * @param {import("./words.js").Words} words @param {() => Node} make
 */
export function makePart(words, make) {
  try {
    return make();
  } catch (error) {
    return h("p", { role: "alert", class: "note" }, words.reason(error));
  }
}
