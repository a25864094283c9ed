// @ts-check
/** What others have changed in a discussion since it was read: loaded by pages whose reader stays. */
import { h } from "./element.js";

/** @typedef {import("./marked.js").Page} Page */
/**
 * @typedef {object} Desk What is shown, to whom, and how the API is read.
 * @property {import("./thread.js").Thread} thread
 * @property {import("./pins.js").Pins} pins
 * @property {Awaited<import("./marked.js").Later>} marks
 * @property {import("./words.js").Words} words
 * @property {ShadowRoot} root
 * @property {HTMLElement} fresh Where new comments are told.
 * @property {string} viewer The id of the reader whom the API has shown it to; "" for a guest.
 * @property {number} count How many comments are counted.
 * @property {string[]} seen The first page when it was looked at last.
 * @property {(where?: Record<string, string>) => Promise<Page>} page Reads a page anew.
 * @property {() => Promise<string | null>} readerId
 * @property {(page: Page) => void} head Shows what stands above the list.
 * @property {(count: number) => void} counted
 * @property {(isLess: boolean) => Promise<boolean>} refold Folds whom the reader has blocked elsewhere.
 * @property {() => Promise<void>} start Shows the discussion anew.
 */

/** Look for what is new and what has changed; what is read never moves by itself. @param {Desk} desk @returns {Promise<boolean>} whether there was anything */
export async function look(desk) {
  const { thread, pins, marks, words } = desk;
  const askedAt = marks?.now() || 0;
  const page = await desk.page();
  if ((page.viewer?.id || "") !== desk.viewer) return meet(desk);
  desk.head(page);
  const isMarked = (await marks?.read(page, askedAt)) || false;
  for (const id of pins.show(page.pinned, words)) thread.again(id);
  const ids = page.comments.map(({ id }) => id);
  const isLess = desk.seen.splice(0, Infinity, ...ids).some((id) => !ids.includes(id));
  const isChanged = thread.compare(page.comments) || isMarked || (await desk.refold(isLess));
  const fresh = page.node.counts.visible - desk.count;
  if (fresh > 0) desk.fresh.replaceChildren(h("button", { part: "button", onclick: desk.start }, words.t("fresh", { n: fresh })));
  else desk.counted(page.node.counts.visible);
  return fresh > 0 || isChanged;
}

/** Show the discussion to another reader than before, but not while it is unknown who reads or somebody writes. @param {Desk} desk */
async function meet({ root, readerId, start }) {
  const isWriting = [...root.querySelectorAll("textarea")].some((area) => area.value);
  if (isWriting || (await readerId()) === null) return false;
  await start();
  return true;
}
