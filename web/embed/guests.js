// @ts-check
/** Readers without an account, who write under a name of their choice: where their browser keeps their token. */
import { admitGuests } from "./api.js";
import { keep, kept, KEPT_AS } from "./kept.js";

admitGuests(() => kept("localStorage", KEPT_AS) || "");

// Who has become a guest in another tab is the same guest here: two would each lose the other's comments.
addEventListener("storage", ({ key, newValue }) => key === KEPT_AS && newValue && document.dispatchEvent(new CustomEvent("plaza:identity")));

/** Write with a guest's token from now on, "" for none; all elements of the page start anew. @param {string} token */
export function keepGuest(token) {
  keep("localStorage", KEPT_AS, token);
  document.dispatchEvent(new CustomEvent("plaza:identity"));
}
