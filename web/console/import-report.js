// @ts-check
/** What an import has done, in words and numbers. */
import { h } from "./../embed/element.js";

/** @typedef {import("./../embed/plaza-api.js").components["schemas"]["ImportAnswer"]} Import */

/** What each state means, and whether the site's next import waits for its end. @type {Record<Import["state"], {words: string, isOpen: boolean}>} */
export const WAY = {
  uploading: { words: "A file was begun to be sent.", isOpen: true },
  running: { words: "A worker is at it. You may leave this page.", isOpen: true },
  tried: { words: "The file was tried, and nothing was changed.", isOpen: true },
  done: { words: "It is done.", isOpen: false },
  failed: { words: "It failed.", isOpen: false },
  stopped: { words: "It was stopped.", isOpen: false },
};
/** @type {[string, string, string][]} */
const TOLD = [
  ["comments", "comments in the file", "comments in the file"],
  ["imported", "would come over", "came over"],
  ["present", "are here already", "were here already"],
  ["left", "parts would be left out", "parts were left out"],
  ["unknown_parent", "answer a comment that the file lacks, and would begin a thread", "answered a comment that the file lacks, and begin a thread"],
];

/** The numbers of an import. @param {Import} shown */
export function report({ counts, dry_run: isTrial }) {
  const told = TOLD.filter(([name]) => counts[name] !== undefined);
  if (!told.length) return "";
  const rows = told.map(([name, before, after]) => h("li", {}, h("b", {}, counts[name].toLocaleString()), " ", isTrial ? before : after));
  return h("ul", { class: "report", "aria-label": "Report" }, ...rows);
}

/** What did not come over as it was: each reason with its number, and where in the file. @param {Import} shown */
export function samples({ counts, samples: found }) {
  const reasons = Object.entries(counts).filter(([name]) => name.startsWith("reason "));
  if (!reasons.length && !found.length) return "";
  const rows = found.map(({ reason, where }) => h("tr", {}, h("td", {}, words(reason)), h("td", { dir: "auto" }, where)));
  return h("details", {}, h("summary", {}, "What did not come as it was"),
    h("p", {}, reasons.map(([name, number]) => `${words(name.slice("reason ".length))}: ${number.toLocaleString()}`).join(", ")),
    h("div", { class: "wide", tabindex: "0", role: "region", "aria-label": "Places in the file" },
      h("table", {}, h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "Reason"), h("th", { scope: "col" }, "Where"))), h("tbody", {}, ...rows))));
}

/** @param {string} code */
const words = (code) => code.replaceAll("_", " ");
