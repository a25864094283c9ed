// @ts-check
/** What an import has done, in words and numbers. */
import { h } from "./../embed/element.js";

/** @typedef {import("./../embed/plaza-api.js").components["schemas"]["ImportAnswer"]} Import */

/**
 * The words of each state, and whether an import in it is open: it bars the site's next import.
 * @type {Record<Import["state"], {words: string, isOpen: boolean}>}
 */
export const WAY = {
  uploading: { words: "The file was not sent to its end.", isOpen: true },
  running: { words: "The file is being read. You may leave this page.", isOpen: true },
  tried: { words: "The file was tried, and nothing was changed.", isOpen: true },
  done: { words: "Done.", isOpen: false },
  failed: { words: "Failed.", isOpen: false },
  stopped: { words: "Stopped.", isOpen: false },
};
/**
 * The name of each count, and its label after a trial and after an import.
 * @type {[string, string, string][]}
 */
const TOLD = [
  ["comments", "Comments in the file", "Comments in the file"],
  ["imported", "Would be imported", "Imported"],
  ["present", "Already here", "Already here"],
  ["left", "Would be left out", "Left out"],
  ["unknown_parent", "Would begin a thread, since the file lacks the comment they answer", "Begin a thread, since the file lacks the comment they answer"],
];

/** Return the list of an import's counts; "" if it has none yet. @param {Import} shown */
export function report({ counts, dry_run: isTrial }) {
  const told = TOLD.filter(([name]) => counts[name] !== undefined);
  if (!told.length) return "";
  const rows = told.map(([name, before, after]) => h("li", {}, isTrial ? before : after, ": ", h("b", {}, counts[name].toLocaleString())));
  return h("ul", { class: "report", "aria-label": "Report" }, ...rows);
}

/**
 * Return the differences between the file and the import: the count of each reason, and sample
 * places in the file; "" if there are none.
 * @param {Import} shown
 */
export function samples({ counts, samples: found }) {
  const reasons = Object.entries(counts).filter(([name]) => name.startsWith("reason "));
  if (!reasons.length && !found.length) return "";
  const rows = found.map(({ reason, where }) => h("tr", {}, h("td", {}, words(reason)), h("td", { dir: "auto" }, where)));
  return h("details", {}, h("summary", {}, "What did not come as it was"),
    ...[["Left out", false], ["Came over otherwise", true]].map(([title, isHere]) => {
      const some = reasons.filter(([name]) => CHANGED.has(name.slice("reason ".length)) === isHere);
      return some.length > 0 && h("p", {}, `${title}: `, some.map(([name, number]) => `${words(name.slice("reason ".length))} (${number.toLocaleString()})`).join(", "));
    }),
    h("div", { class: "wide", tabindex: "0", role: "region", "aria-label": "Places in the file" },
      h("table", {}, h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "Reason"), h("th", { scope: "col" }, "Where"))), h("tbody", {}, ...rows))));
}

/** The reasons of comments that came over, but not as they were. */
const CHANGED = new Set(["cut", "future", "renamed"]);

/** @param {string} code */
const words = (code) => code.replaceAll("_", " ");
