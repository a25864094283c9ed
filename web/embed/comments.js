// @ts-check
/** <plaza-comments node="harbour:moon">: the discussion of a page. */
import { call, Problem, readerId } from "./api.js";
import { siteOf } from "./author.js";
import { keepEnd } from "./around.js";
import { arriveAt, follow, goOn, idFor, isLost, join, renewLinks } from "./arrival.js";
import { articleOf } from "./comment.js";
import { apiOf, h, sheet, tell } from "./element.js";
import { keepGuest } from "./guests.js";
import { Head } from "./head.js";
import { keep, kept } from "./kept.js";
import { Live } from "./live.js";
import { load } from "./load.js";
import { commentBar, marksOf, pageBar } from "./marked.js";
import { isByTime, lookForFeatured, offerFeatured, orderNamed, orderSelect } from "./orders.js";
import { fill } from "./markup.js";
import { makePart } from "./part.js";
import { loadPeople } from "./people.js";
import { Pins } from "./pins.js";
import { canReport } from "./report.js";
import { failure, followReader, invitation, retry } from "./states.js";
import { arrange, Thread } from "./thread.js";
import { wordsFor } from "./words.js";
import comments from "./words/en/comments.js";
import base from "./base.css";
import css from "./comments.css";

/** @typedef {import("./comment.js").Comment} Comment */
/** @typedef {import("./plaza-api.js").components["schemas"]["CommentsAnswer"]} Page */

const STYLES = [base, css].map(sheet);
const PAGE = "50";
/** Where a tab keeps the order that its reader has chosen for a discussion. */
const ORDER_OF = "plaza:order:";
/** Files for signed-in readers and for pages that stay open; the build writes this release's addresses. */
const OF_ACTS = BUILT_ACTS;
const CHANGES = BUILT_CHANGES;
/** The file for writing without an account. */
const OF_GUESTS = BUILT_GUESTS;
/** The file that makes the discussion of a page at its first visit. */
const VISIT = BUILT_VISIT;

export default class PlazaComments extends Live {
  static needs = ["node"];
  static reads = ["order", "lang", "api", "sign-in"];

  #root = this.attachShadow({ mode: "open" });
  #thread = new Thread((comment) => this.#article(comment));
  #pins = new Pins();
  #head = new Head();
  #status = h("p", { role: "status", class: "status" });
  #fresh = h("p", { "aria-live": "polite", class: "fresh" });
  #earlier = h("button", { class: "more earlier", part: "button", hidden: true, onclick: () => this.#previousPage() });
  #more = h("button", { class: "more", part: "button", hidden: true, onclick: () => this.#nextPage() });
  #title = h("h2", { id: "title", part: "title" });
  #header = h("header", {}, this.#title);
  #lookForFeatured = () => {};
  #section = h("section", { part: "root", tabindex: -1, "aria-labelledby": "title", onpointerover: () => this.#lookForFeatured(), onfocusin: () => this.#lookForFeatured() });
  /** The reader whom the token names: the API may know them by another id. */
  #reader = "";
  /** Whether the page has failed to say who reads. */
  #isUnknown = false;
  /** The id of the reader whom the API has shown the discussion to; "" for a guest. */
  #viewer = "";
  /** @type {string | null} */
  #previous = null;
  /** @type {string | null} */
  #next = null;
  /** The last comment of the pages that the reader has asked for. */
  #end = "";
  #count = 0;
  /** How many writes the reader has sent here, and how many have ended. */
  #begun = 0;
  #ended = 0;
  /** The requested order, "" for the node's own; order and node by attribute; the shown order. */
  #order = "";
  #named = "";
  #id = "";
  #listed = "";
  #orders = h("select");
  /** People, once the reader has asked for one. @type {import("./people.js").Cards | null} */
  #people = null;
  /** Of the looks for changes: how often each comment was asked for, and the states that are not shown yet. */
  #asked = /** @type {Map<string, number>} */ (new Map());
  #lagging = /** @type {Map<string, boolean>} */ (new Map());
  /** @type {Page["node"] | null} */
  #node = null;
  /** The API's version of the shown discussion. */
  #version = "";
  /** The acts of a signed-in reader, if loaded. @type {import("./acts.js").Acts | null} */
  #acts = null;
  /** Votes and reactions to the page and its comments; null if there are none, or loading failed. @type {ReturnType<typeof marksOf>} */
  #marks = Promise.resolve(null);
  /** The reader, node and settings that acts and marks were made for. */
  #marked = "";
  /** Whether votes and reactions could not be loaded. */
  #lacksMarks = false;
  /** @type {import("./words.js").Words} */
  #words = /** @type {any} */ (null);

