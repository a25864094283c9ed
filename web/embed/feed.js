// @ts-check
/** <plaza-feed view="news">: the posts of followed people, a wall, or an activity feed. */
import { call, Problem, readerId } from "./api.js";
import { apiOf, h, sheet, tell } from "./element.js";
import { goTo } from "./focus.js";
import { tellFresh } from "./fresh.js";
import { articleOf, commentOf, editedAt, isAction, pathOf, personOf, showVotes } from "./item.js";
import { Live } from "./live.js";
import { load } from "./load.js";
import { renewTimes } from "./renewal.js";
import { failure, followReader, invitation, retry } from "./states.js";
import { wordsFor } from "./words.js";
import feed from "./words/en/feed.js";
import base from "./base.css";
import css from "./feed.css";

/** @typedef {import("./item.js").Item} Item */
/** @typedef {import("./item.js").Comment} Comment */
/** @typedef {import("./item.js").Schemas} Schemas */
/** @typedef {typeof import("./writing.js")} Writing */
/** @typedef {{items: Item[], next: string | null}} Page */

const STYLES = [base, css].map(sheet);
/** @type {Record<string, string>} */
const PATHS = { news: "/users/me/news", wall: "/users/me/wall", incoming: "/users/me/incoming", activity: "/feed" };
/** The API may send empty pages before the last: `#page` skips at most so many. */
const MOST_EMPTY = 5;
/** The least time between two attempts to read the reader's role. */
const ROLE_PAUSE_MS = 1_000;
/** The module that signed-in readers load as well; the build inserts this release's address. */
const WRITING = BUILT_WRITING;

export default class PlazaFeed extends Live {
  static reads = ["view", "user", "limit", "images", "lang", "api", "sign-in"];

  #root = this.attachShadow({ mode: "open" });
  #list = h("ol", { part: "list", class: "thread" });
  #status = h("p", { role: "status", class: "status" });
  #fresh = h("p", { "aria-live": "polite", class: "fresh" });
  #more = h("button", { class: "more", part: "button", hidden: true, onclick: () => this.#nextPage() });
  #title = h("h2", { id: "title", part: "title" });
  /** The subject of the reader's token; "" for a guest. */
  #reader = "";
  /**
   * The reader's id in the API: for a few readers it differs from `#reader`. `#askRole` corrects it
   * on the first hover or focus.
   */
  #viewer = "";
  /** Whether the reader is a moderator; null before `#askRole` knows. @type {boolean | null} */
  #moderates = null;
  /** The time (`performance.now()`) before which `#askRole` does not ask the API again. */
  #asksAgainAt = 0;
  /** @type {Writing | null} */
  #writing = null;
  /** @type {string | null} */
  #next = null;
  /**
   * The id of the newest item at the last look; null for an empty feed, undefined before the first.
   * @type {string | null | undefined}
   */
  #newest = undefined;
  /** The shown items, by id. @type {Map<string, HTMLElement>} */
  #shown = new Map();
  /** Functions that draw a shown comment again. @type {WeakMap<HTMLElement, () => HTMLElement>} */
  #remake = new WeakMap();
  /** @type {import("./words.js").Words} */
  #words = /** @type {any} */ (null);

  /** @param {HTMLElement} [stub] */
  constructor(stub) {
    super(stub);
    this.#root.adoptedStyleSheets = STYLES;
    this.#root.append(h("slot"));
  }

  /** @param {AbortSignal} alive */
  connected(alive) {
    followReader(() => this.#reader, () => this.restart(), alive);
    this.watch(() => this.#look(), {
      api: apiOf(this),
      name: () => this.#reader && this.#view === "news" ? "news" : "",
      known: () => this.#newest,
      call: (path) => call(apiOf(this), path, { signal: alive }),
    });
  }

