// @ts-check
/** Shows what others change in a discussion after it was read. Loaded by the first look. */
import { h } from "./element.js";
import { tellFresh } from "./fresh.js";
import { renewTimes } from "./renewal.js";

/** @typedef {import("./marked.js").Page} Page */
/** @typedef {import("./comment.js").Comment} Comment */
/**
 * @typedef {object} Desk What is shown, to whom, and how the API is read.
 * @property {import("./thread.js").Thread} thread
 * @property {import("./pins.js").Pins} pins
 * @property {Awaited<import("./marked.js").Later>} marks
 * @property {import("./words.js").Words} words
 * @property {ShadowRoot} root
 * @property {HTMLElement} fresh Announces new comments.
 * @property {string} viewer The id of the reader whom the API has shown it to; "" for a guest.
 * @property {() => number} shown How many comments are counted by now.
 * @property {() => number} writes Counts the reader's writes and each new list; below 0 during a write.
 * @property {boolean} isFirst Whether the list begins with the discussion.
 * @property {boolean} isWhole Whether no page is left that the reader has not asked for.
 * @property {string} end The last comment of the pages that the reader has asked for.
 * @property {Map<string, number>} asked How often each comment was asked for by itself.
 * @property {Map<string, boolean>} lagging Whether a comment is visible by now, while an open form delays showing that.
 * @property {(where?: Record<string, string>) => Promise<Page>} page Reads a page anew.
 * @property {(id: string) => Promise<Comment>} one Reads a comment.
 * @property {() => Promise<string | null>} readerId
 * @property {(page: Page) => void} head Shows what stands above the list.
 * @property {(count: number) => void} counted Says how many comments there are.
 * @property {(isLess: boolean) => Promise<boolean>} refold With `isLess` or known
 *   blocks, reads the reader's blocks again, and folds or unfolds articles; returns whether a block
 *   changed.
 * @property {() => Promise<void>} start Shows the discussion anew.
 * @property {() => Promise<boolean>} next Shows the next page, if there is one.
 */

/** The most comments that a look requests one by one. */
const MOST_ASKED = 10;
/** How many pages are shown on the way to a new comment. */
const MOST_PAGES = 20;

/** Look for what is new, has changed or is gone; what is read never moves by itself. @param {Desk} desk @returns {Promise<boolean>} whether there was anything */
export async function look(desk) {
  const { thread, pins, marks, words } = desk;
  renewTimes(desk.root);
  const written = desk.writes();
  if (written < 0) return true;
  const askedAt = marks?.now() || 0;
  const pages = await readAgain(desk);
  const [page] = pages;
  if ((page.viewer?.id || "") !== desk.viewer) return meet(desk, written);
  const listed = pages.flatMap(({ comments }) => comments);
  const isLast = !pages[pages.length - 1].next;
  // Placeholders of gone comments and of blocked authors look alike: if the comment is shown here,
  // `lostOf` requests it.
  const places = new Map(listed.filter(({ id, author }) => !author && thread.comment(id)?.author).map((each) => [each.id, each]));
  // Only shown pins count: the list has the others on later pages.
  const pinned = page.pinned.filter(({ id }) => thread.item(id));
  const there = new Map([...listed, ...page.waiting, ...pinned].filter(({ id }) => !places.has(id)).map((each) => [each.id, each]));
  const { gone, moved } = await lostOf(desk, missing(desk, there));
  // Meanwhile, the reader has written or another list has come: these pages may be older.
  if (desk.writes() !== written) return true;
  const isLess = moved.some(({ id, author }) => desk.asked.get(id) === 1 && author?.id !== desk.viewer);
  const known = [...there.values(), ...moved];
  const fresh = known.filter(({ id, author }) => author && !thread.item(id));
  const count = desk.shown() + [...known.map((each) => shift(desk, each.id, each.state === "visible")), ...gone.map((id) => shift(desk, id, false))].reduce((sum, each) => sum + each, 0);
  desk.head(page);
  const { activeElement } = desk.root;
  const item = activeElement?.closest("li");
  for (const id of pins.show(page.pinned, words)) thread.again(id);
  const isChanged = show(desk, known, gone, places);
  if (activeElement && !activeElement.isConnected) {
    const does = /** @type {HTMLElement} */ (activeElement).dataset.does;
    const there = item?.isConnected ? item : null;
    const again = /** @type {HTMLElement | null | undefined} */ (does && there?.querySelector(`:scope > article [data-does=${does}]`));
    // The same button of the comment as it is now; else the comment, if it is still there.
    (again || there || desk.root.querySelector("section"))?.focus({ preventScroll: true });
  }
  keepPlaces(desk, listed);
  const { visible } = page.node.counts;
  // A page that its reader asked for may have brought new ones.
  const standing = thread.ids.filter((id) => thread.comment(id)?.state === "visible").length;
  // Moderators are told of comments that wait, too, which are not counted.
  const isAll = !page.previous && isLast && desk.isWhole;
  const visibly = fresh.filter(({ state }) => state === "visible");
  const among = placesAmong(desk, listed, visibly);
  const unshown = isAll ? visibly.length : Math.max(among, visible - Math.max(count, standing));
  const more = isAll ? fresh.length : unshown;
  tellFresh(desk.fresh, more, words.t("fresh", { n: more }), () => reveal(desk, known, unshown, more, isLast || among === more));
  desk.counted(visible - unshown);
  // The reader may write during these calls: nothing of the pages is shown after them.
  const isMarked = (await marks?.read({ ...page, comments: known }, askedAt)) || false;
  const isFolded = await desk.refold(isLess);
  return more > 0 || isChanged || isMarked || isFolded;
}

