// @ts-check
/** What a cart keeps in the browser: its id for all pages of a site, and what the buyer has typed. */

/** For browsers that refuse storage: as long as the page lives. @type {Map<string, string>} */
const memory = new Map();

/** @param {() => Storage} storage */
const keptIn = (storage) => ({
  /** @param {string} place @returns {any} */
  read(place) {
    try {
      return JSON.parse(storage().getItem(place) || "null");
    } catch {
      return JSON.parse(memory.get(place) || "null");
    }
  },
  /** @param {string} place @param {unknown} value `null` forgets it */
  write(place, value) {
    memory.set(place, JSON.stringify(value));
    try {
      if (value === null) storage().removeItem(place);
      else storage().setItem(place, JSON.stringify(value));
    } catch {
      // A private window without storage.
    }
  },
});

/** What outlives the tab. */
export const ids = keptIn(() => localStorage);
/** What ends with the tab: addresses are nobody else's. */
export const typed = keptIn(() => sessionStorage);