  get #view() {
    const view = this.getAttribute("view") || "";
    return this.hasAttribute("user") ? "wall" : view in PATHS ? view : "news";
  }

  /** @param {string} path @param {import("./api.js").Options} [options] */
  async #call(path, options) {
    const { alive, now } = this;
    const answer = await call(apiOf(this), path, { signal: alive, as: this.#reader, ...options });
    if (now.aborted) throw new Problem({});
    return answer;
  }

  /** @param {string | null} [cursor] @returns {Promise<Page>} */
  async #page(cursor = null) {
    const user = this.getAttribute("user");
    const path = user ? `/users/${encodeURIComponent(user)}/wall` : PATHS[this.#view];
    const isFirst = !cursor;
    for (let empty = 0; ; empty++) {
      const query = new URLSearchParams({ limit: this.getAttribute("limit") || "10", ...(cursor && { cursor }) });
      const { posts, actions, next } = await this.#call(`${path}?${query}`);
      const items = posts || actions;
      if (items.length || !next || empty === MOST_EMPTY) {
        if (isFirst) this.#newest = items[0]?.id || null;
        return { items, next };
      }
      cursor = next;
    }
  }

  /** @param {AbortSignal} now */
  async start(now) {
    const reader = await readerId();
    if (reader === null && !this.hasAttribute("user")) throw new Problem({ code: "sign_in_failed" });
    /** @type {[Writing | null, Page | null]} */
    const [writing, page] = await Promise.all([
      reader ? load(WRITING).catch(() => null) : null,
      reader || this.hasAttribute("user") ? this.#page() : null,
    ]);
    const words = await wordsFor(this, { feed, ...writing?.MATTERS });
    if (now.aborted) return;
    this.#words = words;
    if (this.#reader !== reader) {
      this.#moderates = null;
      this.#viewer = reader || "";
    }
    this.#asksAgainAt = 0;
    this.#reader = reader || "";
    this.#writing = writing;
    this.#root.adoptedStyleSheets = [...STYLES, ...(writing?.STYLES || [])];
    this.#render(page);
    if (page && this.#view === "activity") await this.#seen(now);
    if (!now.aborted) tell(this, "ready");
  }

  /** Tell that the reader has seen the feed: once the page is visible, as nobody sees one that was opened ahead. @param {AbortSignal} signal */
  async #seen(signal) {
    if (!document.hidden) return this.#call("/feed/seen", { method: "PUT" }).catch(() => null);
    document.addEventListener("visibilitychange", () => this.#seen(signal), { once: true, signal });
  }

  /** @param {unknown} error */
  async fail(error) {
    this.#words ||= await wordsFor(this, { feed });
    // The page's token was refused: its reader is a guest here.
    if (error instanceof Problem && error.response?.status === 401) {
      this.#reader = "";
      this.#render(null);
    }
    else this.#root.replaceChildren(failure(this, error, this.#words, () => this.restart()));
  }

  /** Load the list again after a press of the button for new posts, and focus the first item. */
  async #renewAll() {
    await this.restart();
    goTo(this.#list.firstElementChild);
  }

  /** @param {Page | null} page Null for a guest of a feed that needs a signed-in reader. */
  #render(page) {
    const { t, isRtl, language } = this.#words;
    const user = this.getAttribute("user");
    const owner = user && page?.items.map(personOf).find(({ id }) => id === user);
    this.#title.textContent = owner ? t("wallOf", { name: owner.name }) : t(this.#view);
    for (const each of [this.#list, this.#status, this.#fresh]) each.replaceChildren();
    this.#shown.clear();
    this.#more.textContent = t("more");
    const writes = page && this.#reader && (user ? user === this.#viewer : ["news", "wall"].includes(this.#view));
    const head = page
      ? [writes && (this.#writing ? this.#writing.composer(this.#desk, (post) => this.#posted(post)) : retry(new Problem({ code: "offline" }), this.#words, () => this.restart()))]
      : [h("slot"), invitation(this, this.#words, "signInFeed")];
    this.#root.replaceChildren(
      h("section", { part: "root", dir: isRtl ? "rtl" : "ltr", lang: language, tabindex: -1, "aria-labelledby": "title", onpointerover: () => this.#askRole(), onfocusin: () => this.#askRole() },
        h("header", {}, this.#title), this.#fresh, ...head, this.#status, this.#list, this.#more));
    if (page) this.#show(page);
    else this.#more.hidden = true;
  }

  /** @param {Page} page */
  #show({ items, next }) {
    for (const item of items) if (!this.#shown.has(item.id)) this.#list.append(this.#item(item));
    this.#next = next;
    this.#more.hidden = !next;
    if (!this.#shown.size && !next) this.#status.textContent = this.#words.t("nothing");
  }

  #nextPage() {
    return this.#tried(async () => {
      const last = this.#list.lastElementChild;
      this.#show(await this.#page(this.#next));
      goTo(last?.nextElementSibling);
    });
  }

  /**
   * Read the first page, renew its shown comments and count its new items. Shows a button for them;
   * adds none itself, so that the list does not move under the reader.
   */
  async #look() {
    if (!this.#words || !(this.#reader || this.hasAttribute("user"))) return false;
    renewTimes(this.#root);
    const places = new Set(this.#root.querySelectorAll(".comments > *"));
    const shown = /** @type {HTMLElement[]} */ ([...this.#list.children]);
    const page = await this.#page();
    const { items } = page;
    for (const each of items) this.#renew(each, places);
    if (this.#view !== "activity") this.#compare(shown, page);
    const n = items.filter((each) => !this.#shown.has(each.id)).length;
    tellFresh(this.#fresh, n, this.#words.t("posts", { n }), () => this.#renewAll());
    return n > 0;
  }

  /**
   * Remove what the first page lacks, draw what was edited. Leaves items in which the reader writes,
   * and their own posts, which news do not have.
   * @param {HTMLElement[]} shown The items from before the read. @param {Page} page
   */
  #compare(shown, { items, next }) {
    const there = new Map(items.map((each) => [each.id, each]));
    const end = next ? Math.max(...shown.map(({ id }, at) => (there.has(id) ? at : -1))) : shown.length;
    for (const place of shown.slice(0, end + 1)) {
      const now = there.get(place.id);
      const isOwn = place.dataset.by === this.#viewer;
      if (!place.isConnected || place.querySelector("form") || (!now && isOwn)) continue;
      if (!now) this.#drop(place.id);
      else if (editedAt(now) !== place.dataset.edited) this.#fill(place, now);
    }
  }

  /** @returns {import("./writing.js").Desk} */
  get #desk() {
    const reader = this.#reader;
    return { words: this.#words, reader, viewer: this.#viewer, moderates: Boolean(this.#moderates), call: (path, options) => this.#call(path, { as: reader, ...options }), tried: (act) => this.#tried(act) };
  }

  /** @param {import("./item.js").Post} post */
  #posted(post) {
    const item = this.#shown.get(post.id) || this.#item(post);
    this.#list.prepend(item);
    this.#say(this.#words.t("posted"));
    goTo(item);
    tell(this, "posted", { id: post.id });
  }

  /** @param {Item} item @returns {HTMLElement} */
  #item(item) {
    const made = h("li", { id: item.id, part: "post", tabindex: -1 });
    this.#fill(made, item);
    this.#shown.set(item.id, made);
    return made;
  }

  /** @param {HTMLElement} place @param {Item} item */
  #fill(place, item) {
    const article = articleOf(item, this.#words, { api: apiOf(this), all: this.hasAttribute("images") });
    const comments = h("ol", { class: "thread comments" });
    const user = this.getAttribute("user");
    const given = isAction(item) ? [] : item.comments;
    comments.append(...given.map((each) => this.#comment(item, each)));
    const footer = h("footer", {});
    if (item.comment_count > given.length) footer.append(this.#allComments(item, comments));
    footer.append(...(this.#writing?.toolsFor(this.#desk, item, {
      place, article,
      isOnOwnWall: this.#view === "wall" && (!user || user === this.#viewer),
      commented: (comment) => { this.#put(item, comment, comments); this.#say(this.#words.t("posted"), article); },
      changed: (now) => this.#fill(place, now),
      voted: (now) => showVotes(article, now),
      removed: () => this.#removed(item),
    }) || []));
    if (!isAction(item) && item.type === "poll") showVotes(article, item);
    article.append(comments, footer);
    Object.assign(place.dataset, { by: personOf(item).id, edited: editedAt(item) });
    place.replaceChildren(article);
  }

  /** A button that shows all comments, from the first one on. @param {Item} item @param {HTMLElement} list */
  #allComments(item, list) {
    /** @type {string | null} */
    let next = null;
    let isBegun = false;
    const button = h("button", { part: "button", onclick: () => this.#tried(async () => {
      const query = new URLSearchParams({ limit: "50", ...(next && { cursor: next }) });
      /** @type {Schemas["PostCommentsAnswer"]} */
      const page = await this.#call(`${pathOf(item)}/comments?${query}`);
      const isHere = this.#root.activeElement === button;
      if (!isBegun) list.replaceChildren();
      isBegun = true;
      const first = list.children.length;
      for (const each of page.comments) this.#put(item, each, list);
      next = page.next;
      button.textContent = this.#words.t("more");
      if (next) return;
      button.remove();
      if (isHere) /** @type {HTMLElement | undefined} */ (list.children[first])?.focus();
    }) }, this.#words.t("count", { n: item.comment_count }));
    return button;
  }

  /**
   * Put a comment into a list by its time, in place of an earlier copy.
   * @param {Item} item @param {Comment} comment @param {HTMLElement} list
   */
  #put(item, comment, list) {
    list.querySelector(`[data-id="${comment.id}"]`)?.remove();
    const isLater = (/** @type {HTMLElement} */ { dataset }) => Date.parse(String(dataset.at)) > Date.parse(comment.posted_at);
    list.insertBefore(this.#comment(item, comment), /** @type {HTMLElement[]} */ ([...list.children]).find(isLater) || null);
  }

  /** @param {Item} item @param {Comment} comment @returns {HTMLElement} */
  #comment(item, comment) {
    /** @type {HTMLElement} */
    const place = commentOf(comment, this.#words, this.#writing?.commentTools(this.#desk, item, comment, () => ({
      place,
      changed: (now) => { const made = this.#comment(item, now); place.replaceWith(made); goTo(made); },
      removed: () => this.#again(item),
    })));
    this.#remake.set(place, () => this.#comment(item, comment));
    return place;
  }

  /** Read a post again and draw it; remove it if the API answers 404. @param {Item} item */
  async #again(item) {
    const shown = this.#shown.get(item.id);
    try {
      const now = await this.#call(pathOf(item));
      if (shown) this.#fill(shown, now);
      goTo(shown);
    } catch (error) {
      if (!(error instanceof Problem) || error.response?.status !== 404) throw error;
      this.#removed(item);
    }
  }

  /**
   * Compare a post's last comments with the shown ones: remove the deleted, draw the edited again.
   * Leaves a comment in which the reader has a form.
   * @param {Item} item @param {Set<Element>} places The comments from before the read.
   */
  #renew(item, places) {
    const list = this.#shown.get(item.id)?.querySelector(".comments");
    if (!list || isAction(item)) return;
    const since = item.comment_count > item.comments.length ? Date.parse(item.comments[0]?.posted_at) : 0;
    for (const place of /** @type {Iterable<HTMLElement>} */ ([...list.children])) {
      const { id, at, edited } = place.dataset;
      const now = item.comments.find((each) => each.id === id);
      if (!places.has(place) || place.querySelector("form") || !(Date.parse(String(at)) >= since)) continue;
      if (!now) place.remove();
      else if (editedAt(now) !== edited) place.replaceWith(this.#comment(item, now));
    }
  }

  /**
   * Read the reader's id and role on their first hover or focus, and again after a failure. Only
   * moderators and readers with another id get other buttons; the feed draws those then.
   */
  async #askRole() {
    if (this.#moderates !== null || !this.#writing || performance.now() < this.#asksAgainAt) return;
    const { now } = this;
    this.#asksAgainAt = Infinity;
    const who = await this.#writing.whoReads(this.#desk).catch(() => null);
    // The feed started again: `start` ends the pause, so that the next hover or focus asks.
    if (now.aborted) return;
    this.#asksAgainAt = performance.now() + ROLE_PAUSE_MS;
    if (!who) return;
    const before = this.#viewer;
    [this.#viewer, this.#moderates] = [who.id, who.moderates];
    if (who.id === before && !who.moderates) return;
    // Whether this wall is the reader's own has changed.
    if (who.id !== before && [before, who.id].includes(this.getAttribute("user") || "")) return this.#beginAgain();
    // In place: the reader may be writing by now.
    for (const place of /** @type {Iterable<HTMLElement>} */ (this.#root.querySelectorAll(".comments > *"))) {
      if (place.querySelector("form")) continue;
      const isFocused = place.contains(this.#root.activeElement);
      const made = /** @type {() => HTMLElement} */ (this.#remake.get(place))();
      place.replaceWith(made);
      if (isFocused) made.focus();
    }
  }

  /** Start again unless the reader has a form open in an item; focus stays in the feed. */
  async #beginAgain() {
    if (this.#root.querySelector("article form")) return;
    const isFocused = this.#root.activeElement;
    await this.restart();
    if (isFocused) this.#root.querySelector("section")?.focus();
  }

  /** @param {Item} item */
  #removed(item) {
    const shown = this.#shown.get(item.id);
    const near = [shown?.nextElementSibling, shown?.previousElementSibling, this.#root.querySelector("section")];
    this.#drop(item.id);
    goTo(near.find(Boolean));
  }

  /** @param {string} id */
  #drop(id) {
    this.#shown.get(id)?.remove();
    this.#shown.delete(id);
  }

  /**
   * Run an act; show its outcome, or why it failed, in the status.
   * @param {() => Promise<string | void>} act Returns the key of the outcome's text, if any.
   */
  async #tried(act) {
    const { now } = this;
    const pressed = this.#root.activeElement;
    try {
      const told = await act();
      this.#say(told ? this.#words.t(told) : "", pressed);
    } catch (error) {
      if (!now.aborted) this.#say(this.#words.reason(error), pressed);
    }
  }

  /** Show a status text where its reader pressed, else where the focus is, or else above the list. @param {string} told @param {Element | null} [pressed] */
  #say(told, pressed) {
    const at = pressed?.isConnected ? pressed : this.#root.activeElement;
    const article = at?.closest("[part=post]")?.firstElementChild;
    if (article) article.append(this.#status);
    else if (at === this.#more) this.#more.before(this.#status);
    else this.#list.before(this.#status);
    this.#status.textContent = told;
  }
}
