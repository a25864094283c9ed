// @ts-check
/** Texts that a browser keeps for its reader: without storage, or where it is full, for as long as the page lives. */

/** @typedef {"localStorage" | "sessionStorage"} Store The latter ends with its tab. */

/** Where a guest's token is kept: by the browser, and for its tab once the guest has left. */
export const KEPT_AS = "plaza:guest";

/** Texts that the browser has refused to keep, newer than those that it has. @type {Map<string, string | null>} */
const refused = new Map();

/** @param {Store} store @param {string} key @returns {string | null} */
export function kept(store, key) {
  const own = refused.get(store + key);
  if (own !== undefined) return own;
  try {
    return window[store].getItem(key);
  } catch {
    return null;
  }
}

/** @param {Store} store @param {string} key @param {string | null} text Null forgets it. */
export function keep(store, key, text) {
  try {
    if (text === null) window[store].removeItem(key);
    else window[store].setItem(key, text);
    refused.delete(store + key);
  } catch {
    refused.set(store + key, text);
  }
}

/** What `keep` was given as JSON; null for nothing, and for what is none. @param {Store} store @param {string} key @returns {any} */
export function keptValue(store, key) {
  try {
    return JSON.parse(kept(store, key) || "null");
  } catch {
    return null;
  }
}
