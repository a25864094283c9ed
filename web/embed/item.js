// @ts-check
/** A post or an action as a feed shows it. */
import { h } from "./element.js";
import { when } from "./times.js";

/** @typedef {import("./words.js").Words} Words */
/** @typedef {import("./plaza-api.js").components["schemas"]} Schemas */
/** @typedef {Schemas["PostAnswer"]} Post */
/** @typedef {Schemas["FeedActionAnswer"]} Action */
/** @typedef {Post | Action} Item */
/** @typedef {Schemas["PostCommentAnswer"] | Schemas["ActionCommentAnswer"]} Comment */

/** @param {Item} item @returns {item is Action} */
export const isAction = (item) => "descriptor" in item;

/** The item's path in the API. @param {Item} item */
export const pathOf = (item) => `/${isAction(item) ? "actions" : "posts"}/${item.id}`;

/** @param {Item} item */
export const personOf = (item) => (isAction(item) ? item.actor : item.author);

/**
 * A number in the locale, or a text in Unicode isolates, so that its direction cannot reorder the
 * text around it.
 * @param {unknown} value @param {string} locale
 */
const isolated = (value, locale) => (typeof value === "number" ? value.toLocaleString(locale) : `\u2068${value}\u2069`);

/**
 * The sentence for an action; for a type without one, the type's name and the names it refers to.
 * @param {Action} action @param {Words} words
 */
function deed({ descriptor, refs }, { t, locale }) {
  const key = `did_${descriptor.type}`;
  const values = Object.fromEntries(Object.entries(descriptor).map(([name, value]) => [name, isolated(value, locale)]));
  const own = t(key, values);
  return own === key ? [descriptor.type.replaceAll("_", " "), ...refs.map((ref) => isolated(ref.name, locale))].join(" · ") : own;
}

/**
 * @typedef {{api: string, all: boolean}} Pictures The API's address, whose own pictures are always
 *   shown, and whether the reader sees pictures of other hosts, not links to them.
 */

/**
 * The link, picture, place or poll of a post; undefined for a type that has only text.
 * @param {Post} post @param {Words} words @param {Pictures} pictures
 */
function shownOf(post, { t }, { api, all }) {
  const about = (/** @type {string} */ text, tag = "span") => h(tag, { dir: "auto" }, text);
  const card = (/** @type {string} */ url, /** @type {string} */ title) => {
    const isPage = /^https?:/i.test(url);
    return h(isPage ? "a" : "p", { class: "card", part: "link", href: isPage && url, target: "_blank", rel: "nofollow ugc noopener noreferrer" },
      about(title, "b"), h("small", { dir: "ltr" }, url.replace(/^https?:\/\/([^/?#]*).*/i, "$1")));
  };
  const picture = (/** @type {string} */ given) => {
    const url = given[0] === "/" ? api + given : given;
    const alt = t("photo", { name: post.author.name });
    if (all || url.startsWith(`${api}/assets/`)) return h("img", { src: url, alt, loading: "lazy", referrerpolicy: "no-referrer" });
    return card(url, alt);
  };
  switch (post.type) {
    case "link":
      return card(post.detail.url, post.detail.title || post.detail.url);
    case "photo":
      return picture(post.detail.url);
    case "checkin":
      return h("div", {}, about(t("at", { place: post.detail.place })), post.detail.photo && picture(post.detail.photo));
    case "poll":
      return h("div", { class: "poll" }, about(post.detail.question, "b"),
        h("ul", {}, ...post.detail.options.map((each) => h("li", {}, about(each), h("small")))));
  }
}

/**
 * Show each option's votes, and mark the reader's own option where it is a button.
 * @param {HTMLElement} article @param {Schemas["PollPost"]} post
 */
export function showVotes(article, { detail, poll: { votes, vote_count: count, own_vote: own } }) {
  article.querySelectorAll(".poll li").forEach((option, at) => {
    /** @type {HTMLElement} */ (option).style.setProperty("--_share", `${(100 * votes[at]) / (count || 1)}%`);
    /** @type {Element} */ (option.querySelector("small")).textContent = String(votes[at]);
    option.querySelector("button")?.setAttribute("aria-pressed", String(detail.options[at] === own));
  });
}

/** @param {{name: string}} person */
function face({ name }) {
  const made = h("span", { class: "face", "aria-hidden": "true" }, ([...name.trim()][0] || "").toLocaleUpperCase());
  let sum = 0;
  for (const each of name) sum = (131 * sum + /** @type {number} */ (each.codePointAt(0))) % 360;
  made.style.setProperty("--_hue", String(sum));
  return made;
}

/**
 * Make the article of a post or an action, without buttons, comments and votes.
 * @param {Item} item @param {Words} words @param {Pictures} pictures
 */
export function articleOf(item, words, pictures) {
  const { t, locale } = words;
  const name = `i-${item.id}`;
  const [at, edited, given] = isAction(item) ? [item.conducted_at, null, item.descriptor] : [item.posted_at, item.edited_at, item.detail];
  // `text`, or whatever a type calls its own: `rating_text`.
  const texts = Object.entries(given).filter(([key, value]) => /(^|_)text$/.test(key) && value).map(([, value]) => String(value));
  return h("article", { "aria-labelledby": name },
    face(personOf(item)),
    h("header", {},
      h("b", { id: name, part: "author", dir: "auto" }, personOf(item).name),
      when(at, locale),
      edited && h("i", {}, t("edited")),
      !isAction(item) && item.visibility === "circles" && h("i", { class: "badge" }, t("limited"))),
    h("div", { class: "text", part: "text" },
      isAction(item) && h("p", { class: "deed" }, deed(item, words)),
      ...texts.map((text) => h("p", { dir: "auto" }, text)),
      !isAction(item) && shownOf(item, words, pictures)));
}

/** The time of the last edit of a comment or an item; "" for none. @param {Comment | Item} edited */
export const editedAt = (edited) => ("edited_at" in edited && edited.edited_at) || "";

/** @param {Comment} comment @param {Words} words @param {Element[]} [tools] what its reader may do with it */
export function commentOf(comment, { t, locale }, tools = []) {
  return h("li", { "data-id": comment.id, "data-at": comment.posted_at, "data-edited": editedAt(comment), part: "comment", tabindex: -1 },
    h("b", { part: "author", dir: "auto" }, comment.author.name), " ", when(comment.posted_at, locale),
    editedAt(comment) && h("i", {}, " ", t("edited")),
    h("p", { class: "text", part: "text", dir: "auto" }, comment.text),
    ...tools);
}
