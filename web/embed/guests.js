// @ts-check
/** Readers without an account, who write under a name of their choice: where their browser keeps their token. */
import { admitGuests } from "./api.js";
import { keep, kept, KEPT_AS } from "./kept.js";

/** The token of the last call by a guest; null before the first. @type {string | null} */
let used = null;
admitGuests(() => (used = kept("localStorage", KEPT_AS) || ""));

// A reader without a name is the guest that they become in another tab: a second guest would lose the first one's comments.
addEventListener("storage", ({ key, newValue, storageArea }) => {
  if (key === KEPT_AS && newValue && used === "" && storageArea === localStorage) document.dispatchEvent(new CustomEvent("plaza:identity"));
});

/** Write with a guest's token from now on, "" for none; all elements of the page start anew. @param {string} token */
export function keepGuest(token) {
  keep("localStorage", KEPT_AS, token);
  document.dispatchEvent(new CustomEvent("plaza:identity"));
}
