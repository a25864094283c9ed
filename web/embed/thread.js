// @ts-check
/** The comments of a discussion as they are shown: each below what it replies to. */
import { h } from "./element.js";
import { isByTime } from "./orders.js";

/** @typedef {import("./comment.js").Comment} Comment */

/** The depth to which replies are indented; below it, lines alone mark the threads. */
const DEEPEST = 5;
/** @typedef {Pick<Comment, "parent_id" | "posted_at">} Placed */

/**
 * The index of the sibling that a comment comes before; -1 if it comes last. Replies stand oldest
 * first; other comments by the order of a list by time. Siblings with another parent, replies to a
 * comment of another page, do not count.
 * @param {Placed[]} siblings As they are shown. @param {Placed} comment @param {string} order Of the list.
 */
export function indexIn(siblings, comment, order) {
  const sign = order === "newest" && !comment.parent_id ? -1 : 1;
  const at = sign * Date.parse(comment.posted_at);
  return siblings.findIndex((each) => each.parent_id === comment.parent_id && sign * Date.parse(each.posted_at) > at);
}

/** The forms at a comment; while one is open, `again` leaves the comment as it is. */
const WRITING = ":scope > form, :scope > article :is(form, .ask, .person)";

/**
 * Make the children of an element exactly these nodes, in this order. Children in their place stay
 * in the page: the reader may be writing in one or pressing it.
 * @param {Node} element @param {...Node} nodes
 */
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

  /**
   * Put a comment below its parent, if that is shown, or else into the list: by its time; a reply,
   * and every comment in another order, before a given item or at the end. Returns its item; a
   * shown comment stays where it is.
   * @param {Comment} comment @param {Element | null} [before] Null for the end.
   */
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

  /** Move replies that were placed before their parents below them. */
  adopt() {
    for (const each of /** @type {NodeListOf<HTMLElement>} */ (this.list.querySelectorAll(":scope > [data-parent]"))) {
      const comment = this.comment(each.id.slice(2));
      if (comment) this.#below(comment, each);
    }
  }

  /**
   * Put a page above the list, and scroll so that the list stays in view.
   * @param {Comment[]} comments
   */
  before(comments) {
    const first = this.list.firstElementChild;
    const top = first?.getBoundingClientRect().top || 0;
    for (const comment of comments) this.place(comment, first);
    this.adopt();
    scrollBy(0, (first?.getBoundingClientRect().top || 0) - top);
  }

  /**
   * Show the current version of a comment in place of its article or its edit form.
   * @param {Comment} comment
   */
  renew(comment) {
    const item = this.item(comment.id);
    if (!item) return;
    this.#shown.set(comment.id, { comment, item });
    item.firstElementChild?.replaceWith(this.#articleOf(comment));
  }

  /**
   * Mark a comment as the target of the page's address, and unmark the last; return its item.
   * @param {string} id
   */
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

  /**
   * Draw a comment again, for example after a pin, unless the reader writes at it.
   * @param {string} id
   */
  again(id) {
    const { comment, item } = this.#shown.get(id) || {};
    if (comment && !item?.querySelector(WRITING)) this.renew(comment);
  }

  /**
   * Remove a comment; a placeholder stays above its replies, and goes with the last of them.
   * @param {Comment} comment
   */
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

  /**
   * The reader's form at a comment: in place of its article for an edit, in its
   * article for a reply or a report.
   * @param {string} id
   */
  formAt(id) {
    return this.item(id)?.querySelector(WRITING);
  }
}
