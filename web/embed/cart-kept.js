// @ts-check
/** What a cart keeps in the browser: its id for all pages of a site, and what the buyer has typed. */
import { keep, keptValue } from "./kept.js";

/** @param {import("./kept.js").Store} store */
const keptIn = (store) => ({
  /** @param {string} place */
  read: (place) => keptValue(store, place),
  /** @param {string} place @param {unknown} value `null` forgets it */
  write: (place, value) => keep(store, place, value === null ? null : JSON.stringify(value)),
});

/** Ids of carts; they outlive the tab. */
export const ids = keptIn("localStorage");
/** Typed addresses, for this tab alone. */
export const typed = keptIn("sessionStorage");
