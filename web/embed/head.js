// @ts-check
/** The top of a discussion: a form or an invitation to sign in, and when it opens or closes. */
import { h } from "./element.js";
import { makePart } from "./part.js";

/** @typedef {import("./words.js").Words} Words */
/** @typedef {import("./plaza-api.js").components["schemas"]["CommentsAnswer"]} Page */

/** How long before its end a discussion announces it. */
const SOON_MS = 7 * 86_400_000;

/** When a discussion opens, closes or has closed; "" where there is nothing to tell. @param {Page["node"]} node @param {Words} words */
function timesOf({ open: isOpen, locked, opens_at: opensAt, closes_at: closesAt }, { t, locale }) {
  const told = (/** @type {string} */ key, /** @type {string} */ iso) =>
    t(key, { time: new Date(iso).toLocaleString(locale, { dateStyle: "medium", timeStyle: "short" }) });
  const left = closesAt ? Date.parse(closesAt) - Date.now() : Infinity;
  if (isOpen) return closesAt && left < SOON_MS ? told("closes", closesAt) : "";
  if (locked) return t("locked");
  // The API has said that it is not open; the reader's clock only picks one of the two times.
  if (opensAt && left > 0) return told("opens", opensAt);
  return closesAt ? told("closed", closesAt) : t("locked");
}

export class Head {
  place = h("div", {});
  #times = h("p", { class: "times" });
  #shown = "";

  /**
   * Let the next `show` replace what is there.
   * @param {string} [kind] Only if this is shown: "form", "invitation" or "times".
   */
  clear(kind = this.#shown) {
    if (kind === this.#shown) this.#shown = "";
  }

  /**
   * Show the times, and the form or the invitation. A shown form stays until `clear`: the reader
   * may be writing.
   * @param {Page} page @param {Words} words @param {() => Node} form @param {() => Node} invitation
   */
  show({ node, viewer }, words, form, invitation) {
    const told = timesOf(node, words);
    if (this.#times.textContent !== told) this.#times.textContent = told;
    const wanted = viewer?.can.includes("post") ? "form" : node.open ? "invitation" : "times";
    if (this.#shown === "form" || this.#shown === wanted) return;
    this.#shown = wanted;
    this.place.replaceChildren(this.#times, wanted === "times" ? "" : makePart(words, wanted === "form" ? form : invitation));
  }
}
