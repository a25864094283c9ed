// @ts-check
/** A read-only field with a button that copies its text. */
import { h } from "./../embed/element.js";

/**
 * @param {string} id @param {string} label @param {string} text
 * @param {(told: string) => void} say Receives the outcome of a press, in words.
 */
export function copying(id, label, text, say) {
  const field = /** @type {HTMLInputElement} */ (h("input", { id, value: text, readonly: true, dir: "ltr" }));
  const copy = async () => {
    field.select();
    // On a page of plain http, browsers have no clipboard.
    const written = navigator.clipboard?.writeText(field.value);
    const isCopied = !!written && (await written.then(() => true, () => false));
    say(isCopied ? "Copied." : "It is selected: copy it by the keyboard.");
  };
  const element = h("div", { class: "field" }, h("label", { for: id }, label), h("div", { class: "copying" }, field, h("button", { type: "button", "aria-label": `Copy: ${label}`, onclick: copy }, "Copy")));
  return { element, show: (/** @type {string} */ changed) => { field.value = changed; } };
}
