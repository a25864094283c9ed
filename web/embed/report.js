// @ts-check
/** Who may report a comment; the form for it is loaded once somebody wants to. */
import { Problem } from "./api.js";

/** @typedef {import("./comment.js").Comment} Comment */

/** What a report loads; the build writes the address of this release. */
const FLAG = BUILT_FLAG;

/** Whether a reader is offered to report a comment: moderators decide on it. @param {Comment} comment @param {string} reader @param {import("./marked.js").Page["node"] | null} node */
export const canReport = (comment, reader, node) =>
  reader !== "" && !node?.locked && comment.state === "visible" && comment.author?.id !== reader && !comment.can.includes("moderate");

/**
 * Put the form of a report into a comment's article; throws Problem if it cannot be loaded.
 * @param {Element} article @param {string} id Of the reader and of the comment. @param {import("./words.js").Words} words
 * @param {(options: import("./api.js").Options) => Promise<unknown>} call @param {(told: string, label: string, back: Element | null) => void} done
 */
export async function openReport(article, id, words, call, done) {
  /** @type {typeof import("./flag.js")} */
  const { flagForm } = await import(FLAG).catch(() => {
    throw new Problem({});
  });
  const form = await flagForm(id, words, call, done);
  // It may have been opened twice, while it was loaded.
  if (article.querySelector("form")) return;
  article.append(form);
  form.querySelector("select")?.focus();
}
