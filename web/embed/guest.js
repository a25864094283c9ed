// @ts-check
/** Writing without an account: loaded by readers of sites that let guests write. */
import { apiOf, h, sheet } from "./element.js";
import { keep, KEPT_AS } from "./kept.js";
import { whenTyped } from "./keyboard.js";
import { load } from "./load.js";
import { withMatters } from "./matters.js";
import guest from "./words/en/guest.js";
import css from "./forms.css";

/** @typedef {import("./plaza-api.js").components["schemas"]} Schemas */
/** @typedef {import("./words.js").Words} Words */
/** @typedef {{name: string, email?: string}} Named */

const STYLES = sheet(css);
/** The module of readers who return from a provider; the build inserts this release's address. */
const PROVIDERS = BUILT_PROVIDERS;
/** The fragment that the link of an email or a provider's redirect adds to the page's address. */
const LED_HERE = /^#plaza-(guest|account)=([\w-]{43})$/;

/**
 * Sign in a reader who returns from an email's link or from a provider, and return a function that
 * replaces the invitation with the form for a guest's name.
 * @param {HTMLElement} invitation @param {Words} shared @param {Schemas["DiscussionAnswer"]["guests"]} guests
 * @param {typeof import("./api.js").call} call
 * @param {(token: string) => void} keepGuest Stores a guest's token and restarts the discussion.
 */
export async function offer(invitation, shared, guests, call, keepGuest) {
  const begin = (/** @type {string} */ token) => {
    // `providers.js` must not offer the comments of the guest who left (`acts.js`).
    keep("sessionStorage", KEPT_AS, "");
    keepGuest(token);
  };
  const words = await withMatters(shared, { guest });
  const { api, site } = placeOf(invitation);
  const open = async (/** @type {Named} */ named) => (await call(api, `/sites/${site}/guests`, { method: "POST", body: { name: named.name, ...(named.email && letterTo(named.email, words)) }, anonymous: true })).token;
  if (location.hash.startsWith("#plaza-sign-in=")) load(PROVIDERS).then((there) => there.sayFailure(invitation, shared)).catch(() => {});
  let isComingBack = LED_HERE.test(location.hash);
  const back = comeBack(invitation, words, begin).finally(() => { isComingBack = false; });
  // A link's code works once: the form must not replace the invitation before the answer.
  return () => isComingBack ? back : nameForm(invitation, words, guests === "email", open, begin);
}

/** @param {string} email @param {Words} words */
const letterTo = (email, words) => ({ email, return_to: location.href.split("#")[0], language: words.language });

/** The API's address and the site of an invitation's element. @param {HTMLElement} invitation */
function placeOf(invitation) {
  const { host } = /** @type {ShadowRoot} */ (invitation.getRootNode());
  const node = host.getAttribute("node") || "";
  return { api: apiOf(host), site: node.includes(":") ? node.split(":")[0] : "default" };
}

/**
 * POST to the site's sign-in. Throws `{code, body}`; `{code: "offline"}` if there was no answer.
 * @param {HTMLElement} invitation @param {string} rest The end of the path. @param {unknown} body
 * @returns {Promise<any>}
 */
async function signIn(invitation, rest, body) {
  const { api, site } = placeOf(invitation);
  const headers = { "Content-Type": "application/json" };
  const response = await fetch(`${api}/sites/${site}/sign-in${rest}`, { method: "POST", headers, credentials: "omit", body: JSON.stringify(body) }).catch(() => { throw { code: "offline" }; });
  const told = await response.json().catch(() => null);
  if (!response.ok || !told) throw { code: told?.code || "unavailable", body: told || {} };
  return told;
}

/**
 * Exchange the code in the address for a token, and ask the reader whether that is their name:
 * another person may have sent them the link. Does nothing without a code.
 * @param {HTMLElement} invitation @param {Words} words @param {(token: string) => void} begin
 */
