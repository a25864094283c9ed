// @ts-check
/** Parts of an element, each of which may fail without the others. */
import { h } from "./element.js";

/** Make a part of an element; a part that throws leaves the others, and a note in its place. @param {import("./words.js").Words} words @param {() => Node} make */
export function makePart(words, make) {
  try {
    return make();
  } catch (error) {
    return h("p", { role: "alert", class: "note" }, words.reason(error));
  }
}
