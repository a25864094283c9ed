// @ts-check
/** Cards of authors, and the reader's blocks; loaded when the reader presses a name. */
import { h, sheet } from "./element.js";
import { goTo } from "./focus.js";
import { whenTyped } from "./keyboard.js";
import { withMatters } from "./matters.js";
import person from "./words/en/person.js";
import css from "./person.css";

/** @typedef {import("./plaza-api.js").components["schemas"]} Schemas */
/** @typedef {import("./comment.js").Comment} Comment */
/**
 * @typedef {object} Desk The reader and site of the cards, and their way to API and page.
 * @property {import("./words.js").Words} words
 * @property {ShadowRoot} root Holds the articles; `data-by` of each is its author's id.
 * @property {string} reader The reader's id in the API; "" for a guest.
 * @property {string} site
 * @property {(path: string, options?: import("./api.js").Options) => Promise<any>} call
 * @property {(act: () => Promise<string | void>) => Promise<void>} tried Awaits an act, and shows
 *   the text that it returns or the reason of its failure; never rejects.
 * @property {() => void} look Reads the changes of the discussion.
 * @property {() => Promise<void>} restart Shows the discussion anew.
 */

const CARD_STYLES = sheet(css);
/**
 * The most comments on a card, the most characters of each, and the most blocked people listed by
 * name; the list names the others by id.
 */
const [LATEST, EXCERPT, NAMED] = [3, 140, 20];

/** @param {Desk} desk */
export async function peopleFor(desk) {
  const words = await withMatters(desk.words, { person });
  const { root } = desk;
  if (!root.adoptedStyleSheets.includes(CARD_STYLES)) root.adoptedStyleSheets = [...root.adoptedStyleSheets, CARD_STYLES];
  return new Cards({ ...desk, words });
}

class Cards {
  /** @type {Set<string>} */
  #blocked = new Set();
  /** @type {HTMLElement | null} */
  #card = null;
  /** Counts the presses of names: the last one's card is shown. */
  #turn = 0;
  #desk;

  /** @param {Desk} desk */
  constructor(desk) {
    this.#desk = desk;
  }

  get reader() {
    return this.#desk.reader;
  }

  get hasBlocked() {
    return this.#blocked.size > 0;
  }

  get words() {
    return this.#desk.words;
  }

