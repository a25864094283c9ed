// @ts-check
/** The right to report a comment; `flag.js` has the form. */

/** @typedef {import("./comment.js").Comment} Comment */

/**
 * Whether a reader can report a comment: it is visible, its page is not locked, and the reader is
 * no guest, not its author, and no moderator. A page that is closed by time still takes reports.
 * @param {Comment} comment @param {string} reader The reader's id; "" for a guest.
 * @param {import("./marked.js").Page["node"] | null} node
 */
export const canReport = (comment, reader, node) =>
  reader !== "" && !node?.locked && comment.state === "visible" && comment.author?.id !== reader && !comment.can.includes("moderate");
