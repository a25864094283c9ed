// @ts-check
/** Puts HTML that the server has sanitised into the page. */

/** @type {{createHTML(text: string): any} | undefined} */
let policy;

/** The elements that `chalicelib/comments/rendering.py` allows; a test compares both lists. */
const RULES = {
  elements: [
    ..."blockquote br code em h1 h2 h3 h4 h5 h6 hr li p pre s strong ul".split(" "),
    { name: "ol", attributes: ["start"] },
    { name: "a", attributes: ["href", "title", "rel"] },
    { name: "span", attributes: ["class", "data-person"] },
    { name: "img", attributes: ["src", "alt", "title"] },
  ],
};

const NESTED = Array(3).fill(":is(li, blockquote)").join(" ");

/**
 * Fill an element with HTML that the server has sanitised. A browser with a sanitiser of its own
 * applies it as well: without rules, it would drop `rel` and images.
 * @param {any} element @param {string} html
 */
export function fill(element, html) {
  if (element.setHTML) element.setHTML(html, { sanitizer: RULES });
  else {
    policy ||= window.trustedTypes?.createPolicy("plaza", { createHTML: (text) => text });
    element.innerHTML = policy ? policy.createHTML(html) : html;
  }
  // Code, and deeply nested lists and quotes, may be wider than the column: keys must scroll them.
  for (const code of element.querySelectorAll("pre")) code.tabIndex = 0;
  if (element.querySelector(NESTED)) element.tabIndex = 0;
  return element;
}
