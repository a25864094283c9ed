// @ts-check
/** The caller's session: a token in this tab's storage, and a form for the next token. */
import { call, forget, Problem } from "./../embed/api.js";
import { h } from "./../embed/element.js";

/** @typedef {import("./../embed/plaza-api.js").components["schemas"]["CallerAnswer"]} Caller */
/** @typedef {import("./../embed/api.js").Options} Options */

const KEPT = "plaza-console-token";
/** The API that serves this script. */
export const API = new URL("..", import.meta.url).href.replace(/\/+$/, "");

window.plaza = { token: () => sessionStorage.getItem(KEPT) };

/** Whether the address hands over a token. */
export const isHanded = () => location.hash.startsWith("#token=");

/** Remove the token of a site's backend from the address, and return it; "" if there is none. */
export function takeToken() {
  if (!isHanded()) return "";
  const handed = new URLSearchParams(location.hash.slice(1)).get("token") || "";
  history.replaceState(null, "", location.pathname + location.search);
  return handed;
}

/** Store a token: this tab's calls use it from now on. @param {string} text */
export function keep(text) {
  sessionStorage.setItem(KEPT, text);
  forget();
}

/**
 * Return the person of a token, or null if it is not valid; throws if Plaza fails or is silent.
 * @param {string} text @returns {Promise<Caller | null>}
 */
export async function personOf(text) {
  const answer = await fetch(`${API}/me`, { headers: { Authorization: `Bearer ${text}` }, cache: "no-store", credentials: "omit" });
  if (answer.status === 401) return null;
  if (!answer.ok) throw new Problem({ code: "unavailable" }, answer);
  return answer.json();
}

/** Delete the caller's token from the tab. */
export function signOut() {
  sessionStorage.removeItem(KEPT);
  forget();
}

/**
 * Return the caller, or null without a valid token; throws Problem.
 * @returns {Promise<Caller | null>}
 */
export async function caller() {
  if (!sessionStorage.getItem(KEPT)) return null;
  try {
    return await call(API, "/me");
  } catch (problem) {
    if (problem instanceof Problem && problem.code === "unauthenticated") return null;
    throw problem;
  }
}

/** The id of the page's caller; "" if there is none. */
let reader = "";
/** @type {Promise<void> | null} */
let signingIn = null;
/** Closes the sign-in dialog, and sends the calls that wait for a token. */
let close = () => {};

/** Return the id of the page's caller, as the API writes it; "" if there is none. */
export const callerId = () => reader;

/**
 * Set the page's caller; for another caller, forget the open sign-in dialog and its calls. The
 * console then replaces the page, and so removes the dialog.
 * @param {string} id "" for no caller.
 */
export function enter(id) {
  if (id === reader) return;
  reader = id;
  signingIn = null;
  // The calls that wait for the earlier caller's token are never sent.
  close = () => {};
}

/** Send the calls that wait for a new token of the same caller. */
export const goOn = () => close();

/**
 * Make a call with the caller's token. If the token has ended, the call waits for the caller's next
 * sign-in, so that no input is lost. Throws Problem for other failures.
 * @param {string} path @param {Options} [options] @returns {Promise<any>}
 */
export async function ask(path, options = {}) {
  try {
    // call() repeats a refused call as a guest's, unless the call names its method.
    return await call(API, path, { method: "GET", anew: !options.method, ...options });
  } catch (problem) {
    if (!(problem instanceof Problem) || problem.code !== "unauthenticated") throw problem;
    const asked = (signingIn ||= signInAgain());
    await asked;
    if (signingIn === asked) signingIn = null;
    return ask(path, options);
  }
}

/**
 * Show the sign-in form over the unchanged page; resolves at the sign-in.
 * @returns {Promise<void>}
 */
function signInAgain() {
  return new Promise((signedIn) => {
    const dialog = /** @type {HTMLDialogElement} */ (
      h("dialog", { "aria-labelledby": "again", class: "card", closedby: "none" }, h("h2", { id: "again" }, "Your token has ended"), h("p", {}, "What you did last is kept, and is sent once you have signed in."))
    );
    close = () => {
      // Returns the focus to the element that had it.
      dialog.close();
      dialog.remove();
      signedIn();
    };
    // The waiting calls are the earlier caller's, and are not sent as another's.
    dialog.append(tokenForm(({ id }) => (id === reader ? close() : location.reload())));
    dialog.addEventListener("cancel", (event) => event.preventDefault());
    // A second Escape closes it all the same, in browsers that do not know `closedby`.
    dialog.addEventListener("close", () => dialog.isConnected && dialog.showModal());
    document.body.append(dialog);
    dialog.showModal();
  });
}

/**
 * Return a form that signs in by a token.
 * @param {(caller: Caller) => void} done Receives the token's person.
 * @param {string} [told] The form's first message.
 */
export function tokenForm(done, told = "") {
  const status = h("p", { role: "alert", class: "bad-text" }, told);
  const field = /** @type {HTMLInputElement} */ (h("input", { name: "token", autocomplete: "off", spellcheck: "false", required: true }));
  const form = h("form", { class: "sign-in" }, h("label", {}, "Token", field), h("button", { class: "good" }, "Sign in"), status);
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    keep(field.value.trim());
    try {
      const found = await caller();
      if (found) return done(found);
      signOut();
      status.textContent = "This token is not valid, or has ended.";
    } catch {
      status.textContent = "Plaza does not answer. Try again.";
    }
    field.select();
  });
  return form;
}
