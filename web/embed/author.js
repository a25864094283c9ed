// @ts-check
/** Who wrote a comment, as its header tells: a face, the name, and what they were at the site then. */
import { h } from "./element.js";

/** @typedef {NonNullable<import("./comment.js").Comment["author"]>} Author */

/** Where the API has the people of a discussion's site. @param {string} api @param {string} node */
export const peopleOf = (api, node) => `${api}/sites/${node.includes(":") ? node.split(":")[0] : "default"}/people/`;

/**
 * @param {Author} author @param {string} id Of what names the comment. @param {import("./words.js").Words} words
 * @param {string} people Where the API has them.
 */
export function bylineOf({ id: user, name, badges = [], role }, id, { t }, people) {
  // What loads it has to know the rest before the address.
  const picture = h("img", { alt: "", loading: "lazy", referrerpolicy: "no-referrer", onerror: () => picture.remove(), src: `${people}${encodeURIComponent(user)}/avatar` });
  return [
    h("span", { class: "face", part: "avatar", "aria-hidden": "true" }, [...name.trim()][0], picture),
    h("b", { id, part: "author", dir: "auto" }, name),
    ...[...(role ? [t(role)] : []), ...badges].map((each) => h("span", { class: "chip", part: "badge", dir: "auto" }, each)),
  ];
}