/** Count the new comments with a place among the shown ones: losses on later pages do not offset them. @param {Desk} desk @param {Comment[]} listed @param {Comment[]} fresh */
function placesAmong({ thread, isFirst, end }, listed, fresh) {
  const begin = isFirst ? 0 : listed.findIndex(({ id }) => thread.item(id));
  const until = thread.isByTime ? listed.findIndex(({ id }) => id === end) : 0;
  return listed.slice(begin, Math.max(begin, until)).filter((each) => fresh.includes(each)).length;
}

/** Show and mark new comments where they stand, and go to the first. @param {Desk} desk @param {Comment[]} known @param {number} unshown How many comments are to be counted. @param {number} more How many are new. @param {boolean} isThere Whether all of them are known. */
async function reveal({ thread, fresh, shown, counted, next, start }, known, unshown, more, isThere) {
  const before = new Set(thread.ids);
  const added = () => thread.ids.filter((id) => !before.has(id) && thread.comment(id)?.author);
  for (const comment of known) thread.place(comment, thread.list.firstElementChild);
  thread.adopt();
  // Where the oldest come first, the new ones come last.
  const isEnough = () => isThere || (!thread.isOldest && added().length >= more);
  for (let page = 0; page < MOST_PAGES && !isEnough() && (await next()); page++);
  const latest = added().sort((some, other) => postedAt(thread, other) - postedAt(thread, some)).slice(0, more);
  const items = thread.mark(latest);
  if (!items.length) return start();
  fresh.replaceChildren();
  counted(shown() + unshown);
  items[0].scrollIntoView({ block: "center" });
  items[0].focus({ preventScroll: true });
}

/** @param {Desk["thread"]} thread @param {string} id */
const postedAt = (thread, id) => Date.parse(thread.comment(id)?.posted_at || "");

/** Start anew for another reader, but not over a text or for an unknown reader; return whether it did, or the discussion has started since. @param {Desk} desk @param {number} written */
async function meet({ root, readerId, start, writes }, written) {
  const isWriting = [...root.querySelectorAll("textarea")].some((area) => area.value);
  if (isWriting || (await readerId()) === null) return false;
  // The list of that reader may have come meanwhile, and the reader may be pressing what it shows.
  if (writes() === written) await start();
  return true;
}

/** Read the pages of the shown comments: from the first page, or around the first comment still there. @param {Desk} desk */
async function readAgain({ thread, isFirst, page }) {
  const { ids } = thread;
  const pages = [];
  for (let at = 0; !pages.length; at++) {
    try {
      pages.push(await page(isFirst ? undefined : { around: ids[at] }));
    } catch (error) {
      if (isFirst || at + 1 >= ids.length || /** @type {{code?: string}} */ (error).code !== "unknown_comment") throw error;
    }
  }
  // As many as were shown, and one for what has come between.
  const most = Math.ceil(ids.length / pages[0].comments.length) + 1;
  const lacking = new Set(ids);
  const isRead = (/** @type {Page} */ { comments }) => {
    for (const { id } of comments) lacking.delete(id);
    // Votes may have moved the last one that is shown to the first page.
    return thread.isByTime ? !lacking.has(ids[ids.length - 1]) : !lacking.size;
  };
  for (let last = pages[0]; !isRead(last) && last.next && pages.length < most; ) pages.push((last = await page({ cursor: last.next })));
  return pages;
}

