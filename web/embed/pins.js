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
  #drawn = "";

  /** @param {string} id */
  has(id) {
    return this.#pinned.some((each) => each.id === id);
  }

  /**
   * Return the pinned comments after a comment is pinned or unpinned.
   * @param {Comment} comment @param {boolean} isOn
   */
  after(comment, isOn) {
    const others = this.#pinned.filter(({ id }) => id !== comment.id);
    return isOn ? [...others, comment] : others;
  }

  /**
   * Show the pinned comments, and return the ids of those that were pinned or unpinned since the
   * last call.
   * @param {Comment[]} pinned @param {import("./words.js").Words} words
   */
  show(pinned, { t, locale }) {
    const changed = [...pinned.filter(({ id }) => !this.has(id)), ...this.#pinned.filter(({ id }) => !pinned.some((each) => each.id === id))];
    this.#pinned = pinned;
    this.place.hidden = !pinned.length;
    this.place.setAttribute("aria-label", t("pinned"));
    const drawn = JSON.stringify([locale, ...pinned.map(({ id, author, html }) => [id, author?.name, html])]);
    // Unchanged pins stay in the page: to replace them would lose the reader's focus and selection.
    if (drawn !== this.#drawn) this.place.replaceChildren(...pinned.map(({ id, author, posted_at: at, html }) => h("div", {},
      h("header", {}, h("b", { part: "author", dir: "auto" }, author?.name || ""), linkTo(id, t("permalink"), when(at, locale)), h("i", { class: "badge" }, t("pinned"))),
      fill(h("div", { class: "text", part: "text", dir: "auto" }), html || ""))));
    this.#drawn = drawn;
    return changed.map(({ id }) => id);
  }
}
