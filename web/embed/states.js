// @ts-check
/** The notes of an element: an invitation to sign in, and a failure with a button to try again. */
import { forget, readerId } from "./api.js";
import { h, tell } from "./element.js";

/** @typedef {import("./words.js").Words} Words */

/**
 * Ask a guest to sign in: by the element's link `sign-in`, or without it by firing `plaza:sign-in`.
 * @param {Element} element @param {Words} words @param {string} key The key of the words.
 */
export function invitation(element, { t }, key) {
  const href = element.getAttribute("sign-in");
  return h("p", { class: "note" }, href
    ? h("a", { href, part: "link" }, t(key))
    : h("button", { part: "button", onclick: () => tell(element, "sign-in") }, t(key)));
}

/**
 * Show why an element failed, below the content that the page put inside; fires `plaza:error`.
 * @param {Element} element @param {unknown} error @param {Words} words @param {() => void} again
 */
export function failure(element, error, words, again) {
  tell(element, "error", error);
  return h("section", { part: "root", dir: words.isRtl ? "rtl" : "ltr", lang: words.language }, h("slot"), retry(error, words, again));
}

/** Say why something failed, with a button to try it again. @param {unknown} error @param {Words} words @param {() => void} again */
export function retry(error, words, again) {
  return h("div", { class: "note" }, h("p", { role: "alert" }, words.reason(error)),
    h("button", { part: "button", onclick: () => { forget(); again(); } }, words.t("retry")));
}

/**
 * Restart on the page's event `plaza:identity`, and when the page returns from the browser's
 * back/forward cache with another reader.
 * @param {() => string} known The reader of the last start; "" for a guest.
 * @param {() => void} restart
 * @param {AbortSignal} signal
 */
export function followReader(known, restart, signal) {
  document.addEventListener("plaza:identity", () => { forget(); restart(); }, { signal });
  addEventListener("pageshow", async ({ persisted }) => {
    if (!persisted) return;
    forget();
    const reader = await readerId();
    if (reader !== null && reader !== known()) restart();
  }, { signal });
}
