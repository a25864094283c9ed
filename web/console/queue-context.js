// @ts-check
/** The details for a decision about a comment: its whole text, parent, page, author and flags. */
import { h } from "./../embed/element.js";
import { addressOf } from "./choice.js";
import { when } from "./queue-card.js";
import { ask } from "./session.js";

/** @typedef {import("./../embed/plaza-api.js").components["schemas"]} Schemas */

/** @type {Record<string, string>} */
const FLAGS = { spam: "spam", abuse: "abuse", off_topic: "off topic", personal_data: "personal data", other: "other" };

/**
 * Return the details below a comment; a note stands for each part whose call fails.
 * @param {Schemas["PendingAnswer"]} item
 */
export async function context(item) {
  const node = `/nodes/${encodeURIComponent(item.node_id)}`;
  const at = `${node}/comments/${item.id}`;
  const flags = item.queue === "flagged" ? ask(`${at}/flags?limit=5`).then(flagged) : null;
  const parts = await Promise.allSettled([
    ask(at).then((comment) => written(comment, item, node)),
    ask(node).then(page),
    ask(`/sites/${encodeURIComponent(item.site)}/people/${encodeURIComponent(item.author.id)}`).then((known) => person(known, item.site)),
    flags,
  ]);
  return parts.flatMap((part) => (part.status === "fulfilled" ? part.value || [] : [h("p", { class: "meta" }, "A part could not be read.")]));
}

/**
 * Return the parent of a comment and, if the excerpt is shorter, the comment's whole text.
 * @param {Schemas["CommentAnswer"]} comment @param {Schemas["PendingAnswer"]} item
 * @param {string} node The node's path.
 */
async function written(comment, item, node) {
  const shown = [];
  if (comment.text && comment.text.length > item.excerpt.length) shown.push(h("p", { class: "text", dir: "auto" }, comment.text));
  if (!comment.parent_id) return shown;
  /** @type {Schemas["CommentAnswer"]} */
  const parent = await ask(`${node}/comments/${comment.parent_id}`);
  const text = parent.text === null ? "a comment that is gone" : parent.text;
  return [h("blockquote", { class: "parent", dir: "auto" }, h("p", { class: "meta" }, "In reply to ", h("b", {}, parent.author?.name || "somebody")), text), ...shown];
}

/** @param {Schemas["NodeAnswer"]} node */
const page = (node) => [h("p", { class: "meta" }, "On ", h("a", { href: node.url, rel: "noreferrer", target: "_blank" }, node.title))];

/** @param {Schemas["SitePersonAnswer"]} known @param {string} site */
function person({ id, counts, status, trust, first_at, note, badges }, site) {
  const facts = [
    first_at ? h("span", {}, "here since ", when(first_at)) : h("span", {}, "new here"),
    h("span", {}, `trust ${trust}`),
    h("span", {}, `${counts.visible} visible, ${counts.pending} waiting, ${counts.rejected} hidden`),
    status !== "ok" && h("span", { class: "bad-text" }, status),
    ...badges.map((badge) => h("span", {}, badge)),
    h("a", { href: addressOf("log", { site, person: id }) }, "Their log"),
    h("a", { href: addressOf("person", { site, person: id }) }, "Their standing"),
  ];
  return [h("p", { class: "meta person" }, ...facts), note && h("p", { class: "meta" }, `Note: ${note}`)].filter(Boolean);
}

/** @param {Schemas["FlagsAnswer"]} page */
function flagged({ flags, next }) {
  const lines = flags.map((flag) => h("li", {}, `${flag.by}: ${FLAGS[flag.reason] || flag.reason}${flag.note && ` – ${flag.note}`}`));
  return [h("ul", { class: "meta flags", "aria-label": "Flags" }, ...lines, next && h("li", {}, "and more"))];
}
