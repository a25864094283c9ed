// @ts-check
/** Ids that a browser draws: of a call that may be repeated, and of a hit. */

/** Draw a key of 12 random bytes, in 16 letters: pages of plain http have no `crypto.randomUUID`. */
export const newKey = () => btoa(String.fromCharCode(...crypto.getRandomValues(new Uint8Array(12)))).replace(/\W/g, "_");
