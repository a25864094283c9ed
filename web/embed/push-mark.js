// @ts-check
/** The reader, subscription and time zone of a browser's push messages, in `localStorage`. */

/** @typedef {{inbox: string, endpoint: string, zone?: string}} PushMark */

const KEY = "plaza:push";

/**
 * Return the mark; null if there is none or the browser denies the site its storage.
 * @returns {PushMark | null}
 */
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
    // A browser that denies the site its storage has no subscription either.
  }
}
