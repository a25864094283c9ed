// @ts-check
/** Acts of signed-in readers and moderators, with their words and forms. Only they load it. */
import { h } from "./element.js";
import { goTo } from "./focus.js";
import { ask, FORM_STYLES, FORM_WORDS, MOST_MENTIONS, textForm } from "./form.js";
import { keep, kept, KEPT_AS } from "./kept.js";
import { load } from "./load.js";
import acts from "./words/en/acts.js";

/** @typedef {import("./comment.js").Comment} Comment */
/** @typedef {import("./form.js").FormOptions} FormOptions */
/** @typedef {import("./form.js").Signs} Signs */
/** @typedef {(rest: string, options?: import("./api.js").Options) => Promise<any>} Call */
/**
 * @typedef {object} Desk The discussion as its reader sees it.
 * @property {import("./words.js").Words} words
 * @property {string} reader
 * @property {string | undefined} name The reader's name.
 * @property {(token: string) => void} keepGuest Writes with this guest token from now on; "" removes the token.
 * @property {string} node The node's id.
 * @property {import("./thread.js").Thread} thread
 * @property {Call} call Calls the node's comments.
 * @property {Call} callNode
 * @property {(text: string, mentions: string[]) => Promise<HTMLElement>} preview
 * @property {(told: string, comment?: Comment) => HTMLElement} say Shows a status text at a comment, or else above the list; returns its element.
 * @property {(more: number) => void} count Adds `more`, which may be negative, to the count of visible comments.
 * @property {() => void} look Looks for what is new.
 * @property {() => void} leave Puts the focus on the discussion.
 * @property {(id: string) => void} posted Dispatches `plaza:posted` for a new comment.
 */

/** The file that a report loads; the build writes the address of this release. */
const FLAG = BUILT_FLAG;

export { FORM_STYLES };
export const ACT_WORDS = { ...FORM_WORDS, acts };

/** The shown state of a comment: the API refuses to change any other with `comment_changed`. @param {Comment} comment */
const asShown = ({ state, edited_at }) => ({ state, edited_at });
/** 1 for a visible comment with an author, else 0: its part of the count. @param {Comment | undefined} comment */
const visible = (comment) => Number(comment?.state === "visible" && !!comment.author);

/** Remove a guest's token; this tab keeps a copy for the next sign-in (`providers.js`). @param {Desk["keepGuest"]} keepGuest */
function leaveGuest(keepGuest) {
  keep("sessionStorage", KEPT_AS, kept("localStorage", KEPT_AS) || "");
  keepGuest("");
}

export class Acts {
  #desk;
  /** The comments on which a decision is under way. @type {Set<string>} */
  #deciding = new Set();

  /** @param {Desk} desk */
  constructor(desk) {
    this.#desk = desk;
  }

  /** A form for a new comment. */
  write() {
    const { name, reader, keepGuest, words: { t } } = this.#desk;
    const form = this.#form("", { label: t("write"), send: (text, key, signs) => this.#post({ text, ...signs }, key) });
    // The browser keeps this token, not the page: another person may write next.
    if (name && /^[gp]_[\w-]{22}$/.test(reader)) form.append(h("p", { class: "row" }, t("writesAs", { name }), h("button", { type: "button", part: "button", onclick: () => leaveGuest(keepGuest) }, t("otherName"))));
    return form;
  }

