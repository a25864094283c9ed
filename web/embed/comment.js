// @ts-check
/** One comment as it is shown. */
import { linkTo } from "./arrival.js";
import { bylineOf } from "./author.js";
import { h } from "./element.js";
import { fill } from "./markup.js";
import { when } from "./times.js";

/** @typedef {import("./plaza-api.js").components["schemas"]["CommentAnswer"]} Comment */
/** @typedef {"visible" | "hidden"} Decided */
/** @typedef {{reply: () => void, edit: () => void, remove: (event: Event) => void, report: (() => void) | null, decide: (state: Decided) => void, highlight: (what: "pin" | "featured", isOn: boolean) => void, isPinned: boolean, isFeatured: boolean, api: string, person: (name: HTMLElement) => void}} Actions */

/** @param {Comment} comment @param {import("./words.js").Words} words @param {Actions} actions @param {Node | null} bar Stands before the buttons. */
export function articleOf(comment, words, actions, bar) {
  const { t, locale } = words;
  if (!comment.author || comment.html === null) {
    const why = t(comment.state === "pending" ? "waits" : comment.state === "hidden" ? "unseen" : "gone");
    return h("article", { class: "gone", "aria-label": why }, h("p", {}, why));
  }
  const name = `a-${comment.id}`;
  const answered = comment.reply_to?.author && comment.reply_to;
  const button = (/** @type {string} */ what, /** @type {(event: Event) => void} */ onclick) => h("button", { part: "button", onclick, "data-does": what }, t(what));
  const buttons = Object.entries({ reply: actions.reply, edit: actions.edit, delete: actions.remove })
    .filter(([what]) => /** @type {string[]} */ (comment.can).includes(what))
    .map(([what, onclick]) => button(what, onclick));
  if (comment.can.includes("moderate")) {
    if (comment.state !== "visible") buttons.push(button("approve", () => actions.decide("visible")));
    if (comment.state !== "hidden") buttons.push(button("hide", () => actions.decide("hidden")));
    if (comment.state === "visible") {
      const { isPinned, isFeatured } = actions;
      buttons.push(button(isPinned ? "unpin" : "pin", () => actions.highlight("pin", !isPinned)));
      buttons.push(button(isFeatured ? "unfeature" : "feature", () => actions.highlight("featured", !isFeatured)));
    }
  }
  if (actions.report) buttons.push(button("report", actions.report));
  if (comment.editable_until) {
    const left = new Date(comment.editable_until).getTime() - Date.now();
    // If none is left, the clock is wrong, since the API has just granted some: the button stays.
    if (left > 0) setTimeout(() => {
      const edit = buttons.find((each) => each.dataset.does === "edit");
      // Its removal would lose the reader's place.
      if (edit?.matches(":focus")) edit.closest("li")?.focus();
      edit?.remove();
    }, left);
  }
  return h("article", { "aria-labelledby": name, "data-by": comment.author.id, class: comment.state },
    h("header", {},
      ...bylineOf(comment.author, name, words, actions.api, comment.node_id, actions.person),
      linkTo(comment.id, t("permalink"), when(comment.posted_at, locale)),
      answered && linkTo(answered.id, t("permalink"), t("inReplyTo", { name: `\u2068${answered.author?.name}\u2069` })),
      comment.edited_at && h("i", {}, t("edited")),
      actions.isPinned && h("i", { class: "badge" }, t("pinned")),
      comment.state !== "visible" && h("i", { class: "badge" }, t(comment.state))),
    fill(h("div", { class: "text", part: "text", dir: "auto" }), comment.html),
    (bar || buttons.length > 0) && h("footer", {}, bar, ...buttons));
}
