// @ts-check
/** The author in a comment's header: face, name, and their role and badges at the time. */
import { h } from "./element.js";

/** @typedef {NonNullable<import("./comment.js").Comment["author"]>} Author */

/** The site of a discussion. @param {string} node */
export const siteOf = (node) => (node.includes(":") ? node.split(":")[0] : "default");

/** Whether a person has no account. @param {string} id */
export const isGuest = (id) => /^g_[\w-]{22}$/.test(id);

/**
 * @param {Author} author @param {string} id Of the button, whose name labels the comment. @param {import("./words.js").Words} words
 * @param {string} api @param {string} node @param {(name: HTMLElement) => void} press
 */
export function bylineOf({ id: user, name, badges = [], role }, id, { t }, api, node, press) {
  // `src` comes last: loading depends on the other attributes.
  const picture = h("img", { alt: "", loading: "lazy", referrerpolicy: "no-referrer", onerror: () => picture.remove(), src: `${api}/sites/${siteOf(node)}/people/${encodeURIComponent(user)}/avatar` });
  const button = h("button", { id, class: "who", part: "author", dir: "auto", "aria-expanded": "false", onclick: () => press(button) }, name);
  return [
    h("span", { class: "face", part: "avatar", "aria-hidden": "true" }, [...name.trim()][0], picture),
    button,
    ...[...(role ? [t(role)] : isGuest(user) ? [t("guest")] : []), ...badges].map((each) => h("span", { class: "chip", part: "badge", dir: "auto" }, each)),
  ];
}