  /** @param {HTMLElement} [stub] */
  constructor(stub) {
    super(stub);
    this.#root.adoptedStyleSheets = STYLES;
    // The page's own content, such as a link without scripts, stays until the comments come.
    this.#root.append(h("slot"));
    this.#root.addEventListener("click", (event) => follow(/** @type {MouseEvent} */ (event)) && this.#jump());
  }

  /** @param {AbortSignal} signal */
  connected(signal) {
    join(this, signal);
    followReader(() => this.#reader, () => this.restart(), signal);
    addEventListener("hashchange", () => { renewLinks(this.#root); this.#jump(); }, { signal });
    this.watch(() => this.#look(), {
      api: apiOf(this),
      name: () => this.#node ? `node:${this.getAttribute("node")}` : "",
      known: () => this.#version,
      call: (path) => call(apiOf(this), path, { signal }),
    });
  }

  /** @param {string} rest @param {import("./api.js").Options} [options] @returns {Promise<any>} */
  async #callNode(rest, options) {
    const node = encodeURIComponent(this.getAttribute("node") || "");
    const isWrite = Number((options?.method || "GET") !== "GET");
    this.#begun += isWrite;
    try {
      return await call(apiOf(this), `/nodes/${node}${rest}`, { signal: this.alive, as: this.#reader, ...options });
    } finally {
      this.#ended += isWrite;
    }
  }

  /** @param {string} [rest] @param {import("./api.js").Options} [options] */
  async #call(rest = "", options) {
    const { now } = this, reader = this.#reader;
    const answer = await this.#callNode(`/comments${rest}`, options);
    // A write by the same reader is shown even if they have chosen another order meanwhile.
    if (now.aborted && (!options?.method || reader !== this.#reader || this.alive.aborted)) throw new Problem({});
    return answer;
  }

  /** Read a page; once more if it may be older than what its reader has written meanwhile. @param {Record<string, string>} [where] @param {boolean} [anew] @returns {Promise<Page>} */
  async #page(where = {}, anew = false) {
    this.#order ||= kept("sessionStorage", ORDER_OF + this.#id) || this.#named;
    const ended = this.#ended;
    const page = await this.#call(`?${new URLSearchParams({ ...(this.#order && { order: this.#order }), limit: PAGE, ...where })}`, { anew });
    return ended === this.#ended ? page : this.#page(where, true);
  }

  /** @param {AbortSignal} now */
  async start(now) {
    const reader = await readerId();
    if (now.aborted) return;
    const [named, id] = [orderNamed(this), this.getAttribute("node") || ""];
    if (this.#node && (named !== this.#named || id !== this.#id)) goOn();
    if (named !== this.#named || id !== this.#id) this.#order = "";
    if (this.#node && named !== this.#named) keep("sessionStorage", ORDER_OF + id, "");
    [this.#named, this.#id] = [named, id];
    const ended = this.#ended;
    const asked = this.#page().catch((error) => this.#visited(error));
    // A failure is met below, once the rest is there.
    asked.catch(() => {});
    /** @type {typeof import("./acts.js") | null} */
    const acts = reader ? await load(OF_ACTS).catch(() => null) : null;
    const words = await wordsFor(this, { comments, ...acts?.ACT_WORDS });
    let page = await asked;
    // The reader may have written while the words were loading.
    if (ended !== this.#ended) page = await this.#page({}, true);
    if (now.aborted) return;
    this.#words = words;
    if (acts) this.#root.adoptedStyleSheets = [...new Set([...this.#root.adoptedStyleSheets, acts.FORM_STYLES])];
    if (reader !== this.#reader) this.#people = null;
    this.#reader = reader || "";
    this.#isUnknown = reader === null;
    const { votes, reactions } = page.node;
    const isModerator = page.viewer?.can.includes("moderate");
    // Who may not write may not vote either.
    const locked = page.node.locked || !(page.node.open || isModerator);
    const viewer = page.viewer?.id || "";
    const marked = JSON.stringify([reader, viewer, page.node.id, words.language, votes, reactions, locked]);
    const isOther = !acts !== !this.#acts || marked !== this.#marked;
    if (isOther) {
      this.#act(acts, page, words);
      this.#head.clear();
    }
    if (isOther || this.#lacksMarks) {
      this.#lacksMarks = false;
      const marks = this.#marks = marksOf(this.#root, {
        words, node: { ...page.node, locked }, reader: viewer, isOver: () => marked !== this.#marked || this.alive.aborted,
        // Waiting marks belong to this reader, even once another has come.
        call: (path, options) => this.#callNode(path, { as: reader || "", ...options }),
        say: (told, id) => this.#say(told, this.#thread.comment(id)),
        invitation: (words, key) => invitation(this, words, key),
      });
      // Null also where the site has neither votes nor reactions: then the next look costs nothing.
      marks.then((there) => { if (!there && marks === this.#marks) this.#lacksMarks = true; }, () => {});
    }
    this.#marked = marked;
    keepEnd(this, () => this.#render(page));
    await this.#jump();
    tell(this, "ready");
  }

  /** Set the acts of a signed-in reader, or null. @param {typeof import("./acts.js") | null} acts @param {Page} page @param {import("./words.js").Words} words */
  #act(acts, page, words) {
    this.#acts = acts && new acts.Acts({
      words, reader: this.#reader, name: page.viewer?.name, keepGuest, node: page.node.id, thread: this.#thread,
      call: (rest, options) => this.#call(rest, options),
      callNode: (rest, options) => this.#callNode(rest, options),
      preview: async (text, mentions) => fill(h("div", { class: "text", dir: "auto" }),
        (await call(apiOf(this), "/preview", { method: "POST", body: { node: page.node.id, text, mentions }, signal: this.alive })).html),
      say: (told, comment) => this.#say(told, comment),
      count: (more) => this.#counted(this.#count + more),
      look: () => { this.#look().catch(() => false); },
      leave: () => this.#root.querySelector("section")?.focus(),
      posted: (posted) => tell(this, "posted", { id: posted }),
    });
  }

  /** @param {unknown} error */
  async fail(error) {
    this.#words ||= await wordsFor(this, { comments });
    this.#root.replaceChildren(failure(this, error, this.#words, () => this.restart()));
  }

  /** Start anew from the top, and ignore the comment in the page's address. */
  #startFromTop() {
    goOn();
    return this.restart();
  }

  /** Make the discussion of a page at its first visit, and read it; rethrow the error if that fails. @param {any} error @returns {Promise<Page>} */
  async #visited(error) {
    if (error.code !== "unknown_node") throw error;
    /** @type {typeof import("./visit.js")} */
    const { visit } = await load(VISIT).catch(() => { throw error; });
    const isMade = await visit(this.getAttribute("node") || "", (path, options) => this.#callNode(path, { ...options, as: "" }));
    if (!isMade) throw error;
    return this.#page({}, true);
  }

  /** @param {Page} page @param {string} [order] The requested order. */
  #render(page, order = this.#order) {
    const { t, isRtl, language } = this.#words;
    const isOrdering = this.#root.activeElement === this.#orders;
    this.#node = page.node;
    // A look that has begun is about the list that this replaces.
    this.#begun++;
    this.#ended++;
    [this.#order, this.#listed] = [order, page.order];
    const orders = this.#orders = orderSelect(this.#words, page, (chosen) => { keep("sessionStorage", ORDER_OF + this.#id, this.#order = chosen); this.#startFromTop(); });
    this.#marks.then((there) => there?.meet(page));
    const bar = pageBar(page, this.#marks, this.#words);
    for (const each of [this.#status, this.#fresh]) each.replaceChildren();
    this.#thread.clear(page.order);
    if (!page.viewer?.can.includes("post")) this.#head.clear("form");
    this.#headed(page);
    this.#more.textContent = t("more");
    this.#earlier.textContent = t("earlier");
    this.#lookForFeatured = lookForFeatured(orders, this.#words, () => this.#page({ order: "featured", limit: "1" }));
    Object.assign(this.#section, { dir: isRtl ? "rtl" : "ltr", lang: language });
    arrange(this.#root, this.#section);
    arrange(this.#header, this.#title, orders);
    arrange(this.#section, this.#header, ...(bar ? [bar] : []), this.#fresh, this.#head.place, this.#status, this.#pins.place, this.#earlier, this.#thread.list, this.#more);
    if (isOrdering) orders.focus();
    this.#previous = page.previous;
    this.#earlier.hidden = !page.previous;
    this.#asked.clear();
    this.#lagging.clear();
    this.#viewer = page.viewer?.id || "";
    this.#pins.show(page.pinned, this.#words);
    for (const comment of [...page.waiting, ...(page.ancestors || [])]) this.#thread.place(comment);
    this.#show(page);
    this.#counted(page.node.counts.visible);
  }

  /** @param {Page} page */
  #headed(page) {
    this.#version = page.version;
    const words = this.#words;
    this.#head.show(page, words,
      () => this.#acts ? this.#acts.write() : this.#failed("offline", words),
      () => this.#isUnknown ? this.#failed("sign_in_failed", words) : this.#invitation(page, words));
  }

  /** Why there is no form, and a button that starts the discussion anew. @param {string} code @param {import("./words.js").Words} words */
  #failed(code, words) {
    return retry(new Problem({ code }), words, () => this.restart());
  }

  /** @param {Page} page @param {import("./words.js").Words} words */
  #invitation({ node: { guests, providers = [] } }, words) {
    const invited = invitation(this, words, "signIn");
    if (guests === "off") return invited;
    const offered = () => load(OF_GUESTS).then(({ offer }) => offer(invited, words, guests, call, keepGuest)).catch(() => { throw new Problem({}); });
    let there = offered();
    // A press shows the failure.
    there.catch(() => {});
    // At once: a later button would move the list.
    if (guests !== "accounts") invited.append(" ", h("button", { part: "button", onclick: () => this.#tried(async () => (await (there = there.catch(offered)))()) }, words.t("asGuest")));
    const back = encodeURIComponent(location.href.split("#")[0]);
    // A cache may have a page of the release before, which names none.
    for (const { key, name } of providers) {
      invited.append(" ", h("a", { part: "button provider", href: `${apiOf(this)}/sites/${siteOf(this.#id)}/providers/${key}/sign-in?return_to=${back}` }, words.t("signInBy", { name })));
    }
    return invited;
  }

  /** Return the reader's acts; throws Problem `offline` without them, as after a failed load. */
  #can() {
    if (!this.#acts) throw new Problem({});
    return this.#acts;
  }

  /** @param {Page} page */
  #show(page) {
    for (const comment of page.comments) this.#thread.place(comment);
    this.#thread.adopt();
    this.#next = page.next;
    this.#end = page.comments.at(-1)?.id || "";
    this.#more.hidden = !page.next;
  }

  /** @param {number} count */
  #counted(count) {
    this.#count = count;
    this.#title.textContent = count ? this.#words.t("count", { n: count }) : this.#words.t("empty");
  }

  /** @param {Comment} comment */
  #article(comment) {
    const tried = (/** @type {(acts: import("./acts.js").Acts) => void | string | Promise<void | string>} */ act) => this.#tried(async () => act(this.#can()), comment);
    const article = /** @type {HTMLElement} */ (makePart(this.#words, () => articleOf(comment, this.#words, {
      reply: () => tried((acts) => acts.reply(comment)),
      edit: () => tried((acts) => acts.edit(comment)),
      remove: ({ currentTarget }) => tried((acts) => acts.remove(comment, currentTarget, (act) => this.#tried(act, comment))),
      report: canReport(comment, this.#viewer) ? () => tried((acts) => acts.report(comment)) : null,
      decide: (state) => tried((acts) => acts.decide(comment, state)),
      highlight: (what, isOn) => tried(async (acts) => {
        const told = await acts.highlight(comment, what, isOn, this.#pins);
        if (told === "isFeatured") offerFeatured(this.#orders, this.#words);
        return told;
      }),
      isPinned: this.#pins.has(comment.id),
      isFeatured: this.#listed === "featured",
      api: apiOf(this),
      person: (name) => this.#tried(async () => (await this.#cards()).toggle(comment, name), comment),
    }, commentBar(comment, this.#node, this.#marks, this.#words))));
    this.#people?.settle(article);
    return article;
  }

  /** Load the cards of people for this reader; throws Problem if another viewer comes. */
  async #cards() {
    const [reader, viewer, { language }] = [this.#reader, this.#viewer, this.#words];
    if (this.#people?.reader === viewer && this.#people.words.language === language) return this.#people;
    const people = await loadPeople({
      words: this.#words, root: this.#root, reader: viewer, site: siteOf(this.#node?.id || ""),
      call: (path, options) => call(apiOf(this), path, { signal: this.alive, as: reader, ...options }),
      tried: async (act) => {
        let told = "";
        await this.#tried(async () => { told = (await act()) || ""; });
        if (told) this.#say(told);
      },
      look: () => { this.#look().catch(() => false); },
      restart: async () => {
        await this.restart();
        this.#root.querySelector("section")?.focus();
      },
    });
    if (viewer !== this.#viewer) throw new Problem({});
    return (this.#people = people);
  }

  /** Run an action, and show its outcome or failure at a comment or above the list. @param {() => Promise<string | void>} act @param {Comment} [comment] */
  async #tried(act, comment) {
    const { now } = this;
    try {
      const told = await act();
      this.#say(told ? this.#words.t(told) : "", comment);
    } catch (error) {
      if (!now.aborted) this.#say(this.#words.reason(error), comment);
    }
  }

  /** Show a status text at a comment, or else above the list; return its element. @param {string} told @param {Comment} [comment] */
  #say(told, comment) {
    // A deleted comment has left the focus beside its place.
    const item = comment && (this.#thread.item(comment.id) || this.#root.activeElement?.closest("li"));
    const article = item?.firstElementChild;
    if (article) article.append(this.#status);
    else this.#head.place.after(this.#status);
    this.#status.textContent = told;
    return this.#status;
  }

  #nextPage() {
    return this.#tried(async () => {
      const page = await this.#page(this.#next ? { cursor: this.#next, order: this.#listed } : {});
      const isHere = this.#root.activeElement === this.#more;
      const last = this.#thread.list.lastElementChild;
      this.#show(page);
      if (isHere) /** @type {HTMLElement | null | undefined} */ (last?.nextElementSibling)?.focus({ preventScroll: true });
    });
  }

  #previousPage() {
    return this.#tried(async () => {
      const page = await this.#page(this.#previous ? { cursor: this.#previous, order: this.#listed } : {});
      const isHere = this.#root.activeElement === this.#earlier;
      this.#thread.before(page.comments);
      this.#previous = page.previous;
      this.#earlier.hidden = !page.previous;
      if (isHere && !page.previous) /** @type {HTMLElement | null} */ (this.#thread.list.firstElementChild)?.focus({ preventScroll: true });
    });
  }

  /** Look for what is new and what has changed. */
  async #look() {
    if (!this.#node) return false;
    /** @type {typeof import("./changes.js")} */
    const { look } = await load(CHANGES);
    return look({
      thread: this.#thread, pins: this.#pins, marks: await this.#marks, words: this.#words, root: this.#root, fresh: this.#fresh,
      viewer: this.#viewer, shown: () => this.#count, writes: () => this.#begun === this.#ended ? this.#begun : -1, readerId,
      page: (where) => this.#page(where && { ...where, order: this.#listed }, true), head: (page) => this.#headed(page), counted: (count) => this.#counted(count), start: () => this.#startFromTop(),
      isFirst: !this.#previous, isWhole: !this.#next, end: this.#end, one: (id) => this.#call(`/${id}`, { anew: true }), asked: this.#asked, lagging: this.#lagging,
      next: async () => {
        const shown = this.#next;
        if (shown) await this.#nextPage();
        return this.#next !== shown;
      },
      refold: async (isLess) => !!this.#viewer && (isLess || !!this.#people?.hasBlocked) && (await this.#cards()).refresh(),
    });
  }

  /** Go to the comment that the page's address names, wherever in the discussion it is. */
  async #jump() {
    const id = idFor(this);
    // A discussion that is not read yet jumps once it is.
    if (!id || !this.#node) return;
    await this.#tried(async () => {
      if (!this.#thread.item(id)) {
        const order = isByTime(this.#listed) ? this.#listed : "oldest";
        const page = await this.#page({ around: id, order }).catch((error) => {
          if (error.code === "unknown_comment") return null;
          throw error;
        });
        if (page) this.#render(page, order);
      }
      const item = this.#thread.pointAt(id);
      if (!item && !isLost(this)) return;
      // An empty line has no place to go to.
      if (!item) this.#say(this.#words.t("unknown_comment"));
      arriveAt(this, item || this.#status, this.alive);
      if (!item) return "unknown_comment";
    });
  }
}
