// @ts-check
/** What Plaza's elements have in common: markup, styles, and where the API is. */

/** @param {string} css */
export function sheet(css) {
  const made = new CSSStyleSheet();
  made.replaceSync(css);
  return made;
}

/**
 * Make an element: `h("button", {class: "x", onclick: f}, "text", child)`. Text is always text.
 * @param {string} tag
 * @param {Record<string, any>} [attributes]
 * @param {...(Node | string | null | undefined | false)} children
 * @returns {HTMLElement}
 */
export function h(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const name in attributes) {
    const value = attributes[name];
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (value === true) made.setAttribute(name, "");
    else if (value !== false && value != null) made.setAttribute(name, value);
  }
  made.append(.../** @type {(Node | string)[]} */ (children.filter(Boolean)));
  return made;
}

/** Dispatch the event `plaza:<what>`. @param {Element} element @param {string} what @param {unknown} [detail] @returns {boolean} false if the page has prevented the default */
export function tell(element, what, detail) {
  return element.dispatchEvent(new CustomEvent(`plaza:${what}`, { bubbles: true, composed: true, cancelable: true, detail }));
}

/** The API's address: the element's `api`, the page's, or where this script came from. @param {Element} element */
export function apiOf(element) {
  const named = element.getAttribute("api") || window.plaza?.api;
  return (named || new URL("../../", import.meta.url).href).replace(/\/+$/, "");
}
