// @ts-check
/** The right to report a comment; `flag.js` has the form. */

/** @typedef {import("./comment.js").Comment} Comment */

/**
 * Whether a reader can report a comment: a visible one of an open page, and not as a guest, its
 * author or a moderator.
 * @param {Comment} comment @param {string} reader The reader's id; "" for a guest.
 * @param {import("./marked.js").Page["node"] | null} node
 */
export const canReport = (comment, reader, node) =>
  reader !== "" && !node?.locked && comment.state === "visible" && comment.author?.id !== reader && !comment.can.includes("moderate");
