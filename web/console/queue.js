// @ts-check
/** The comments that wait for a moderator: read, decided and taken back by keys alone. */
import { Problem } from "./../embed/api.js";
import { h } from "./../embed/element.js";
import { whenTyped } from "./../embed/keyboard.js";
import { ask } from "./session.js";
import { card, keyOf } from "./queue-card.js";
import { context } from "./queue-context.js";

/** @typedef {import("./../embed/plaza-api.js").components["schemas"]["PendingAnswer"]} Pending */
/** @typedef {"visible" | "hidden" | "spam" | "pending"} State */
/** @typedef {{item: Pending, element: HTMLElement, opened: boolean}} Entry */
/** @typedef {{item: Pending, decided: State, isAccepted: Promise<boolean>}} Decision */

const REFRESH_MS = 30_000;
/** A comment is claimed after so long in focus: passing by with J and K claims none. */
const CLAIM_AFTER_MS = 1_000;
/**
 * For so long the list leaves out the comments that a batch hides. The worker is done by then, and
 * the list shows the comments that still wait.
 */
const HIDING_MS = 600_000;
/** The API's limit of a reason, in code points. */
const MOST_REASON = 500;
const DONE = { visible: "Approved", hidden: "Hidden", spam: "Filed as spam", pending: "Back in the queue" };
const QUEUES = { "": "All that waits", pending: "Held back", flagged: "Flagged", spam: "Spam" };

class Queue extends HTMLElement {
  /** @type {Entry[]} */
  #entries = [];
  #at = 0;
  /** @type {string | null} */
  #next = null;
  /** The cursor of the last page read; null for the first page. @type {string | null} */
  #last = null;
  /** The decisions that U takes back, the newest last. @type {Decision[]} */
  #decided = [];
  /**
   * The time of the answer to each comment's last decision, by performance.now(); Infinity before.
   * @type {Map<string, number>}
   */
  #answeredAt = new Map();
  /**
   * The latest batch that hides a person's comments at a site: its start in milliseconds by the
   * API's clock, and the time of its answer by performance.now().
   * @type {Map<string, {at: number, answeredAt: number}>}
   */
  #hiding = new Map();
  #queue = "";
  #refreshing = 0;
  #claiming = 0;
  #list = h("div", { class: "queue", role: "group", tabindex: "-1", "aria-label": "Comments that wait" });
  #count = h("span", {});
  #status = h("p", { role: "status", class: "status" });
  #more = h("button", { onclick: () => this.#loadMore(), hidden: true }, "Show more");