async function comeBack(invitation, words, begin) {
  const [, kind, code] = location.hash.match(LED_HERE) || [];
  if (!code) return;
  const { t, reason } = words;
  history.replaceState(history.state, "", location.href.split("#")[0]);
  /** @param {(HTMLElement | string)[]} children */
  const say = (...children) => invitation.parentNode && invitation.replaceWith(h("div", { class: "note", role: "status" }, ...children));
  try {
    /** @type {Schemas["GuestAnswer"]} */
    const { name, token } = await signIn(invitation, kind === "guest" ? "/token" : "/account", { code });
    const along = kind === "account" ? await alongOf(invitation, words, token, begin).catch(() => []) : [];
    const no = h("button", { part: "button", onclick: () => goBack(no.closest("div"), invitation) }, t("guestNo"));
    say(h("p", {}, t("guestIsYou", { name })), ...along, h("button", { class: "primary", part: "button primary", onclick: () => begin(token) }, t("guestYes")), " ", no);
  } catch (error) {
    invitation.append(h("p", { role: "alert" }, reason(error)));
  }
}

/**
 * Put the invitation back in place of a form or a question, and focus its button.
 * @param {Element | null} place @param {HTMLElement} invitation
 */
function goBack(place, invitation) {
  place?.replaceWith(invitation);
  invitation.querySelector("button")?.focus();
}

/**
 * The button that moves the reader's earlier comments here to their account; [] for none.
 * @param {HTMLElement} invitation @param {Words} words @param {string} token The account's.
 * @param {(token: string) => void} begin
 */
async function alongOf(invitation, words, token, begin) {
  const { api, site } = placeOf(invitation);
  return (await load(PROVIDERS)).takingAlong(words, `${api}/sites/${site}`, token, () => begin(token));
}

/**
 * Put a form for a guest's name, and for an address where the site wants it, in place of an invitation.
 * @param {HTMLElement} invitation @param {Words} words @param {boolean} asksAddress
 * @param {(named: Named) => Promise<string>} open Returns the guest's token. @param {(token: string) => void} begin
 */
function nameForm(invitation, words, asksAddress, open, begin) {
  const { t, reason } = words;
  const field = (/** @type {string} */ label, /** @type {Record<string, unknown>} */ rest) => /** @type {HTMLInputElement} */ (h("input", { "aria-label": label, placeholder: label, required: true, part: "input", ...rest }));
  const name = field(t("guestName"), { autocomplete: "nickname", dir: "auto" });
  const email = asksAddress ? field(t("guestEmail"), { type: "email", autocomplete: "email", dir: "ltr" }) : undefined;
  const opener = /** @type {HTMLElement | null} */ (/** @type {ShadowRoot} */ (invitation.getRootNode()).activeElement);
  const back = () => { goBack(form, invitation); if (opener && invitation.contains(opener)) opener.focus(); };
  const known = email && h("button", { type: "button", part: "button", onclick: askForLetter }, t("guestSignIn"));
  const form = h("form", { part: "form", onsubmit: send, onkeydown: whenTyped((event) => { if (event.key === "Escape") back(); }) },
    h("div", { class: "row" }, name, email, h("button", { class: "primary", part: "button primary" }, t("guestGoesOn")), known, h("button", { type: "button", part: "button", onclick: back }, t("guestBack"))));
  let isSending = false;

  /** @param {Event} event */
  async function send(event) {
    event.preventDefault();
    if (isSending) return;
    isSending = true;
    form.querySelector("[role=alert]")?.remove();
    await open({ name: name.value, email: email?.value }).then(goOn, fail);
    isSending = false;
  }

  /** Have the API email a sign-in link to a returning guest; needs the address, not the name. */
  async function askForLetter() {
    if (isSending || !email?.reportValidity()) return;
    isSending = true;
    form.querySelector("[role=alert]")?.remove();
    await signIn(form, "", letterTo(email.value, words)).then(() => {
      const sent = h("p", { class: "note", role: "status", tabindex: -1 }, t("guestSent", { email: email.value }));
      form.replaceWith(sent);
      // Screen readers do not announce a status that arrives with its text.
      sent.focus();
    }, fail);
    isSending = false;
  }

  /** @param {any} error */
  const told = (error) => (error.code === "invalid_request" && error.body.errors?.every((/** @type {{field: string}} */ each) => each.field !== "name") ? t("guestUnreachable") : reason(error));
  /** @param {unknown} error */
  const fail = (error) => form.append(h("p", { role: "alert", class: "note" }, told(error)));

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