/** Shown comments that the pages lack: gone, moved by votes, or posted by the reader beyond them. @param {Desk} desk @param {Map<string, Comment>} there */
function missing({ thread }, there) {
  return thread.ids.filter((id) => !there.has(id) && thread.comment(id)?.author);
}

/** Request up to MOST_ASKED missing comments one by one, the least requested first. @param {Desk} desk @param {string[]} ids */
async function lostOf({ one, asked }, ids) {
  const times = (/** @type {string} */ id) => asked.get(id) || 0;
  const chosen = ids.sort((some, other) => times(some) - times(other)).slice(0, MOST_ASKED);
  const answers = await Promise.all(chosen.map((id) => one(id).catch((error) => {
    if (error.code !== "unknown_comment") throw error;
    return null;
  })));
  for (const id of chosen) asked.set(id, times(id) + 1);
  return {
    gone: chosen.filter((_, at) => !answers[at]?.author),
    moved: /** @type {Comment[]} */ (answers.filter((each) => each?.author)),
  };
}

/** The change that a comment makes to the shown count: -1, 0 or 1. @param {Desk} desk @param {string} id @param {boolean} isVisible */
function shift({ thread, lagging }, id, isVisible) {
  const comment = thread.comment(id);
  if (!comment) return 0;
  const was = lagging.get(id) ?? comment.state === "visible";
  if (thread.formAt(id)) lagging.set(id, isVisible);
  else lagging.delete(id);
  return Number(isVisible) - Number(was);
}

/** Put replies without a parent below its placeholder, and remove placeholders without a reply. @param {Desk} desk @param {Comment[]} listed */
function keepPlaces({ thread }, listed) {
  /** By parent id: the item before which its placeholder goes. @type {Map<string, Element>} */
  const needed = new Map();
  for (const each of /** @type {HTMLCollectionOf<HTMLElement>} */ (thread.list.children)) needed.set(each.dataset.parent || "", each);
  const lacking = [...listed].reverse().filter(({ id, author, parent_id: parent }) => {
    const before = needed.get(id);
    if (author || !before || thread.item(id)) return false;
    if (parent) needed.set(parent, before);
    return true;
  });
  for (const place of lacking.reverse()) thread.place(place, needed.get(place.id));
  thread.adopt();
  const there = new Set(listed.map(({ id }) => id));
  for (const id of thread.ids) {
    const comment = thread.comment(id);
    if (comment && !comment.author && !there.has(id) && !thread.item(id)?.querySelector(":scope > .thread")) thread.remove(comment);
  }
}

/** The parts of an article that others may change, for comparison. @param {Comment} comment */
const asTold = ({ html, state, edited_at: edited, reply_to: answered, can }) => JSON.stringify([html, state, edited, answered, can]);

/**
 * Show changes and remove gone comments. A comment with an open form stays as it is: if it is gone,
 * the form gets a note. Returns whether this changed anything.
 * @param {Desk} desk @param {Comment[]} known @param {string[]} gone
 * @param {Map<string, Comment>} places The placeholders of gone comments.
 */
function show({ thread, words: { t } }, known, gone, places) {
  const changed = known.filter((each) => {
    const comment = thread.comment(each.id);
    return comment && asTold(comment) !== asTold(each) && !thread.formAt(each.id);
  });
  for (const each of changed) thread.renew(each);
  let isChanged = changed.length > 0;
  for (const { id } of known) thread.formAt(id)?.querySelector(".lost")?.remove();
  for (const id of gone) {
    const [comment, form, place] = [thread.comment(id), thread.formAt(id), places.get(id)];
    if (!form && place) thread.renew(place);
    else if (!form && comment) thread.remove(comment);
    else if (form && !form.querySelector(".lost")) form.prepend(h("p", { class: "lost", role: "status" }, t("unknown_comment")));
    else continue;
    isChanged = true;
  }
  return isChanged;
}
