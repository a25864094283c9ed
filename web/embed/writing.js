// @ts-check
/** Forms and buttons of a feed, for signed-in readers; loaded beside the first page. */
import { h, sheet } from "./element.js";
import { goTo } from "./focus.js";
import { ask, FORM_STYLES, FORM_WORDS, textForm } from "./form.js";
import css from "./writing.css";
import writing from "./words/en/writing.js";

/** @typedef {import("./plaza-api.js").components["schemas"]} Schemas */
/** @typedef {import("./item.js").Post} Post */
/** @typedef {import("./item.js").Item} Item */
/** @typedef {import("./item.js").Comment} Comment */
/**
 * @typedef {object} Desk The reader who writes, and the way to the API and the page.
 * @property {import("./words.js").Words} words
 * @property {string} reader The reader whom the token names.
 * @property {string} viewer The reader's id.
 * @property {boolean} moderates Whether the reader deletes what others wrote.
 * @property {(path: string, options?: import("./api.js").Options) => Promise<any>} call
 * @property {(act: () => Promise<string | void>) => Promise<void>} tried Awaits an act; shows the
 *   word of the returned key, or the failure. Never rejects.
 */
/**
 * @typedef {object} Shown The place of an item, and the callbacks after each change of it.
 * @property {HTMLElement} place
 * @property {HTMLElement} article
 * @property {boolean} isOnOwnWall
 * @property {(comment: Comment) => void} commented
 * @property {(post: Post) => void} changed
 * @property {(post: Schemas["PollPost"]) => void} voted
 * @property {() => void} removed
 */
/** @typedef {{place: HTMLElement, changed: (comment: Comment) => void, removed: () => Promise<void>}} ShownComment Where a comment is shown, and what is to be done there. */

/** The words of writing, by matter. */
export const MATTERS = { ...FORM_WORDS, writing };
export const STYLES = [FORM_STYLES, sheet(css)];
const [EVERYBODY, ALL_CIRCLES] = ["*public*", "*circles*"];
const MOST_IN_POST = 5_000;
const MOST_IN_COMMENT = 2_000;
const EDIT_WINDOW_MS = 900_000;
const REACTIONS = /** @type {const} */ (["like", "celebrate", "support", "question"]);

/**
 * Make a form for a post, with a choice of its audience.
 * @param {Desk} desk @param {(post: Post) => void} done
 */
export function composer({ words, reader, call }, done) {
  const { t } = words;
  const choice = /** @type {HTMLSelectElement} */ (h("select", { "aria-label": t("audience"), part: "input" },
    h("option", { value: EVERYBODY }, t("everybody")), h("option", { value: ALL_CIRCLES }, t("allCircles"))));
  const form = textForm({
    words, place: `${reader}:post`, label: t("writePost"), hint: t("writePost"), most: MOST_IN_POST, choice,
    send: async (text, key) => done(await call("/posts", { method: "POST", body: { type: "status", detail: { text }, circles: [choice.value] }, key })),
  });
  // The circles are read at the first focus: most readers never write.
  let isRead = false;
  form.addEventListener("focusin", async () => {
    if (isRead) return;
    isRead = true;
    /** @type {Schemas["CirclesAnswer"]} */
    const { circles } = await call("/users/me/circles").catch(() => { isRead = false; return { circles: [] }; });
    const known = [...choice.options].map((each) => each.value);
    choice.append(...circles.filter(({ id }) => !known.includes(id)).map(({ id, name }) => new Option(name, id)));
  });
  return form;
}

/**
 * The reader's buttons at a post or an action; turns a poll into a ballot.
 * @param {Desk} desk @param {Item} item @param {Shown} shown
 */
export function toolsFor(desk, item, shown) {
  const { t } = desk.words;
  const button = (/** @type {string} */ what, /** @type {(event: Event) => void} */ onclick) => h("button", { part: "button", onclick, "data-does": what }, t(what));
  const comment = button("comment", () => commentForm(desk, item, shown));
  if ("descriptor" in item) return [reactions(desk, item), comment];
  const remove = (/** @type {string} */ what, /** @type {string} */ path, /** @type {string} */ question, /** @type {string} */ told) => button(what, (event) => ask(event.currentTarget, t(question), t("cancel"), () => desk.tried(async () => {
    await desk.call(path, { method: "DELETE" });
    shown.removed();
    return told;
  })));
  const path = `/posts/${item.id}`;
  if (item.type === "poll") ballot(desk, item, shown);
  // Only the author's answers have `circles`.
  if ("circles" in item) {
    const edit = "text" in item.detail && button("edit", () => editForm(desk, item, shown));
    return [comment, ...(edit ? [edit] : []), remove("delete", path, "confirmPost", "gonePost")];
  }
  return shown.isOnOwnWall ? [comment, remove("takeOff", `/users/me/wall/${item.id}`, "confirmTakeOff", "takenOff")] : [comment];
}

/**
 * Run acts one after the other: each press meets the result of the press before
 * it, and the last press holds.
 * @param {Desk["tried"]} tried @returns {Desk["tried"]}
 */
function inTurn(tried) {
  let last = Promise.resolve();
  return (act) => (last = last.then(() => tried(act)));
}

