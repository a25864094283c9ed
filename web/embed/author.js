// @ts-check
/** Who wrote a comment, as its header tells: a face, the name, and what they were at the site then. */
import { h } from "./element.js";

/** @typedef {NonNullable<import("./comment.js").Comment["author"]>} Author */

/** The site of a discussion. @param {string} node */
export const siteOf = (node) => (node.includes(":") ? node.split(":")[0] : "default");

/** Whether a person has no account. @param {string} id */
export const isGuest = (id) => /^g_[\w-]{22}$/.test(id);

/**
 * @param {Author} author @param {string} id Of what names the comment. @param {import("./words.js").Words} words
 * @param {string} api @param {string} node @param {(name: HTMLElement) => void} press
 */
export function bylineOf({ id: user, name, badges = [], role }, id, { t }, api, node, press) {
  // What loads it has to know the rest before the address.
  const picture = h("img", { alt: "", loading: "lazy", referrerpolicy: "no-referrer", onerror: () => picture.remove(), src: `${api}/sites/${siteOf(node)}/people/${encodeURIComponent(user)}/avatar` });
  const button = h("button", { id, class: "who", part: "author", dir: "auto", "aria-expanded": "false", onclick: () => press(button) }, name);
  return [
    h("span", { class: "face", part: "avatar", "aria-hidden": "true" }, [...name.trim()][0], picture),
    button,
    ...[...(role ? [t(role)] : isGuest(user) ? [t("guest")] : []), ...badges].map((each) => h("span", { class: "chip", part: "badge", dir: "auto" }, each)),
  ];
}
