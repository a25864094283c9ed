// @ts-check
/** Where votes and reactions stand, and how what shows them comes there: later than the comments. */
import { h } from "./element.js";
import { load } from "./load.js";

/** @typedef {import("./plaza-api.js").components["schemas"]["CommentsAnswer"]} Page */
/** @typedef {Promise<Awaited<ReturnType<typeof import("./marks.js").marksFor>> | null>} Later */

/** What pages with votes or reactions load as well; the build writes the address of this release. */
const MARKS = BUILT_MARKS;

/** Votes and reactions; null where a site has neither, and where they cannot be loaded: comments are read without. @param {ShadowRoot} root @param {import("./marks.js").Desk} desk @returns {Later} */
export async function marksOf(root, desk) {
  if (desk.node.votes === "off" && !desk.node.reactions.length) return null;
  /** @type {typeof import("./marks.js") | null} */
  const marks = await load(MARKS).catch(() => null);
  if (!marks) return null;
  root.adoptedStyleSheets = [...new Set([...root.adoptedStyleSheets, ...marks.STYLES])];
  return marks.marksFor(desk);
}

/** Have a place filled once the marks are there. @param {HTMLElement} place @param {Later} marks @param {import("./words.js").Words} words @param {(there: NonNullable<Awaited<Later>>, place: HTMLElement) => void} put */
function fillLater(place, marks, { reason }, put) {
  marks.then((there) => (there ? put(there, place) : place.remove())).catch((error) => place.replaceChildren(reason(error)));
  return place;
}

/** The place of the reactions to a page. @param {Page} page @param {Later} marks @param {import("./words.js").Words} words */
export function pageBar({ node, page }, marks, words) {
  return node.reactions.length ? fillLater(h("div", { class: "marks" }), marks, words, (there, place) => there.putPage(place, page)) : null;
}

/** The place of the votes on a comment and the reactions to it. @param {import("./comment.js").Comment} comment @param {Page["node"] | null} node @param {Later} marks @param {import("./words.js").Words} words */
export function commentBar(comment, node, marks, words) {
  if (comment.state !== "visible" || !node || (node.votes === "off" && !node.reactions.length)) return null;
  return fillLater(h("span", { class: "marks" }), marks, words, (there, place) => there.put(place, comment));
}
