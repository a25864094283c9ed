// @ts-check
/** Elements, and the document's texts as elements. */

/** Make an element; text is always text. @param {string} tag @param {Record<string, any>} [attributes] @param {...(Node | string | null | undefined | false)} children */
export function h(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (value === true) made.setAttribute(name, "");
    else if (value !== false && value != null) made.setAttribute(name, value);
  }
  made.append(.../** @type {(Node | string)[]} */ (children.filter(Boolean)));
  return made;
}

/** A text with `code` between backticks. @param {string} text */
export function inline(text) {
  return text.split("`").map((part, at) => (at % 2 ? h("code", {}, part) : part)).filter((part) => part !== "");
}

/** A text's paragraphs. @param {string | undefined} text */
export function prose(text) {
  return (text || "").split(/\n{2,}/).filter(Boolean).map((part) => h("p", {}, ...inline(part)));
}

/** A text that may be wide, and scrolls by keys as well. @param {string} text */
export const block = (text) => h("pre", { tabindex: 0 }, text);
