// @ts-check
/** A comment that waits, as a card. */
import { h } from "./../embed/element.js";
import { callerId } from "./session.js";

/** @typedef {import("./../embed/plaza-api.js").components["schemas"]["PendingAnswer"]} Pending */
/** @typedef {import("./../embed/plaza-api.js").components["schemas"]["ClaimAnswer"]} Claim */

/** @type {Record<string, string>} */
const REASONS = {
  decoy: "filled in a decoy field",
  too_quick: "sent too quickly",
  phrase: "has a phrase of the list",
  links: "has many links",
  first: "is their first",
  repeated: "was posted before",
  before: "waits until it is read",
  flagged: "was flagged",
  checking: "is being checked for spam",
  unchecked: "could not be checked for spam",
  spam_check: "is spam for the service asked",
  unconfirmed: "comes from an address that is not confirmed",
};

/** @param {Pending} item */
export const keyOf = (item) => `${item.node_id}/${item.id}`;

/** @param {string} at */
export const when = (at) => h("time", { datetime: at }, new Date(at).toLocaleString());

/** @param {Pending} item @param {(state: "visible" | "hidden" | "spam") => void} decide @param {() => void} hideAll */
export function card(item, decide, hideAll) {
  const id = `author-${keyOf(item)}`;
  const claimed = h("span", { class: "claimed" });
  const head = h("div", { class: "meta" }, h("b", { id }, item.author.name), h("span", {}, item.node_id), when(item.posted_at), item.edited_at && h("span", {}, "edited ", when(item.edited_at)), claimed);
  const why = item.reasons.map((reason) => h("li", {}, REASONS[reason] || reason));
  if (item.flags) why.push(h("li", {}, `flags weigh ${item.flags.toFixed(1)}`));
  const made = h(
    "article",
    { class: "card", "aria-labelledby": id, tabindex: "-1" },
    head,
    why.length > 0 && h("ul", { class: "why", "aria-label": "Why it waits" }, ...why),
    h("p", { class: "text", dir: "auto" }, item.excerpt),
    h("div", { class: "context" }),
    h("div", { class: "row" }, h("button", { class: "good", tabindex: "-1", onclick: () => decide("visible") }, item.queue === "spam" ? "Not spam" : "Approve"), h("button", { class: "bad", tabindex: "-1", onclick: () => decide("hidden") }, "Hide"), item.queue !== "spam" && h("button", { class: "bad", tabindex: "-1", onclick: () => decide("spam") }, "Spam"), h("button", { class: "bad", tabindex: "-1", onclick: hideAll }, "Hide all by ", item.author.name)),
  );
  /** @param {Claim | null} claim */
  const show = (claim) => (claimed.textContent = claim && claim.by !== callerId() ? `read by ${claim.name}` : "");
  made.addEventListener("claimed", (event) => show(/** @type {CustomEvent} */ (event).detail));
  show(item.claimed);
  return made;
}
