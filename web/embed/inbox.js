// @ts-check
/** The panel of <plaza-bell>: a reader's notifications, the newest first. */
import { h } from "./element.js";
import { load } from "./load.js";
import { renewTimes } from "./renewal.js";
import { when } from "./times.js";

/** @typedef {import("./plaza-api.js").components["schemas"]["InboxAnswer"]} Page */
/** @typedef {import("./plaza-api.js").components["schemas"]["NotificationAnswer"]} Item */
/** @typedef {import("./bell.js").Counts} Counts */
/**
 * @typedef {object} Desk
 * @property {import("./words.js").Words} words
 * @property {(path: string, options?: import("./api.js").Options) => Promise<any>} call Throws if the bell restarts meanwhile.
 * @property {() => Counts} counts
 * @property {(count: number) => string} number Formats a count in the reader's language; 100 as "99+".
 * @property {(counts: Counts) => void} counted Shows new counts in all tabs.
 * @property {(error: unknown, again: () => void) => Node} retry
 * @property {string} worker The address of the page's service worker; "" for none.
 * @property {string} inbox Names the reader among those of all deployments.
 */

/** The placeholder for names at which `#paint` splits a text. */
const NAME = "\n";
/** The API may send empty pages before the last: `#page` skips at most so many. */
const MOST_EMPTY = 5;
/** The API counts up to this; it stands for more. */
const MOST = 100;
/** The forms for emails, push messages and choices; the build inserts this release's addresses. */
const LETTERS = BUILT_LETTERS;
const PUSH = BUILT_PUSH;
const CHOICES = BUILT_CHOICES;

export class Inbox {
  #panel;
  #desk;
  #list = h("ol", { part: "list" });
  #status = h("p", { role: "status" });
  #all = h("button", { part: "button", hidden: true, onclick: () => this.#tried(() => this.#readAll()) });
  #mail = h("button", { part: "button", onclick: () => this.#tried(() => this.#openForm(LETTERS, this.#mail)) });
  #push = h("button", { part: "button", onclick: () => this.#tried(() => this.#openForm(PUSH, this.#push)) });
  #choices = h("button", { part: "button", onclick: () => this.#tried(() => this.#openForm(CHOICES, this.#choices)) });
  #more = h("button", { part: "button", class: "more", hidden: true, onclick: () => this.#tried(() => this.#nextPage()) });
  /** The number of openings of the list or a form; an answer to an earlier one is dropped. */
  #turn = 0;
  /** The API's time of the first page: "mark all read" covers what came before it. */
  #at = "";
  /** @type {string | null} */
  #next = null;
  /** The shown rows, by id. @type {Map<string, {item: Item, link: HTMLElement}>} */
  #shown = new Map();

  /** @param {HTMLElement} panel @param {Desk} desk */
  constructor(panel, desk) {
    this.#panel = panel;
    this.#desk = desk;
    this.#all.textContent = desk.words.t("readAll");
    this.#more.textContent = desk.words.t("more");
    this.#mail.textContent = desk.words.t("byMail");
    this.#push.textContent = desk.words.t("byPush");
    this.#choices.textContent = desk.words.t("choices");
  }

