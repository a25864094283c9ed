// @ts-check
/** The places of votes and reactions; they fill once their module has loaded. */
import { h } from "./element.js";
import { load } from "./load.js";

/** @typedef {import("./plaza-api.js").components["schemas"]["CommentsAnswer"]} Page */
/** @typedef {Promise<Awaited<ReturnType<typeof import("./marks.js").marksFor>> | null>} Later */

/** The module of votes and reactions; the build inserts this release's address. */
const MARKS = BUILT_MARKS;

/**
 * Load votes and reactions; null for a site without either and after a failed load, so that
 * readers still see the comments.
 * @param {ShadowRoot} root @param {import("./marks.js").Desk} desk @returns {Later}
 */
export async function marksOf(root, desk) {
  if (desk.node.votes === "off" && !desk.node.reactions.length) return null;
  /** @type {typeof import("./marks.js") | null} */
  const marks = await load(MARKS).catch(() => null);
  if (!marks) return null;
  root.adoptedStyleSheets = [...new Set([...root.adoptedStyleSheets, ...marks.STYLES])];
  return marks.marksFor(desk);
}

/**
 * Return a place that `put` fills once the marks have loaded; removes it if they are null.
 * @param {HTMLElement} place @param {Later} marks @param {import("./words.js").Words} words
 * @param {(there: NonNullable<Awaited<Later>>, place: HTMLElement) => void} put
 */
function fillLater(place, marks, { reason }, put) {
  marks.then((there) => (there ? put(there, place) : place.remove())).catch((error) => place.replaceChildren(reason(error)));
  return place;
}

/** The place of the reactions to a page; null where the site has none. @param {Page} page @param {Later} marks @param {import("./words.js").Words} words */
export function pageBar({ node, page }, marks, words) {
  return node.reactions.length ? fillLater(h("div", { class: "marks" }), marks, words, (there, place) => there.putPage(place, page)) : null;
}

/**
 * The place of a comment's votes and reactions; null where the site has neither and for a comment
 * that is not visible.
 * @param {import("./comment.js").Comment} comment @param {Page["node"] | null} node
 * @param {Later} marks @param {import("./words.js").Words} words
 */
export function commentBar(comment, node, marks, words) {
  if (comment.state !== "visible" || !node || (node.votes === "off" && !node.reactions.length)) return null;
  return fillLater(h("span", { class: "marks" }), marks, words, (there, place) => there.put(place, comment));
}
