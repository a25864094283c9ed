// @ts-check
/** Texts that a browser keeps for its reader, unless it refuses storage. */

/** @typedef {"localStorage" | "sessionStorage"} Store The latter ends with its tab. */

/** Where a guest's token is kept: by the browser, and for its tab once the guest has left. */
export const KEPT_AS = "plaza:guest";

/** @param {Store} store @param {string} key @returns {string | null} */
export function kept(store, key) {
  try {
    return window[store].getItem(key);
  } catch {
    return null;
  }
}

/** @param {Store} store @param {string} key @param {string} value */
export function keep(store, key, value) {
  try {
    window[store].setItem(key, value);
  } catch {
    // A private window without storage.
  }
}