  /**
   * Show the card of a comment's author and focus it, or close the card if it is open.
   * @param {Comment} comment @param {HTMLElement} name The button with the author's name.
   */
  async toggle(comment, name) {
    const wasOpen = name.getAttribute("aria-expanded") === "true";
    this.#close();
    const turn = ++this.#turn;
    if (wasOpen || !comment.author) return;
    const { author } = comment;
    const user = encodeURIComponent(author.id);
    const isOwn = author.id === this.reader;
    const moderates = comment.can.includes("moderate");
    const [person, { comments }] = await Promise.all([
      isOwn || moderates ? this.#get(`/people/${user}`) : null,
      this.#get(`/people/${user}/comments?limit=${LATEST}`),
      this.reader && this.refresh(),
    ]);
    // The reader pressed a name meanwhile, or a newer article replaced this one.
    if (turn !== this.#turn || !name.isConnected) return;
    const card = h("div", { class: "person", part: "card", role: "group", tabindex: -1, "aria-label": author.name, onkeydown: whenTyped((event) => event.key === "Escape" && this.#close(true)) },
      ...this.#told(person, isOwn ? null : person?.counts),
      this.#latest(comments.filter((/** @type {Schemas["PersonsCommentAnswer"]} */ { comment: each }) => each.id !== comment.id)),
      isOwn && this.#listOfBlocked(),
      h("div", { class: "row" },
        // Moderators read everything.
        this.reader && !isOwn && !moderates && this.#blocker(author.id, author.name),
        h("button", { part: "button", onclick: () => this.#close(true) }, this.words.t("close"))));
    this.#card = card;
    name.setAttribute("aria-expanded", "true");
    name.closest("header")?.after(card);
    goTo(card);
  }

  /** Fold a new article if the reader has blocked its author. @param {HTMLElement} article */
  settle(article) {
    if (this.#blocked.has(article.dataset.by || "")) this.#fold(article);
  }

  /**
   * Read the reader's blocks again, and fold or unfold articles; return whether a block changed.
   */
  async refresh() {
    /** @type {Schemas["BlockedAnswer"]} */
    const { people } = await this.#get("/blocked");
    const now = new Set(people.map(({ id }) => id));
    const changed = new Set([...now, ...this.#blocked].filter((id) => !now.has(id) || !this.#blocked.has(id)));
    this.#blocked = now;
    for (const id of changed) this.#apply(id);
    return changed.size > 0;
  }

  /** @param {string} rest @returns {Promise<any>} */
  #get(rest) {
    return this.#desk.call(`/sites/${this.#desk.site}${rest}`, { anew: true });
  }

  /** Close the card. @param {boolean} [isLeft] Whether the focus returns to the name. */
  #close(isLeft) {
    const name = /** @type {HTMLElement | undefined} */ (this.#card?.parentElement?.querySelector("[aria-expanded]"));
    name?.setAttribute("aria-expanded", "false");
    this.#card?.remove();
    this.#card = null;
    if (isLeft) name?.focus();
  }

  /**
   * The card's badges and first day, for the person and moderators, and its counts of comments, for
   * moderators alone.
   * @param {Schemas["OwnSitePersonAnswer"] | null} person Null for all other readers.
   * @param {Schemas["CountsOfPersonAnswer"] | undefined | null} counts None for other readers.
   */
  #told(person, counts) {
    const { t, locale } = this.words;
    const since = person?.first_at && new Date(person.first_at).toLocaleDateString(locale, { dateStyle: "long" });
    return [
      !!person?.badges.length && h("p", { class: "row" }, ...person.badges.map((each) => h("span", { class: "chip", part: "badge", dir: "auto" }, each))),
      since && h("p", {}, t("since", { date: since })),
      counts && h("p", {}, t("countsOf", { visible: counts.visible, pending: counts.pending, rejected: counts.rejected, spam: counts.spam })),
    ];
  }

  /** @param {Schemas["PersonsCommentAnswer"][]} comments */
  #latest(comments) {
    if (!comments.length) return null;
    const line = (/** @type {Schemas["PersonsCommentAnswer"]} */ { node, comment: { id, text } }) => {
      const told = [...(text || "")].slice(0, EXCERPT).join("");
      const title = /^https?:/i.test(node.url) ? h("a", { href: `${node.url.split("#")[0]}#plaza-${id}`, part: "link", dir: "auto" }, node.title) : h("b", { dir: "auto" }, node.title);
      return h("li", {}, title, h("span", { dir: "auto" }, told));
    };
    return h("div", {}, h("b", {}, this.words.t("latest")), h("ul", {}, ...comments.map(line)));
  }

  /** @param {string} id @param {string} name */
  #blocker(id, name) {
    const isBlocked = this.#blocked.has(id);
    return h("button", { part: "button", onclick: () => this.#set(id, name, !isBlocked) }, this.words.t(isBlocked ? "unblock" : "block"));
  }

  /** @param {string} id @param {string} name @param {boolean} isBlocked */
  #set(id, name, isBlocked) {
    return this.#desk.tried(async () => {
      const item = /** @type {HTMLElement | undefined | null} */ (this.#card?.closest("li"));
      await this.#write(id, isBlocked);
      this.#close();
      this.#apply(id);
      goTo(item);
      this.#desk.look();
      return this.words.t(isBlocked ? "blocked" : "unblocked", { name });
    });
  }

  /** @param {string} id @param {boolean} isBlocked */
  async #write(id, isBlocked) {
    await this.#desk.call(`/sites/${this.#desk.site}/blocked/${encodeURIComponent(id)}`, { method: isBlocked ? "PUT" : "DELETE" });
    if (isBlocked) this.#blocked.add(id);
    else this.#blocked.delete(id);
  }

  /**
   * Fold a person's articles if the reader has blocked the person; unfold them otherwise.
   * @param {string} id The person's id.
   */
  #apply(id) {
    for (const article of /** @type {NodeListOf<HTMLElement>} */ (this.#desk.root.querySelectorAll("article[data-by]"))) {
      if (article.dataset.by !== id) continue;
      if (this.#blocked.has(id)) this.#fold(article);
      else article.dispatchEvent(new Event("unfold"));
    }
  }

  /** Replace the content of an article with a note; its forms stay. @param {HTMLElement} article */
  #fold(article) {
    if (article.querySelector(".folded")) return;
    const { t } = this.words;
    const told = [...article.children].filter((each) => each.localName !== "form");
    const [name, id] = [article.querySelector("[part=author]")?.textContent || "", article.dataset.by || ""];
    const note = h("p", { class: "folded" },
      // The id of the author's name, which is out of the page: `aria-labelledby` names it.
      h("span", { id: article.getAttribute("aria-labelledby") }, t("blocked", { name })),
      h("button", { part: "button", onclick: () => { unfold(); /** @type {HTMLElement | null} */ (article.querySelector("[part=author]"))?.focus(); } }, t("show")),
      h("button", { part: "button", onclick: () => this.#set(id, name, false).then(() => article.closest("li")?.focus()) }, t("unblock")));
    const unfold = () => note.replaceWith(...told);
    told.forEach((each) => each.remove());
    article.prepend(note);
    article.addEventListener("unfold", unfold, { once: true });
  }

  /** A list of the blocked people, to unblock them: their names are folded in the discussion. */
  #listOfBlocked() {
    const { t } = this.words;
    const list = h("ul", {});
    const details = /** @type {HTMLDetailsElement} */ (h("details", {}, h("summary", {}, t("blockedPeople")), list));
    details.addEventListener("toggle", () => this.#desk.tried(async () => {
      if (!details.open || list.childElementCount) return;
      const named = await Promise.all([...this.#blocked].map(async (id, at) => {
        if (at >= NAMED) return [id, id];
        /** @type {Schemas["PersonsCommentsAnswer"]} */
        const { comments: [last] } = await this.#get(`/people/${encodeURIComponent(id)}/comments?limit=1`);
        return [id, last?.comment.author?.name || id];
      }));
      list.replaceChildren(...(named.length ? named.map(([id, name]) => h("li", {}, h("span", { dir: "auto" }, name), this.#returner(id, name))) : [h("li", {}, t("nobodyBlocked"))]));
    }));
    return details;
  }

  /** @param {string} id @param {string} name */
  #returner(id, name) {
    return h("button", { part: "button", "aria-label": `${this.words.t("unblock")}: ${name}`, onclick: () => this.#desk.tried(async () => {
      await this.#write(id, false);
      await this.#desk.restart();
      return this.words.t("unblocked", { name });
    }) }, this.words.t("unblock"));
  }
}
