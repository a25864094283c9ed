// @ts-check
/** Votes and reactions: loaded beside the first page where a site has them. */
import { h, sheet } from "./element.js";
import { withMatters } from "./matters.js";
import { picker } from "./picker.js";
import { now, VOTE, Wish } from "./wish.js";
import marks from "./words/en/marks.js";
import css from "./marks.css";

/** @typedef {import("./plaza-api.js").components["schemas"]} Schemas */
/** @typedef {import("./wish.js").Told} Told */
/** @typedef {import("./comment.js").Comment} Comment */
/** @typedef {import("./words.js").Words} Words */
/**
 * @typedef {object} Desk Whose marks they are, and how they reach the API and the page.
 * @property {Words} words
 * @property {Schemas["DiscussionAnswer"]} node
 * @property {string} reader The reader's id in the API; "" for a guest.
 * @property {(path: string, options?: import("./api.js").Options) => Promise<any>} call
 * @property {(told: string, id: string) => void} say
 * @property {(words: Words, key: string) => HTMLElement} invitation Asks a guest to sign in.
 * @property {() => boolean} isOver Whether newer marks replace these or the element has left.
 */
/** @typedef {{key: string, value: number, face: string, name: string, refusal: string, comesAndGoes: boolean}} Kind */
/** @typedef {{button: HTMLElement, draw: () => void}} Toggle */
/** @typedef {(key: string, value: number) => void} Press */

export const STYLES = [css].map(sheet);
/** The most ids that the API takes in one call. */
const MOST_IDS = 200;
/** Stands for the page itself among the ids of comments. */
const PAGE = "";

/** @param {Desk} desk */
export async function marksFor(desk) {
  return new Marks({ ...desk, words: await withMatters(desk.words, { marks }) });
}

class Marks {
  /** The reader's votes and reactions, by a comment's id or PAGE. @type {Map<string, Wish>} */
  #wishes = new Map();
  /** Functions that redraw the buttons, by the same ids. @type {Map<string, () => void>} */
  #draws = new Map();
  #desk;

  /** @param {Desk} desk */
  constructor(desk) {
    this.#desk = desk;
  }

  /**
   * Fill a place with the buttons of a comment's votes and reactions.
   * @param {HTMLElement} place @param {Comment} comment
   */
  put(place, comment) {
    const { words: { t }, node: { votes }, reader } = this.#desk;
    const shared = { key: VOTE, refusal: reader && comment.author?.id === reader ? t("own_comment") : "", comesAndGoes: false };
    /** @type {Kind[]} */
    const kinds = [];
    if (votes !== "off") kinds.push({ ...shared, value: 1, face: "▲", name: t("voteFor") });
    if (votes === "up_down") kinds.push({ ...shared, value: -1, face: "▼", name: t("voteAgainst") });
    this.#fill(place, comment.id, comment, kinds);
  }

  /**
   * Fill a place with the buttons of the reactions to the page.
   * @param {HTMLElement} place @param {Told} told
   */
  putPage(place, told) {
    place.setAttribute("role", "group");
    place.setAttribute("aria-label", this.#desk.words.t("reactToPage"));
    this.#fill(place, PAGE, told, []);
  }

  /** @param {HTMLElement} place @param {string} id @param {Told} told @param {Kind[]} votes */
  #fill(place, id, told, votes) {
    const { words: { t }, node: { reactions, locked }, reader } = this.#desk;
    const wish = this.#wish(id, told);
    /** @type {Press} */
    const press = (key, value) => {
      if (!reader) return this.#invite(place);
      wish.want(key, wish.mine[key] === value ? 0 : value);
    };
    const chips = reactions.map(({ key, emoji }) => ({ key, value: 1, face: emoji, name: "", refusal: "", comesAndGoes: id !== PAGE }));
    const shown = [...votes, ...chips].map((kind) => this.#toggle(kind, wish, press));
    if (id !== PAGE && reactions.length && !locked) {
      const { place: button, draw } = picker(t("addReaction"), reactions.map(({ key, emoji }) => ({ key, emoji, isOn: () => wish.mine[key] > 0, press: () => press(key, 1) })));
      shown.push({ button, draw });
    }
    this.#draws.set(id, () => shown.forEach(({ draw }) => draw()));
    this.#draws.get(id)?.();
    place.replaceChildren(...shown.map(({ button }) => button));
  }

  /** Put an invitation to sign in after the buttons, and focus it. @param {HTMLElement} place */
  #invite(place) {
    const { words, invitation } = this.#desk;
    /** @type {ShadowRoot} */ (place.getRootNode()).querySelector(".invite")?.remove();
    const asked = invitation(words, "signInToMark");
    asked.classList.add("invite");
    (place.closest("footer") || place).after(asked);
    /** @type {HTMLElement} */ (asked.firstElementChild).focus();
  }

