// @ts-check
/** The stored token of a guest, a reader who writes under a chosen name without an account. */
import { admitGuests } from "./api.js";
import { keep, kept, KEPT_AS } from "./kept.js";

/** The token of the last guest's call, "" without a name; null before it. @type {string | null} */
let used = null;
admitGuests(() => (used = kept("localStorage", KEPT_AS) || ""));

// A reader who has taken a name in another tab is that guest here too: a second name in this tab
// would replace the stored token, and the reader would lose the first guest's comments.
addEventListener("storage", ({ key, newValue, storageArea }) => {
  if (key === KEPT_AS && newValue && used === "" && storageArea === localStorage) document.dispatchEvent(new CustomEvent("plaza:identity"));
});

/**
 * Store a guest's token, "" for none; dispatches `plaza:identity`, and all elements start again.
 * @param {string} token
 */
export function keepGuest(token) {
  keep("localStorage", KEPT_AS, token);
  document.dispatchEvent(new CustomEvent("plaza:identity"));
}
