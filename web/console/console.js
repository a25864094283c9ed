// @ts-check
/** The console's frame: the caller, the pages that the caller's roles open, and the page shown. */
import { h } from "./../embed/element.js";
import { caller, enter, goOn, isHanded, keep, personOf, signOut, takeToken, tokenForm } from "./session.js";

/** @typedef {import("./session.js").Caller} Caller */
/** @typedef {{id: string, title: string, part: string, roles: string[], file: string}} Page */

/** Each page is the element `plaza-<id>`; its file loads when the page opens. @type {Page[]} */
const PAGES = [
  { id: "queue", title: "Waiting", part: "Comments", roles: ["moderator", "publisher", "admin"], file: "./queue.js" },
  { id: "log", title: "Log", part: "Comments", roles: ["moderator", "publisher", "admin"], file: "./log.js" },
  { id: "person", title: "People", part: "Comments", roles: ["moderator", "publisher", "admin"], file: "./person.js" },
  { id: "sign-in", title: "Sign-in", part: "Comments", roles: ["publisher", "admin"], file: "./sign-in.js" },
  { id: "imports", title: "Import and export", part: "Comments", roles: ["publisher", "admin"], file: "./imports.js" },
];

const main = h("main", { id: "page", tabindex: "-1" });
const nav = h("nav", { "aria-label": "Console" });
/**
 * The pages that the caller may open; empty while a card stands in place of the frame.
 * @type {Page[]}
 */
let opened = [];
/**
 * The caller of the open page; null while a card stands in place of the frame.
 * @type {Caller | null}
 */
let present = null;

/** Show the page that the address names, or else the first that the caller may open. @param {Page[]} pages */
async function show(pages) {
  const wanted = location.hash.slice(1);
  const page = pages.find((each) => each.id === wanted) || pages[0];
  for (const link of nav.querySelectorAll("a")) {
    if (link.hash === `#${page.id}`) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  document.title = `${page.title} – Plaza console`;
  try {
    await import(page.file);
  } catch {
    if (location.hash.slice(1) !== wanted) return;
    return main.replaceChildren(h("h1", {}, "Plaza does not answer"), h("p", { class: "card" }, h("button", { onclick: () => location.reload() }, "Try again")));
  }
  // Another page may have been chosen while this one was loaded.
  if (location.hash.slice(1) === wanted) main.replaceChildren(document.createElement(`plaza-${page.id}`));
}

/** @param {Caller} signedIn */
function open(signedIn) {
  present = signedIn;
  enter(signedIn.id);
  const pages = PAGES.filter((page) => page.roles.some((role) => signedIn.roles.some((own) => own === role)));
  const out = h("button", { onclick: leave }, "Sign out");
  const who = h("p", { class: "meta" }, h("b", {}, signedIn.name), h("span", {}, signedIn.roles.join(", ") || "no roles"));
  nav.replaceChildren(h("strong", {}, "Plaza"));
  for (const part of new Set(pages.map((page) => page.part))) {
    nav.append(h("h2", {}, part));
    for (const page of pages.filter((each) => each.part === part)) nav.append(h("a", { href: `#${page.id}` }, page.title));
  }
  nav.append(h("div", { class: "who" }, who, out));
  document.body.replaceChildren(h("a", { class: "skip", href: "#page", onclick: skip }, "To the page"), h("div", { class: "app" }, nav, main));
  opened = pages;
  if (pages.length) show(pages);
  else {
    main.replaceChildren(h("h1", {}, "Nothing to do here"), h("p", { class: "card" }, "Your token has no role that the console has a page for."));
  }
}

/** @param {...(Node | string)} inside */
function alone(...inside) {
  opened = [];
  present = null;
  enter("");
  document.body.replaceChildren(h("main", { class: "alone" }, ...inside));
}

/**
 * Move the focus to the page. The link cannot: the address's fragment names the console's page.
 * @param {Event} event
 */
function skip(event) {
  event.preventDefault();
  main.focus();
}

/** Sign out, and reload to clear the pages' data. */
function leave() {
  signOut();
  location.reload();
}

/** Ask for a token. @param {string} [told] */
function signIn(told) {
  const form = tokenForm(open, told);
  alone(h("h1", {}, "Plaza console"), h("div", { class: "card" }, h("p", {}, "Your site hands you over with a token. You can also paste one."), form));
}

/**
 * Ask before a link's token signs in its person: an attacker can send such a link.
 * @param {string} token @param {Caller} coming The token's person.
 * @param {Caller | null} before The present caller; null if none.
 */
function confirmHandOver(token, coming, before) {
  const who = (/** @type {Caller} */ { name, id }) => h("p", {}, h("b", { dir: "auto" }, name), " ", h("span", { class: "meta", dir: "ltr" }, `(${id})`));
  const accept = h("button", { class: "good", onclick: () => { keep(token); open(coming); } }, `Sign in as ${coming.name}`);
  const refuse = h("button", { onclick: () => (before ? open(before) : signIn()) }, before ? `Stay signed in as ${before.name}` : "Do not sign in");
  alone(h("h1", {}, "Sign in?"), h("div", { class: "card" },
    h("p", {}, "A link has led you here, which signs you in as:"), who(coming),
    ...(before ? [h("p", {}, "You are signed in as:"), who(before)] : []),
    h("p", {}, "Go on only if this is you."), h("div", { class: "row" }, accept, refuse)));
}

/**
 * Store a later token of the open page's caller. The page stays, unless the caller's data differ;
 * calls that wait for a token go on.
 * @param {string} token @param {Caller} coming
 */
function renew(token, coming) {
  keep(token);
  // The token's link has replaced the page's name in the address: put it back.
  history.replaceState(null, "", nav.querySelector("[aria-current]")?.getAttribute("href"));
  if (JSON.stringify(coming) !== JSON.stringify(present)) open(coming);
  goOn();
}

async function start() {
  const handed = takeToken();
  try {
    const before = await caller();
    const coming = handed ? await personOf(handed) : null;
    if (coming && coming.id === present?.id) return renew(handed, coming);
    if (coming && coming.id !== before?.id) return confirmHandOver(handed, coming, before);
    // A later token of the same person.
    if (coming) keep(handed);
    if (coming || before) open(/** @type {Caller} */ (coming || before));
    else signIn(handed && "The token that you were handed over with is not valid, or has ended.");
  } catch {
    alone(h("h1", {}, "Plaza does not answer"), h("p", { class: "card" }, h("button", { onclick: () => { if (handed) location.hash = new URLSearchParams({ token: handed }).toString(); else start(); } }, "Try again")));
  }
}

// An address may hand over a token while the console is open, too.
addEventListener("hashchange", () => {
  if (isHanded()) start();
  else if (opened.length) show(opened);
});
start();
