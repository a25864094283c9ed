// @ts-check
/** The comments that moderators have pinned: above the list, and marked in it. */
import { linkTo } from "./arrival.js";
import { h } from "./element.js";
import { fill } from "./markup.js";
import { when } from "./times.js";

/** @typedef {import("./comment.js").Comment} Comment */

export class Pins {
  place = h("aside", { class: "pins", hidden: true });
  /** @type {Comment[]} */
  #pinned = [];

  /** @param {string} id */
  has(id) {
    return this.#pinned.some((each) => each.id === id);
  }

  /**
   * Pin a comment or feature it, or not any more; give the word for what came of it.
   * @param {Comment} comment @param {"pin" | "featured"} what @param {boolean} isOn
   * @param {(path: string, options: import("./api.js").Options) => Promise<unknown>} call
   * @param {import("./thread.js").Thread} thread @param {import("./words.js").Words} words
   */
  async highlight(comment, what, isOn, call, thread, words) {
    await call(`/${comment.id}/${what}`, { method: isOn ? "PUT" : "DELETE" });
    if (what === "pin") {
      const others = this.#pinned.filter(({ id }) => id !== comment.id);
      this.show(isOn ? [...others, comment] : others, words);
      thread.renew(comment);
    }
    thread.item(comment.id)?.focus();
    return what === "pin" ? (isOn ? "isPinned" : "isUnpinned") : isOn ? "isFeatured" : "isUnfeatured";
  }

  /** Show what is pinned by now; give the ids of those that were not, or are not any more. @param {Comment[]} pinned @param {import("./words.js").Words} words */
  show(pinned, { t, language }) {
    const changed = [...pinned.filter(({ id }) => !this.has(id)), ...this.#pinned.filter(({ id }) => !pinned.some((each) => each.id === id))];
    this.#pinned = pinned;
    this.place.hidden = !pinned.length;
    this.place.setAttribute("aria-label", t("pinned"));
    this.place.replaceChildren(...pinned.map(({ id, author, posted_at: at, html }) => h("div", {},
      h("header", {}, h("b", { part: "author", dir: "auto" }, author?.name || ""), linkTo(id, t("permalink"), when(at, language)), h("i", { class: "badge" }, t("pinned"))),
      fill(h("div", { class: "text", part: "text", dir: "auto" }), html || ""))));
    return changed.map(({ id }) => id);
  }
}
