// @ts-check
/** The comments of a discussion as they are shown: each below what it replies to. */
import { h } from "./element.js";
import { isByTime } from "./orders.js";

/** @typedef {import("./comment.js").Comment} Comment */

/** Threads move to the right up to here, and are told apart by their lines from there. */
const DEEPEST = 5;
/** @typedef {Pick<Comment, "parent_id" | "posted_at">} Placed */

/**
 * The index of the sibling that a comment comes before; -1: it comes last. Replies stand by time, and so do comments where
 * the list does, siblings that reply to a comment of another page have no part in it.
 * @param {Placed[]} siblings As they are shown. @param {Placed} comment @param {string} order Of the list.
 */
export function indexIn(siblings, comment, order) {
  const sign = order === "newest" && !comment.parent_id ? -1 : 1;
  const at = sign * Date.parse(comment.posted_at);
  return siblings.findIndex((each) => each.parent_id === comment.parent_id && sign * Date.parse(each.posted_at) > at);
}

/** Where somebody writes, nothing is shown anew. */
const WRITING = ":scope > form, :scope > article form";

/** Have an element hold these nodes, in this order. A node that it holds already does not move: a reader may write in it or press it. @param {Node} element @param {...Node} nodes */
export function arrange(element, ...nodes) {
  for (const each of [...element.childNodes]) if (!nodes.includes(each)) element.removeChild(each);
  nodes.forEach((each, at) => {
    if (element.childNodes[at] !== each) element.insertBefore(each, element.childNodes[at] || null);
  });
}

export class Thread {
  list = h("ol", { part: "list", class: "thread" });
  /** What is shown, by id. @type {Map<string, {comment: Comment, item: HTMLElement}>} */
  #shown = new Map();
  #articleOf;
  #order = "";

  /** @param {(comment: Comment) => HTMLElement} articleOf */
  constructor(articleOf) {
    this.#articleOf = articleOf;
  }

  /** @param {string} order Of the comments to come. */
  clear(order) {
    this.#order = order;
    this.list.replaceChildren();
    this.#shown.clear();
  }

  /** @param {string} id @returns {HTMLElement | undefined} */
  item(id) {
    return this.#shown.get(id)?.item;
  }

  /** Put a comment below what it replies to, or else into the list: by its time or, where the list has another order, before an item or at the end. @param {Comment} comment @param {Element | null} [before] */
  place(comment, before = null) {
    const known = this.item(comment.id);
    if (known) return known;
    const item = h("li", { id: `c-${comment.id}`, part: "comment", tabindex: -1, "data-parent": comment.parent_id }, this.#articleOf(comment));
    this.#shown.set(comment.id, { comment, item });
    if (!this.#below(comment, item)) {
      if (!comment.parent_id && isByTime(this.#order)) this.#insert(this.list, comment, item);
      else this.list.insertBefore(item, before);
    }
    return item;
  }

  /** @param {Comment} comment @param {HTMLElement} item @returns {boolean} */
  #below(comment, item) {
    const parent = comment.parent_id && this.item(comment.parent_id);
    if (!parent) return false;
    let replies = /** @type {HTMLElement | null} */ (parent.querySelector(":scope > .thread"));
    if (!replies) parent.append((replies = h("ol", { class: comment.depth > DEEPEST ? "thread flat" : "thread" })));
    this.#insert(replies, comment, item);
    return true;
  }

  /** @param {HTMLElement} list @param {Comment} comment @param {HTMLElement} item */
  #insert(list, comment, item) {
    const items = [...list.children].filter((each) => each !== item);
    const of = (/** @type {Element} */ each) => this.comment(each.id.slice(2)) || comment;
    // Most come last.
    const isAmong = indexIn(items.slice(-1).map(of), comment, this.#order) === 0;
    const at = isAmong ? indexIn(items.map(of), comment, this.#order) : -1;
    list.insertBefore(item, items[at] || null);
  }

  /** Put replies that came before what they reply to below it. */
  adopt() {
    for (const each of /** @type {NodeListOf<HTMLElement>} */ (this.list.querySelectorAll(":scope > [data-parent]"))) {
      const comment = this.comment(each.id.slice(2));
      if (comment) this.#below(comment, each);
    }
  }

  /** Put a page above what is read, which stays where it is. @param {Comment[]} comments */
  before(comments) {
    const first = this.list.firstElementChild;
    const top = first?.getBoundingClientRect().top || 0;
    for (const comment of comments) this.place(comment, first);
    this.adopt();
    scrollBy(0, (first?.getBoundingClientRect().top || 0) - top);
  }

  /** Show a comment as it is now, in place of what is there, or of the form in which it was changed. @param {Comment} comment */
  renew(comment) {
    const item = this.item(comment.id);
    if (!item) return;
    this.#shown.set(comment.id, { comment, item });
    item.firstElementChild?.replaceWith(this.#articleOf(comment));
  }

  /** Mark a comment as the one that was meant. @param {string} id */
  pointAt(id) {
    const item = this.item(id);
    this.list.querySelector(".target")?.classList.remove("target");
    item?.classList.add("target");
    return item;
  }

  /** Mark comments as new, and no other; return their items from the top. @param {string[]} ids @returns {HTMLElement[]} */
  mark(ids) {
    this.list.querySelectorAll(".new").forEach(({ classList }) => classList.remove("new"));
    for (const id of ids) this.item(id)?.classList.add("new");
    return [...this.list.querySelectorAll(/** @type {"li"} */ (".new"))];
  }

  /** Show a comment as it is, where something beside it has changed. @param {string} id */
  again(id) {
    const { comment, item } = this.#shown.get(id) || {};
    if (comment && !item?.querySelector(WRITING)) this.renew(comment);
  }

  /** Take a comment out; one with replies leaves its place, which goes with the last of them. @param {Comment} comment */
  remove(comment) {
    const item = this.item(comment.id);
    if (item?.querySelector(":scope > .thread")) return this.renew({ ...comment, state: "deleted", author: null, html: null, text: null, can: [] });
    const beside = item?.parentElement;
    item?.remove();
    this.#shown.delete(comment.id);
    if (!beside || beside === this.list || beside.childElementCount) return;
    beside.remove();
    const parent = this.comment(comment.parent_id || "");
    if (parent && !parent.author) this.remove(parent);
  }

  /** Whether the oldest comments come first. */
  get isOldest() {
    return this.#order === "oldest";
  }

  get isByTime() {
    return isByTime(this.#order);
  }

  /** The ids of what is shown, from the top. */
  get ids() {
    return [...this.list.querySelectorAll("li[id^=c-]")].map(({ id }) => id.slice(2));
  }

  /** @param {string} id */
  comment(id) {
    return this.#shown.get(id)?.comment;
  }

  /** The form of who writes at a comment, in its place or below it. @param {string} id */
  formAt(id) {
    return this.item(id)?.querySelector(WRITING);
  }
}