  /** @param {string} place @param {Pick<FormOptions, "label" | "text" | "send" | "done">} options */
  #form(place, options) {
    const { words, reader, node, callNode, preview } = this.#desk;
    const search = async (/** @type {string} */ q) => (await callNode(`/people?${new URLSearchParams({ q })}`, { method: "GET" })).people;
    return textForm({ words, place: `${reader}:${node}${place}`, hint: words.t("placeholder"), search, preview, ...options });
  }

  /** @param {{text: string, parent?: string} & Signs} body @param {string} key */
  async #post(body, key) {
    const { words, thread, call, count, say, posted, look } = this.#desk;
    say("");
    /** @type {Comment} */
    const comment = await call("", { method: "POST", body, key });
    const known = thread.comment(comment.id);
    count(visible(comment) - visible(known));
    // A page read meanwhile may list the comment without counting it.
    if (known) look();
    const item = thread.place(comment, thread.list.firstElementChild);
    say(words.t(visible(comment) ? "posted" : "pending"), comment);
    goTo(item);
    posted(comment.id);
  }

  /** Pin or feature a comment, or undo that; return the key of the status text. @param {Comment} comment @param {"pin" | "featured"} what @param {boolean} isOn @param {import("./pins.js").Pins} pins */
  async highlight(comment, what, isOn, pins) {
    const { call, thread, words } = this.#desk;
    await call(`/${comment.id}/${what}`, { method: isOn ? "PUT" : "DELETE" });
    if (what === "pin") {
      pins.show(pins.after(comment, isOn), words);
      thread.renew(comment);
    }
    goTo(thread.item(comment.id));
    return what === "pin" ? (isOn ? "isPinned" : "isUnpinned") : isOn ? "isFeatured" : "isUnfeatured";
  }

  /** @param {Comment} comment */
  reply(comment) {
    const article = this.#articleOf(comment);
    if (!article) return;
    const form = this.#form(`:${comment.id}`, {
      label: this.#desk.words.t("replyTo", { name: comment.author?.name || "" }),
      send: (text, key, signs) => this.#post({ text, parent: comment.id, ...signs }, key),
      done: () => { form.remove(); goTo(article.querySelector("[data-does=reply]")); },
    });
    article.append(form);
    form.querySelector("textarea")?.focus();
  }

  /** @param {Comment} comment */
  edit(comment) {
    const { words, thread, call } = this.#desk;
    const form = this.#form(`:${comment.id}:edit`, {
      label: words.t("edit"),
      text: comment.text || "",
      send: async (text, _key, { mentions }) => {
        // The API drops people whose names the text lacks.
        const all = new Set([...mentions, ...comment.mentions.map(({ id }) => id)]);
        const body = { text, mentions: [...all].slice(0, MOST_MENTIONS), as_shown: asShown(comment) };
        comment = await call(`/${comment.id}`, { method: "PATCH", body }).catch(async (/** @type {any} */ error) => {
          const now = error.code === "comment_changed" && (await call(`/${comment.id}`, { anew: true }));
          // The answer to an earlier press may be lost.
          if (now && now.text === text.trim()) return now;
          throw error;
        });
      },
      done: () => { this.#renew(comment); goTo(thread.item(comment.id)); },
    });
    thread.item(comment.id)?.querySelector("article")?.replaceWith(form);
    form.querySelector("textarea")?.focus();
  }

  /** Delete a comment once its reader confirms. @param {Comment} comment @param {EventTarget | null} pressed @param {(act: () => Promise<string>) => void} tried */
  remove(comment, pressed, tried) {
    const { words: { t }, thread, call, count, leave } = this.#desk;
    ask(pressed, t("confirm"), t("cancel"), () => tried(async () => {
      const item = thread.item(comment.id);
      const near = [item, item?.nextElementSibling, item?.previousElementSibling, item?.parentElement?.closest("li")];
      await call(`/${comment.id}`, { method: "DELETE" });
      count(-visible(thread.comment(comment.id)));
      thread.remove(comment);
      const there = near.find((each) => each?.isConnected);
      if (there) goTo(there);
      else leave();
      return "gone";
    }));
  }

  /** @param {Comment} comment */
  async report(comment) {
    const { words, reader, call, say } = this.#desk;
    const article = this.#articleOf(comment);
    if (!article) return;
    /** @type {typeof import("./flag.js")} */
    const flag = await load(FLAG).catch(() => { throw { code: "offline" }; });
    await flag.openReport(article, `${reader}:${comment.id}`, words, (options) => call(`/${comment.id}/flag`, options), (told, back) => say(told, comment).append(" ", back || ""));
  }

  /** Show or hide a comment unless it has changed since; return the status text or its key. @param {Comment} comment @param {import("./comment.js").Decided} state @returns {Promise<string>} */
  async decide(comment, state) {
    const { words, thread, call } = this.#desk;
    // A second press would meet the first as another moderator's decision.
    if (this.#deciding.has(comment.id)) return "";
    this.#deciding.add(comment.id);
    const body = { state, as_shown: asShown(comment) };
    /** @type {Comment} */
    let decided;
    try {
      decided = await call(`/${comment.id}/state`, { method: "POST", body });
    } catch (error) {
      const { code, body: { facts = {} } = {} } = /** @type {{code?: string, body?: any}} */ (error);
      if (code !== "comment_changed" || !facts.act?.by) throw error;
      this.#renew(await call(`/${comment.id}`, { anew: true }));
      return words.t("decidedBy", { name: facts.act.by.name });
    } finally {
      this.#deciding.delete(comment.id);
    }
    this.#renew(decided);
    goTo(thread.item(comment.id));
    return state === "visible" ? "approved" : state;
  }

  /** Show a comment as it is by now, and count it. @param {Comment} comment */
  #renew(comment) {
    const { thread, count } = this.#desk;
    count(visible(comment) - visible(thread.comment(comment.id)));
    thread.renew(comment);
  }

  /** The article of a comment; null while it holds a form. @param {Comment} comment */
  #articleOf(comment) {
    const article = this.#desk.thread.item(comment.id)?.querySelector("article");
    return article?.querySelector("form") ? null : article;
  }
}
