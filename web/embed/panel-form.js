// @ts-check
/** The place of a form in the panel of a bell. */
import { h } from "./element.js";

/**
 * Show a form in place of a panel's content; its back button restores the content.
 * @param {HTMLElement} panel
 * @param {HTMLElement} button Opened the form; gets the focus when the reader goes back.
 * @param {string} title @param {string} back The back button's text. @param {...Node} children
 */
export function showForm(panel, button, title, back, ...children) {
  const before = [...panel.childNodes];
  const goBack = () => { panel.replaceChildren(...before); button.focus(); };
  panel.replaceChildren(h("header", {}, h("h2", { part: "title" }, title), h("button", { part: "button", onclick: goBack }, back)), ...children);
}

/** Add styles to a panel's shadow root, once. @param {HTMLElement} panel @param {CSSStyleSheet} styles */
export function addStyles(panel, styles) {
  const root = /** @type {ShadowRoot} */ (panel.getRootNode());
  root.adoptedStyleSheets = [...new Set([...root.adoptedStyleSheets, styles])];
}
