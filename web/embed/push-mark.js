// @ts-check
/** Whose push messages this browser shows, by which subscription, and in which zone: kept among a site's own data. */

/** @typedef {{inbox: string, endpoint: string, zone?: string}} PushMark */

const KEY = "plaza:push";

/** The mark; null: none, or the browser keeps nothing for the site. @returns {PushMark | null} */
export function readPushMark() {
  try {
    return JSON.parse(localStorage.getItem(KEY) || "null");
  } catch {
    return null;
  }
}

/** @param {PushMark | null} mark */
export function writePushMark(mark) {
  try {
    localStorage.setItem(KEY, JSON.stringify(mark));
  } catch {
    // A browser that keeps nothing for the site has no subscription either.
  }
}
