// @ts-check
/** The place of a form in the panel of a bell. */
import { h } from "./element.js";

/**
 * Show a form in place of what a panel has, until its reader goes back.
 * @param {HTMLElement} panel @param {HTMLElement} button It leads to the form, and has the focus afterwards. @param {string} title @param {string} back @param {...Node} children
 */
export function showForm(panel, button, title, back, ...children) {
  const before = [...panel.childNodes];
  const goBack = () => { panel.replaceChildren(...before); button.focus(); };
  panel.replaceChildren(h("header", {}, h("h2", { part: "title" }, title), h("button", { part: "button", onclick: goBack }, back)), ...children);
}

/** Add styles to those of a panel, once. @param {HTMLElement} panel @param {CSSStyleSheet} styles */
export function addStyles(panel, styles) {
  const root = /** @type {ShadowRoot} */ (panel.getRootNode());
  root.adoptedStyleSheets = [...new Set([...root.adoptedStyleSheets, styles])];
}