  /** Read and show the newest, and mark them as seen; throws Problem. */
  async open() {
    const turn = ++this.#turn;
    // A failure of an earlier opening must not replace the list of a later one.
    const page = await this.#page().catch((error) => { if (turn === this.#turn) throw error; return null; });
    if (!page || turn !== this.#turn) return;
    const root = /** @type {ShadowRoot} */ (this.#panel.getRootNode());
    const focused = [...this.#shown].find(([, { link }]) => link === root.activeElement);
    this.#at = page.at;
    this.#shown.clear();
    for (const each of [this.#list, this.#status]) each.replaceChildren();
    if (!this.#list.isConnected) this.#panel.replaceChildren(h("header", {}, h("h2", { part: "title" }, this.#desk.words.t("notifications")), this.#all, this.#mail, this.#desk.worker && this.#push, this.#choices), this.#list, this.#status, this.#more);
    this.#show(page);
    if (focused) (this.#shown.get(focused[0])?.link || this.#panel).focus();
    renewTimes(root);
    this.#counted(page);
    // A reader who has closed the panel before the answer has not seen them.
    if (!page.unseen || !this.#panel.matches(":popover-open")) return;
    await this.#tried(async () => {
      await this.#desk.call("/notifications/seen", { method: "PUT", body: { until: page.at } });
      this.#counted({ unread: this.#desk.counts().unread, unseen: 0 });
    });
  }

  /** Show a form in place of the list, unless the list was opened anew meanwhile. @param {string} file @param {HTMLElement} button */
  async #openForm(file, button) {
    const turn = this.#turn;
    const { prepare } = await load(file).catch(() => { throw { code: "offline" }; });
    const show = await prepare(this.#panel, this.#desk, button);
    if (turn !== this.#turn) return;
    this.#turn++;
    show();
  }

  /** @param {string | null} [cursor] @returns {Promise<Page>} The counts of the last answer and the time of the first. */
  async #page(cursor = null) {
    let at = "";
    for (let empty = 0; ; empty++) {
      /** @type {Page} */
      const page = await this.#desk.call(`/notifications?${new URLSearchParams({ limit: "20", ...(cursor && { cursor }) })}`, { anew: true });
      at ||= page.at;
      if (page.notifications.length || !page.next || empty === MOST_EMPTY) return { ...page, at };
      cursor = page.next;
    }
  }

  /** @param {Page} page */
  #show({ notifications, next }) {
    for (const each of notifications) if (!this.#shown.has(each.id)) this.#list.append(this.#row(each));
    this.#next = next;
    this.#more.hidden = !next;
    if (!this.#shown.size && !next) this.#status.textContent = this.#desk.words.t("noneYet");
  }

  async #nextPage() {
    const turn = this.#turn;
    const last = this.#list.lastElementChild;
    const page = await this.#page(this.#next);
    if (turn !== this.#turn) return;
    this.#show(page);
    const first = /** @type {HTMLElement | null | undefined} */ ((last ? last.nextElementSibling : this.#list.firstElementChild)?.firstElementChild);
    (first || this.#panel).focus();
  }

  async #readAll() {
    await this.#desk.call("/notifications/read", { method: "PUT", body: { until: this.#at } });
    for (const { item, link } of this.#shown.values()) this.#paint({ ...item, read: true }, link);
    // `#counted` hides the button, which has the focus.
    this.#panel.focus();
    this.#counted({ ...this.#desk.counts(), unread: 0 });
  }

  /** @param {Counts} counts */
  #counted({ unread, unseen }) {
    this.#all.hidden = !unread;
    this.#desk.counted({ unread, unseen });
  }

  /** @param {Item} item */
  #row(item) {
    const isPage = /^https?:/i.test(item.permalink);
    const followed = (/** @type {MouseEvent} */ event) => this.#followed(item.id, event);
    const link = h("a", { href: isPage && item.permalink, onclick: followed, onauxclick: followed });
    this.#paint(item, link);
    return h("li", { part: "notification" }, link);
  }

  /** @param {Item} item @param {HTMLElement} link */
  #paint(item, link) {
    const { t, locale } = this.#desk.words;
    const { by, actors = by ? [by] : [], count = actors.length } = item;
    // The API may send a kind that this release lacks: `t` then returns the key, without NAME, and
    // the row shows the people alone. An event without a person shows its text alone.
    const [before, after] = t(/** @type {string} */ (item.kind.split(".").pop()), { name: NAME }).split(NAME);
    const names = actors.flatMap(({ name }) => [", ", h("bdi", { part: "author" }, name)]).slice(1);
    this.#shown.set(item.id, { item, link });
    link.className = item.read ? "" : "unread";
    link.setAttribute("part", item.read ? "link" : "link unread");
    link.replaceChildren(
      h("span", { class: "said" }, (after != null || !count) && before, ...names, count > actors.length && ` (${this.#desk.number(count)})`, after),
      h("span", { class: "text", part: "text", dir: "auto" }, item.excerpt),
      h("small", {}, !item.read && h("b", {}, t("unread")), h("bdi", {}, item.page.title), when(item.at, locale)));
  }

  /**
   * Mark a followed notification as read, by a call that outlives the page, and close the panel
   * unless the link opens another tab.
   * @param {string} id @param {MouseEvent} event
   */
  #followed(id, { button, ctrlKey, metaKey, shiftKey }) {
    const shown = this.#shown.get(id);
    // The right button opens a menu; the middle one opens a tab.
    if (!shown || button > 1) return;
    if (!shown.item.read) {
      this.#desk.call("/notifications/read", { method: "PUT", body: { ids: [id] }, keepalive: true, signal: undefined }).catch(() => {});
      this.#paint({ ...shown.item, read: true }, shown.link);
      const { unread, unseen } = this.#desk.counts();
      this.#counted({ unread: unread < MOST ? Math.max(unread - 1, 0) : unread, unseen });
    }
    if (button || ctrlKey || metaKey || shiftKey) return;
    // A link within this page moves the focus to its target: the bell must not take it back.
    const { href } = /** @type {HTMLAnchorElement} */ (shown.link);
    if (href !== location.href && href.split("#")[0] === location.href.split("#")[0]) {
      this.#panel.dataset.left = "";
      shown.link.blur();
    }
    this.#panel.hidePopover();
  }

  /** Run an act; show a failure unless another opening came. @param {() => Promise<void>} act */
  async #tried(act) {
    const turn = this.#turn;
    try {
      await act();
      if (turn === this.#turn && this.#shown.size) this.#status.textContent = "";
    } catch (error) {
      if (turn === this.#turn) this.#status.textContent = this.#desk.words.reason(error);
    }
  }
}