  /**
   * The wish of an id: an earlier one, with its unsent votes and reactions, or a new one.
   * @param {string} id @param {Told} told For a new one.
   */
  #wish(id, told) {
    const { words: { t, reason }, say, isOver } = this.#desk;
    const known = this.#wishes.get(id);
    if (known) return known;
    const wish = new Wish(told, {
      send: (key, value) => this.#send(id, key, value),
      show: () => this.#draws.get(id)?.(),
      failed: (error) => isOver() || say(/** @type {{code?: string}} */ (error).code === "too_fast" ? t("tooManyMarks") : reason(error), id),
      waits: (isOffline) => isOver() || say(isOffline ? t("waitsOffline") : "", id),
    });
    this.#wishes.set(id, wish);
    return wish;
  }

  /**
   * Make the button of a vote or a reaction; a second press withdraws it.
   * @param {Kind} kind @param {Wish} wish @param {Press} press @returns {Toggle}
   */
  #toggle({ key, value, face, name, refusal, comesAndGoes }, wish, press) {
    const { words: { locale }, node: { locked } } = this.#desk;
    const isVote = key === VOTE;
    const count = h("span", {});
    const button = h("button", { part: "button", title: refusal || name || null, disabled: locked || refusal !== "", onclick: () => press(key, value) },
      h("span", { "aria-hidden": isVote && "true" }, face), isVote && h("span", { class: "unseen" }, name), " ", count);
    const draw = () => {
      const [counted, isMine] = [wish.count(key, value), wish.mine[key] === value];
      count.textContent = counted ? counted.toLocaleString(locale) : "";
      button.setAttribute("aria-pressed", String(isMine));
      // A focused button stays: hiding it would lose the reader's place.
      button.hidden = comesAndGoes && !counted && !isMine && !button.matches(":focus");
    };
    return { button, draw };
  }

  /** @param {string} id @param {string} key @param {number} value @returns {Promise<Told>} */
  #send(id, key, value) {
    const place = id === PAGE ? "" : `/comments/${id}`;
    if (key === VOTE) return this.#desk.call(`${place}/vote`, { method: "PUT", body: { value } });
    return this.#desk.call(`${place}/reactions/${key}`, { method: value ? "PUT" : "DELETE" });
  }

  /** The clock of `askedAt`: the caller reads it before it asks for the page of `read`. */
  now = now;

  /**
   * Take the votes and reactions of a page, and read those of shown comments that the page lacks;
   * return whether any has changed.
   * @param {Schemas["CommentsAnswer"]} page
   * @param {number} askedAt By `now`, before the page's call.
   */
  async read(page, askedAt) {
    let isNew = this.#tell([[PAGE, page.page], ...page.comments.map((each) => /** @type {const} */ ([each.id, each]))], askedAt);
    const there = new Set(page.comments.map(({ id }) => id));
    const lacks = [...this.#wishes.keys()].filter((id) => id !== PAGE && !there.has(id));
    for (let at = 0; at < lacks.length; at += MOST_IDS) {
      const since = now();
      /** @type {Schemas["NodeMarksAnswer"]} */
      const { comments } = await this.#desk.call(`/marks?ids=${lacks.slice(at, at + MOST_IDS).join()}`);
      isNew = this.#tell(Object.entries(comments), since) || isNew;
    }
    return isNew;
  }

  /**
   * Take the votes and reactions of a page that replaces the list, and forget comments that the
   * page lacks. Wishes that are being sent stay. The page counts as newer than all answers.
   * @param {Schemas["CommentsAnswer"]} page
   */
  meet({ page, comments, waiting, ancestors }) {
    const told = new Map([[PAGE, page], ...[...comments, ...waiting, ...(ancestors || [])].map((each) => /** @type {[string, Told]} */ ([each.id, each]))]);
    for (const [id, wish] of this.#wishes) if (!told.has(id) && !wish.isOnItsWay) this.#wishes.delete(id);
    this.#tell([...told], Infinity);
  }

  /** @param {(readonly [string, Told])[]} told @param {number} askedAt */
  #tell(told, askedAt) {
    return told.filter(([id, each]) => this.#wishes.get(id)?.tell(each, askedAt)).length > 0;
  }
}