/** Make each option of a poll a button that votes for it, or takes the vote back. @param {Desk} desk @param {Schemas["PollPost"]} post @param {Shown} shown */
function ballot({ call, tried }, { id, detail }, { article, voted }) {
  const queued = inTurn(tried);
  article.querySelectorAll(".poll li").forEach((place, at) => {
    const button = h("button", { part: "button", onclick: () => queued(async () => {
      const [path, option] = [`/posts/${id}`, detail.options[at]];
      if (button.getAttribute("aria-pressed") !== "true") return voted(await call(`${path}/vote`, { method: "PUT", body: { option } }));
      await call(`${path}/vote`, { method: "DELETE" });
      voted(await call(path));
    }) }, ...place.childNodes);
    place.append(button);
  });
}

/** @param {Desk} desk @param {Item} item @param {Shown} shown */
function commentForm({ words, reader, call }, item, { article, commented }) {
  // The comments below may have forms of their own.
  const open = article.querySelector(":scope > form");
  if (open) return open.querySelector("textarea")?.focus();
  const [path, { name }] = "descriptor" in item ? [`/actions/${item.id}`, item.actor] : [`/posts/${item.id}`, item.author];
  const form = textForm({
    words, place: `${reader}:${path}`, most: MOST_IN_COMMENT, label: words.t("replyTo", { name }), hint: words.t("comment"),
    send: async (text, key) => commented(await call(`${path}/comments`, { method: "POST", body: { text }, key })),
    done: () => { form.remove(); goTo(article.querySelector("[data-does=comment]")); },
  });
  article.append(form);
  form.querySelector("textarea")?.focus();
}

/**
 * The reader's buttons at a comment on a post; none at a comment on an action.
 * @param {Desk} desk @param {Item} item @param {Comment} comment @param {() => ShownComment} shown
 */
export function commentTools(desk, item, comment, shown) {
  if ("descriptor" in item) return [];
  const { words: { t }, viewer, moderates } = desk;
  const path = `/posts/${item.id}/comments/${comment.id}`;
  const isOwn = comment.author.id === viewer;
  const isNew = Date.now() - Date.parse(comment.posted_at) < EDIT_WINDOW_MS;
  const edit = isOwn && isNew && h("button", { part: "button", onclick: () => commentEditor(desk, path, comment, shown()) }, t("edit"));
  const remove = (isOwn || moderates || item.author.id === viewer) && h("button", { part: "button", onclick: (/** @type {Event} */ event) => ask(event.currentTarget, t("confirm"), t("cancel"), () => desk.tried(async () => {
    await desk.call(path, { method: "DELETE" });
    await shown().removed();
    return "gone";
  })) }, t("delete"));
  return edit || remove ? [h("footer", {}, edit, remove)] : [];
}

/**
 * Replace a comment with a form that edits it.
 * @param {Desk} desk @param {string} path @param {Comment} comment @param {ShownComment} shown
 */
function commentEditor({ words, reader, call }, path, comment, { place, changed }) {
  const form = textForm({
    words, place: `${reader}:${path}:edit`, label: words.t("edit"), text: comment.text, most: MOST_IN_COMMENT,
    send: async (text) => { comment = await call(path, { method: "PATCH", body: { text } }); },
    done: () => changed(comment),
  });
  place.replaceChildren(form);
  form.querySelector("textarea")?.focus();
}

/** Read the reader's id in the API, and whether they moderate posts. @param {Desk} desk */
export async function whoReads({ call }) {
  /** @type {Schemas["CallerAnswer"]} */
  const { id, roles } = await call("/me");
  return { id, moderates: roles.some((each) => each === "social_moderator" || each === "admin") };
}

/**
 * Replace a post with a form that edits its text.
 * @param {Desk} desk @param {Post} post @param {Shown} shown
 */
function editForm({ words, reader, call }, post, { place, changed }) {
  const path = `/posts/${post.id}`;
  const detail = /** @type {{text: string}} */ (post.detail);
  const form = textForm({
    words, place: `${reader}:${path}:edit`, label: words.t("edit"), text: detail.text, most: MOST_IN_POST,
    send: async (text) => { post = await call(path, { method: "PATCH", body: { detail: { ...detail, text } } }); },
    done: () => { changed(post); goTo(place); },
  });
  place.replaceChildren(form);
  form.querySelector("textarea")?.focus();
}

/**
 * Buttons for a reader's one reaction; the pressed button takes it back.
 * @param {Desk} desk @param {Schemas["ActionAnswer"] & {own_reaction?: string | null}} action
 */
function reactions({ words: { t }, call, tried }, action) {
  const path = `/actions/${action.id}`;
  const queued = inTurn(tried);
  const buttons = REACTIONS.map((kind, at) => h("button", { part: "button", onclick: () => queued(async () => {
    const isOwn = buttons[at].hasAttribute("aria-pressed");
    await call(`${path}/reaction`, isOwn ? { method: "DELETE" } : { method: "PUT", body: { kind } });
    show(await call(path));
  }) }));
  /** @param {typeof action} now A feed's items lack `own_reaction`; a read action has it. */
  function show({ reactions: counts = {}, own_reaction: own }) {
    REACTIONS.forEach((kind, at) => {
      buttons[at].textContent = [t(kind), counts[kind]].join(" ").trim();
      if (kind === own) buttons[at].setAttribute("aria-pressed", "true");
      else buttons[at].removeAttribute("aria-pressed");
    });
  }
  show(action);
  return h("span", { class: "reactions", role: "group", "aria-label": t("react") }, ...buttons);
}
