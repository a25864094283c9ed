// @ts-check
/** What an element shows of its own state: nobody is signed in, something failed, something is new. */
import { forget, readerId } from "./api.js";
import { h, tell } from "./element.js";

/** @typedef {import("./words.js").Words} Words */

/** Ask a guest to sign in. @param {Element} element @param {Words} words @param {string} key */
export function invitation(element, { t }, key) {
  const href = element.getAttribute("sign-in");
  return h("p", { class: "note" }, href
    ? h("a", { href, part: "link" }, t(key))
    : h("button", { part: "button", onclick: () => tell(element, "sign-in") }, t(key)));
}

/** Say why there is nothing, above what the page put inside. @param {Element} element @param {unknown} error @param {Words} words @param {() => void} again */
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
 * Start anew when the page says that another reader has come, and when it comes back from the browser's memory to another one.
 * @param {() => string} known The reader that was shown to; "" for a guest. @param {() => void} restart @param {AbortSignal} signal
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