  connectedCallback() {
    const choice = h("select", { "aria-label": "Which" }, ...Object.entries(QUEUES).map(([value, name]) => h("option", { value }, name)));
    choice.addEventListener("change", () => this.#choose(/** @type {HTMLSelectElement} */ (choice).value));
    this.replaceChildren(
      h("div", { class: "row spread" }, h("h1", {}, "Waiting for you ", this.#count), choice),
      h("p", { class: "meta" }, "On a comment: ", ...keys("J", "next"), ...keys("K", "previous"), ...keys("A", "approve"), ...keys("H", "hide"), ...keys("Shift+H", "hide, and say why"), ...keys("S", "spam"), ...keys("X", "hide all by the same"), ...keys("U", "take back")),
      this.#status,
      this.#list,
      this.#more,
    );
    this.#list.addEventListener("keydown", whenTyped((event) => this.#key(event)));
    this.#choose("", true);
    this.#refreshing = window.setInterval(() => this.#refresh(), REFRESH_MS);
  }

  disconnectedCallback() {
    clearInterval(this.#refreshing);
    clearTimeout(this.#claiming);
  }

  /** Show a queue. As the page opens, focus its first comment; never from the choice, whose next letter would decide. @param {string} queue @param {boolean} [isOpening] */
  async #choose(queue, isOpening) {
    this.#queue = queue;
    this.#entries = [];
    this.#next = this.#last = null;
    this.#at = 0;
    this.#list.replaceChildren();
    await this.#load();
    // The moderator may have gone to the choice meanwhile.
    if (queue === this.#queue && isOpening && !this.contains(document.activeElement)) this.#focus(0);
  }

  /** @param {string | null} cursor @returns {Promise<{comments: Pending[], next: string | null}>} */
  async #page(cursor) {
    const query = new URLSearchParams(this.#queue ? { queue: this.#queue } : {});
    if (cursor) query.set("cursor", cursor);
    const askedAt = performance.now();
    // Taken apart here, it would come before the time in the built file.
    const page = await ask(`/moderation/comments?${query}`);
    // The page may predate the decisions answered after its call: leave those comments out.
    const waits = (/** @type {Pending} */ item) => (this.#answeredAt.get(keyOf(item)) ?? -Infinity) < askedAt && !this.#isBeingHidden(item, askedAt);
    return { ...page, comments: page.comments.filter(waits) };
  }

  /**
   * Return whether a batch may still be hiding a comment; it leaves comments written or edited
   * after its start.
   * @param {Pending} item
   * @param {number} askedAt When the call for the comment's page began, by performance.now().
   */
  #isBeingHidden(item, askedAt) {
    const batch = this.#hiding.get(writerOf(item));
    return !!batch && Date.parse(item.edited_at || item.posted_at) <= batch.at && askedAt < batch.answeredAt + HIDING_MS;
  }

  /**
   * Show the next page, and further ones while the list is empty; return false after a failure or
   * the choice of another queue.
   */
  async #load() {
    const queue = this.#queue;
    try {
      do {
        const at = this.#next;
        const page = await this.#page(at);
        // Another queue was chosen meanwhile.
        if (queue !== this.#queue) return false;
        this.#last = at;
        this.#next = page.next;
        this.#add(page.comments);
        // All of a page may have been decided since.
      } while (this.#next && !this.#entries.length);
    } catch (problem) {
      if (queue === this.#queue) this.#say(told(problem));
      return false;
    } finally {
      if (queue === this.#queue) this.#shown();
    }
    return true;
  }

  /** Update the claims of the first page and, if all pages are shown, append new comments. */
  async #refresh() {
    if (document.hidden) return;
    const queue = this.#queue;
    try {
      const page = await this.#page(null);
      if (queue !== this.#queue) return;
      for (const item of page.comments) this.#entry(item)?.element.dispatchEvent(new CustomEvent("claimed", { detail: item.claimed }));
      if (!this.#next) {
        // The queue sorts a comment flagged late by its post: it may be on the first page.
        this.#add(page.comments);
        const end = this.#last ? await this.#page(this.#last) : page;
        if (queue !== this.#queue) return;
        this.#add(end.comments);
        this.#next = end.next;
      }
      this.#shown();
      await this.#goOn();
    } catch {
      this.#say("Plaza does not answer: this list may be old.");
    }
  }

  /** @param {Pending} item */
  #entry(item) {
    return this.#entries.find((each) => keyOf(each.item) === keyOf(item));
  }

  /** @param {Pending[]} items */
  #add(items) {
    for (const item of items.filter((each) => !this.#entry(each))) this.#insert(this.#entries.length, item);
  }

  /** @param {number} place @param {Pending} item */
  #insert(place, item) {
    const entry = { item, element: card(item, (state) => this.#decide(entry, state), () => this.#hideAll(entry)), opened: false };
    entry.element.addEventListener("focus", () => this.#open(entry));
    this.#list.insertBefore(entry.element, this.#entries[place]?.element || null);
    this.#entries.splice(place, 0, entry);
  }

  /** The number of comments shown, with "+" if there are more. */
  get #number() {
    return `${this.#entries.length}${this.#next ? "+" : ""}`;
  }

  /**
   * Load the next page once the list is empty, so that keys alone reach it; return false if that
   * fails.
   */
  async #goOn() {
    if (this.#entries.length || !this.#next) return true;
    const isThere = await this.#load();
    if (document.activeElement === this.#list) this.#focus(0);
    return isThere;
  }

  /** Load the next page, and move the focus to its first comment: the last page hides the button. */
  async #loadMore() {
    const last = this.#entries[this.#entries.length - 1];
    const isThere = await this.#load();
    // The moderator may have gone on meanwhile.
    if (!isThere || ![this.#more, document.body].includes(/** @type {HTMLElement} */ (document.activeElement))) return;
    this.#focus(Math.min(this.#entries.indexOf(last) + 1, this.#entries.length - 1));
  }

  #shown() {
    this.#count.textContent = `(${this.#number})`;
    this.#more.hidden = !this.#next;
    const empty = this.#list.querySelector(".empty");
    if (this.#entries.length || this.#next) empty?.remove();
    else if (!empty) this.#list.append(h("p", { class: "card empty" }, "Nothing waits."));
    this.#entries.forEach(({ element }, place) => {
      element.classList.toggle("current", place === this.#at);
      // Only this card displays its links, so that Tab reaches no other card's.
      for (const each of [element, ...element.querySelectorAll("button")]) each.tabIndex = place === this.#at ? 0 : -1;
    });
  }

  /** @param {number} place */
  #focus(place) {
    this.#at = Math.max(0, Math.min(place, this.#entries.length - 1));
    this.#shown();
    (this.#entries[this.#at]?.element || this.#list).focus();
  }

  /**
   * Make a comment the current one: load its details once, and claim it after CLAIM_AFTER_MS.
   * @param {Entry} entry
   */
  #open(entry) {
    this.#at = this.#entries.indexOf(entry);
    this.#shown();
    clearTimeout(this.#claiming);
    this.#claiming = window.setTimeout(() => this.#claim(entry.item), CLAIM_AFTER_MS);
    if (entry.opened) return;
    entry.opened = true;
    context(entry.item).then((details) => entry.element.querySelector(".context")?.replaceChildren(...details));
  }

  /** @param {Pending} item */
  async #claim(item) {
    const refused = await ask(`${pathOf(item)}/claim`, { method: "POST" }).then(() => null, told);
    if (refused) this.#say(refused);
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    // A key that is held down would decide on unread comments.
    if (event.repeat && !/^[jk]$/i.test(event.key)) return;
    const entry = this.#entries[this.#at];
    /** @type {Record<string, () => void>} */
    const acts = {
      j: () => this.#focus(this.#at + 1),
      k: () => this.#focus(this.#at - 1),
      a: () => entry && this.#decide(entry, "visible"),
      h: () => entry && (event.shiftKey ? this.#hideFor(entry) : this.#decide(entry, "hidden")),
      s: () => entry && this.#decide(entry, "spam"),
      x: () => entry && this.#hideAll(entry),
      u: () => this.#takeBack(),
    };
    const act = acts[event.key.toLowerCase()];
    if (!act) return;
    event.preventDefault();
    act();
  }

  /** Ask for a reason for the log, and hide a comment; a cancel leaves it. @param {Entry} entry */
  #hideFor(entry) {
    let reason = window.prompt(`Why is the comment of ${entry.item.author.name} hidden? Moderators alone read it, in the log.`);
    while (reason && [...reason.trim()].length > MOST_REASON) reason = window.prompt(`At most ${MOST_REASON} characters:`, reason);
    if (reason !== null) this.#decide(entry, "hidden", reason.trim() || undefined);
  }

  /** Take a comment out of the list at once; it comes back if the API refuses. @param {Entry} entry @param {State} state @param {string} [reason] */
  async #decide(entry, state, reason) {
    const place = this.#entries.indexOf(entry);
    if (place < 0) return;
    clearTimeout(this.#claiming);
    this.#entries.splice(place, 1);
    entry.element.remove();
    const { item } = entry;
    const isAccepted = this.#send(item, { state, as_shown: { state: item.state, edited_at: item.edited_at }, reason }).then(() => true, async (problem) => {
      this.#decided = this.#decided.filter((each) => each.item !== item);
      await this.#comeBack(item, place, problem);
      return false;
    });
    this.#decided.push({ item, decided: state, isAccepted });
    this.#focus(place);
    const isThere = await this.#goOn();
    if ((await isAccepted) && isThere) this.#say(`${DONE[state]}. ${this.#number} left.`);
  }

  /** @param {Pending} item @param {{state: State, as_shown?: {state: string, edited_at: string | null}, reason?: string}} body */
  async #send(item, body) {
    const key = keyOf(item);
    this.#answeredAt.set(key, Infinity);
    try {
      await ask(`${pathOf(item)}/state`, { method: "POST", body });
    } finally {
      this.#answeredAt.set(key, performance.now());
    }
  }

  /** Ask, then hide all that a comment's author wrote at its site. @param {Entry} entry */
  async #hideAll({ item }) {
    const { site, author } = item;
    if (!window.confirm(`Hide everything that ${author.name} wrote at ${site}?`)) return;
    try {
      const { at } = await ask("/moderation/batches", { method: "POST", body: { site, state: "hidden", person: author.id } });
      this.#hiding.set(writerOf(item), { at: Date.parse(at), answeredAt: performance.now() });
    } catch (problem) {
      return this.#say(told(problem));
    }
    const reading = this.#entries[this.#at];
    const theirs = this.#entries.filter((each) => writerOf(each.item) === writerOf(item));
    const place = this.#at - this.#entries.slice(0, this.#at).filter((each) => theirs.includes(each)).length;
    this.#entries = this.#entries.filter((each) => !theirs.includes(each));
    for (const each of theirs) each.element.remove();
    // The next key is meant for the comment that is being read.
    this.#at = place;
    if (this.#entries[place] === reading) this.#shown();
    else this.#focus(place);
    this.#goOn();
    this.#say(`All by ${author.name} is being hidden. The log takes it back.`);
  }

  /**
   * Say why a decision failed; show its comment again, unless it is gone or decided already.
   * @param {Pending} item @param {number} place @param {unknown} problem
   */
  async #comeBack(item, place, problem) {
    this.#say(told(problem));
    if (!(problem instanceof Problem) || ["comment_deleted", "unknown_comment", "unknown_node"].includes(problem.code)) return;
    let now = item;
    if (problem.code === "comment_changed") {
      const facts = /** @type {{state?: State, act?: {by: {name: string} | null} | null}} */ (problem.body.facts || {});
      if (facts.state && facts.state !== item.state) return this.#say(`${facts.act?.by?.name || "Another moderator"} has already decided: ${DONE[facts.state] || facts.state}.`);
      const comment = await ask(pathOf(item)).catch(() => null);
      if (comment) now = { ...item, excerpt: comment.text, edited_at: comment.edited_at, state: comment.state };
    }
    const isReading = this.#entries.length > 0;
    const back = Math.min(place, this.#entries.length);
    this.#insert(back, now);
    if (!isReading) return this.#focus(back);
    // The next key is meant for the comment that is being read.
    if (back <= this.#at) this.#at++;
    this.#shown();
  }

  /**
   * Put the last decided comment into the queue again, after the answer to its decision: the API
   * may take two calls at once in either order.
   */
  async #takeBack() {
    const decision = this.#decided.pop();
    if (!decision) return this.#say("There is nothing to take back.");
    if (!(await decision.isAccepted)) return;
    const { item, decided } = decision;
    const state = item.queue === "spam" ? "spam" : "pending";
    try {
      await this.#send(item, { state, as_shown: { state: decided, edited_at: item.edited_at } });
      // The next decision names this state in `as_shown`.
      this.#insert(this.#at, { ...item, state });
      this.#focus(this.#at);
      this.#say(DONE.pending);
    } catch (problem) {
      if (problem instanceof Problem && problem.code === "comment_changed") return this.#say("It was changed since, and stays as it is.");
      this.#decided.push(decision);
      this.#say(told(problem));
    }
  }

  /** @param {string} text */
  #say(text) {
    this.#status.textContent = text;
  }
}

/** @param {Pending} item */
const pathOf = (item) => `/nodes/${encodeURIComponent(item.node_id)}/comments/${item.id}`;

/** @param {Pending} item */
const writerOf = ({ site, author }) => `${site}/${author.id}`;

/** @param {string} key @param {string} act */
const keys = (key, act) => [h("span", { class: "key" }, h("kbd", {}, key), ` ${act}`), " "];

/** @param {unknown} problem */
function told(problem) {
  if (!(problem instanceof Problem) || problem.code === "offline") return "Plaza does not answer. Try again.";
  if (problem.code === "comment_changed") return "It was edited while you read it: this is the new text.";
  return problem.message || problem.code;
}

customElements.define("plaza-queue", Queue);
