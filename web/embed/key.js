// @ts-check
/** Random keys: of calls that may be repeated, of hits, and of elements. */

/** Draw a key of 12 random bytes, in 16 letters: pages of plain http have no `crypto.randomUUID`. */
export const newKey = () => btoa(String.fromCharCode(...crypto.getRandomValues(new Uint8Array(12)))).replace(/\W/g, "_");
