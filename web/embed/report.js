// @ts-check
/** Who may report a comment; the form for it is in `flag.js`. */

/** @typedef {import("./comment.js").Comment} Comment */

/** Whether a reader is offered to report a comment: moderators decide on it. @param {Comment} comment @param {string} reader @param {import("./marked.js").Page["node"] | null} node */
export const canReport = (comment, reader, node) =>
  reader !== "" && !node?.locked && comment.state === "visible" && comment.author?.id !== reader && !comment.can.includes("moderate");
