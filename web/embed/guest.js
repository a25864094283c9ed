// @ts-check
/** Writing without an account: loaded by readers of sites that let guests write. */
import { apiOf, h, sheet } from "./element.js";
import { whenTyped } from "./keyboard.js";
import { withMatters } from "./matters.js";
import guest from "./words/en/guest.js";
import css from "./forms.css";

/** @typedef {import("./plaza-api.js").components["schemas"]} Schemas */
/** @typedef {import("./words.js").Words} Words */
/** @typedef {{name: string, email?: string}} Named */

const STYLES = sheet(css);
/** The longest name that the API takes, and the longest address. */
const MOST = 100;
const MOST_OF_ADDRESS = 254;

/**
 * Offer readers to write under a name of their choice, beside an invitation.
 * @param {HTMLElement} invitation @param {Words} shared
 * @param {(options: import("./api.js").Options) => Promise<Schemas["GuestAnswer"]>} call Calls the guests of the site.
 * @param {(token: string) => void} begin The discussion starts anew with the guest's token.
 */
export async function offer(invitation, shared, call, begin) {
  const words = await withMatters(shared, { guest });
  const open = async (/** @type {Named} */ named) => {
    const letter = named.email && { email: named.email, return_to: location.href.split("#")[0], language: words.language };
    return (await call({ method: "POST", body: { name: named.name, ...letter }, anonymous: true })).token;
  };
  const show = async () => nameForm(invitation, words, await asksForAddress(invitation), open, begin);
  invitation.append(" ", h("button", { part: "button", onclick: show }, words.t("asGuest")));
}

/** Whether the site wants an address of its guests; if that cannot be read, the API says so later. @param {HTMLElement} invitation */
async function asksForAddress(invitation) {
  const { host } = /** @type {ShadowRoot} */ (invitation.getRootNode());
  const path = `/nodes/${encodeURIComponent(host.getAttribute("node") || "")}/comments?limit=1`;
  /** @returns {Promise<Schemas["CommentsAnswer"]>} */
  const page = async () => (await fetch(apiOf(host) + path, { credentials: "omit" })).json();
  return page().then(({ node }) => node.guests === "email", () => false);
}

/**
 * Put a form for a guest's name, and for an address where the site wants it, in place of an invitation.
 * @param {HTMLElement} invitation @param {Words} words @param {boolean} asksAddress
 * @param {(named: Named) => Promise<string>} open Returns the guest's token. @param {(token: string) => void} begin
 */
function nameForm(invitation, { t, reason }, asksAddress, open, begin) {
  const field = (/** @type {string} */ label, /** @type {Record<string, unknown>} */ rest) => /** @type {HTMLInputElement} */ (h("input", { "aria-label": label, placeholder: label, required: true, part: "input", ...rest }));
  const name = field(t("guestName"), { maxlength: MOST, autocomplete: "nickname", dir: "auto" });
  const email = asksAddress ? field(t("guestEmail"), { type: "email", maxlength: MOST_OF_ADDRESS, autocomplete: "email", dir: "ltr" }) : undefined;
  const back = () => form.replaceWith(invitation);
  const form = h("form", { part: "form", onsubmit: send, onkeydown: whenTyped((event) => { if (event.key === "Escape") back(); }) },
    h("div", { class: "row" }, name, email, h("button", { class: "primary", part: "button primary" }, t("guestGoesOn")), h("button", { type: "button", part: "button", onclick: back }, t("guestBack"))));
  let isSending = false;

  /** @param {Event} event */
  async function send(event) {
    event.preventDefault();
    if (isSending) return;
    isSending = true;
    form.querySelector("[role=alert]")?.remove();
    await open({ name: name.value, email: email?.value }).then(goOn, (error) => form.append(h("p", { role: "alert", class: "note" }, told(error))));
    isSending = false;
  }

  /** @param {any} error */
  const told = (error) => (error.code === "invalid_request" && error.body.errors?.every((/** @type {{field: string}} */ each) => each.field !== "name") ? t("guestUnreachable") : reason(error));

  /** @param {string} token */
  function goOn(token) {
    const start = () => {
      root.host.addEventListener("plaza:ready", () => root.querySelector("textarea")?.focus(), { once: true });
      begin(token);
    };
    if (!email) return start();
    const on = h("button", { class: "primary", part: "button primary", onclick: start }, t("guestGoesOn"));
    form.replaceWith(h("div", { class: "note", role: "status" }, h("p", {}, t("guestMailed", { email: email.value })), on));
    on.focus();
  }

  const root = /** @type {ShadowRoot} */ (invitation.getRootNode());
  root.adoptedStyleSheets = [...new Set([...root.adoptedStyleSheets, STYLES])];
  invitation.replaceWith(form);
  name.focus();
}
