// @ts-check
/** Texts in the browser's storage; in memory, until the page ends, where storage is off or full. */

/** @typedef {"localStorage" | "sessionStorage"} Store */

/** The key of a guest's token: in localStorage, and in sessionStorage once the guest has left. */
export const KEPT_AS = "plaza:guest";

/**
 * Texts that the browser has refused to store, by store and key; they replace the stored ones.
 * @type {Map<string, string | null>}
 */
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

/**
 * The value of a text that `keep` got as JSON; null for no text and for invalid JSON.
 * @param {Store} store @param {string} key @returns {any}
 */
export function keptValue(store, key) {
  try {
    return JSON.parse(kept(store, key) || "null");
  } catch {
    return null;
  }
}
