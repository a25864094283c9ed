// @ts-check
/** Writing without an account: loaded by readers of sites that let guests write. */
import { h, sheet } from "./element.js";
import { whenTyped } from "./keyboard.js";
import { withMatters } from "./matters.js";
import guest from "./words/en/guest.js";
import css from "./forms.css";

/** @typedef {import("./plaza-api.js").components["schemas"]} Schemas */
/** @typedef {import("./words.js").Words} Words */

const STYLES = sheet(css);
/** The longest name that the API takes. */
const MOST = 100;

/**
 * Offer readers to write under a name of their choice, beside an invitation.
 * @param {HTMLElement} invitation @param {Words} shared
 * @param {(options: import("./api.js").Options) => Promise<Schemas["GuestAnswer"]>} call Calls the guests of the site.
 * @param {(token: string) => void} begin The discussion starts anew with the guest's token.
 */
export async function offer(invitation, shared, call, begin) {
  const words = await withMatters(shared, { guest });
  const open = async (/** @type {string} */ name) => begin((await call({ method: "POST", body: { name }, anonymous: true })).token);
  invitation.append(" ", h("button", { part: "button", onclick: () => nameForm(invitation, words, open) }, words.t("asGuest")));
}

/** Put a form for a guest's name in place of an invitation. @param {HTMLElement} invitation @param {Words} words @param {(name: string) => Promise<void>} begin */
function nameForm(invitation, { t, reason }, begin) {
  const name = /** @type {HTMLInputElement} */ (h("input", { "aria-label": t("guestName"), placeholder: t("guestName"), maxlength: MOST, required: true, autocomplete: "nickname", dir: "auto", part: "input" }));
  const back = () => form.replaceWith(invitation);
  const form = h("form", { part: "form", onsubmit: send, onkeydown: whenTyped((event) => { if (event.key === "Escape") back(); }) },
    h("div", { class: "row" }, name, h("button", { class: "primary", part: "button primary" }, t("guestGoesOn")), h("button", { type: "button", part: "button", onclick: back }, t("guestBack"))));
  let isSending = false;

  /** @param {Event} event */
  async function send(event) {
    event.preventDefault();
    if (isSending) return;
    isSending = true;
    form.querySelector("[role=alert]")?.remove();
    root.host.addEventListener("plaza:ready", () => root.querySelector("textarea")?.focus(), { once: true });
    await begin(name.value).catch((error) => form.append(h("p", { role: "alert", class: "note" }, reason(error))));
    isSending = false;
  }

  const root = /** @type {ShadowRoot} */ (invitation.getRootNode());
  root.adoptedStyleSheets = [...new Set([...root.adoptedStyleSheets, STYLES])];
  invitation.replaceWith(form);
  name.focus();
}
