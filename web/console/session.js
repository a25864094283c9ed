// @ts-check
/** Who is signed in: a token that this tab alone keeps, and asks for again once it has ended. */
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

/** Take the token that a site's backend has handed over out of the address; "" if there is none. */
export function takeToken() {
  if (!isHanded()) return "";
  const handed = new URLSearchParams(location.hash.slice(1)).get("token") || "";
  history.replaceState(null, "", location.pathname + location.search);
  return handed;
}

/** Sign in by a token: this tab asks for the pages of its person from now on. @param {string} text */
export function keep(text) {
  sessionStorage.setItem(KEPT, text);
  forget();
}

/** Whom a token signs in, or null if it is not valid; throws if Plaza does not answer. @param {string} text @returns {Promise<Caller | null>} */
export async function personOf(text) {
  const answer = await fetch(`${API}/me`, { headers: { Authorization: `Bearer ${text}` }, cache: "no-store", credentials: "omit" });
  if (answer.status === 401) return null;
  if (!answer.ok) throw new Problem({ code: "unavailable" }, answer);
  return answer.json();
}

/** Forget who is signed in. */
export function signOut() {
  sessionStorage.removeItem(KEPT);
  forget();
}

/** Who is signed in, or null. @returns {Promise<Caller | null>} */
export async function caller() {
  if (!sessionStorage.getItem(KEPT)) return null;
  try {
    return await call(API, "/me");
  } catch (problem) {
    if (problem instanceof Problem && problem.code === "unauthenticated") return null;
    throw problem;
  }
}

/** The id of who reads the page. */
let reader = "";
/** @type {Promise<void> | null} */
let signingIn = null;
/** Ends the question for another token. */
let close = () => {};

/** Say who reads the page from now on; a question to whoever read it before is over. @param {string} id */
export function enter(id) {
  if (id === reader) return;
  reader = id;
  signingIn = null;
  // What has waited is never sent.
  close = () => {};
}

/** Go on with what has waited for a token of the same reader. */
export const goOn = () => close();

/**
 * Make a call as who is signed in. One whose token has ended waits until they have signed in
 * again, so that nothing they wrote is lost; throws Problem for all else.
 * @param {string} path @param {Options} [options] @returns {Promise<any>}
 */
export async function ask(path, options = {}) {
  try {
    // Named, the method keeps a call from going on as a guest's.
    return await call(API, path, { method: "GET", anew: !options.method, ...options });
  } catch (problem) {
    if (!(problem instanceof Problem) || problem.code !== "unauthenticated") throw problem;
    const asked = (signingIn ||= signInAgain());
    await asked;
    if (signingIn === asked) signingIn = null;
    return ask(path, options);
  }
}

/** Show the form over the page, which stays as it is beneath. @returns {Promise<void>} */
function signInAgain() {
  return new Promise((signedIn) => {
    const dialog = /** @type {HTMLDialogElement} */ (
      h("dialog", { "aria-labelledby": "again", class: "card", closedby: "none" }, h("h2", { id: "again" }, "Your token has ended"), h("p", {}, "What you did last is kept, and is sent once you have signed in."))
    );
    close = () => {
      // Gives the focus back to where it was.
      dialog.close();
      dialog.remove();
      signedIn();
    };
    // What waits was done by the reader before, and is not sent as another's.
    dialog.append(tokenForm(({ id }) => (id === reader ? close() : location.reload())));
    dialog.addEventListener("cancel", (event) => event.preventDefault());
    // A second Escape closes it all the same, in browsers that do not know `closedby`.
    dialog.addEventListener("close", () => dialog.isConnected && dialog.showModal());
    document.body.append(dialog);
    dialog.showModal();
  });
}

/** A form for a token. @param {(caller: Caller) => void} done @param {string} [told] What it says at first. */
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
