// @ts-check
/** The right to report a comment; `flag.js` has the form. */

/** @typedef {import("./comment.js").Comment} Comment */

/**
 * Whether a reader can report a comment: it is visible, and the reader is no guest, not its author,
 * and no moderator. Locked and closed pages take reports: what they show stays public.
 * @param {Comment} comment @param {string} reader The reader's id; "" for a guest.
 */
export const canReport = (comment, reader) =>
  reader !== "" && comment.state === "visible" && comment.author?.id !== reader && !comment.can.includes("moderate");
