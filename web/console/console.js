// @ts-check
/** The console's frame: who is signed in, the pages that their roles open, and the page shown. */
import { h } from "./../embed/element.js";
import { caller, signOut, takeToken, tokenForm } from "./session.js";

/** @typedef {import("./session.js").Caller} Caller */
/** @typedef {{id: string, title: string, part: string, roles: string[], file: string}} Page */

/** Each page is an element, `plaza-` and its id, in a file that is loaded when it is opened. @type {Page[]} */
const PAGES = [
  { id: "queue", title: "Waiting", part: "Comments", roles: ["moderator", "admin"], file: "./queue.js" },
  { id: "log", title: "Log", part: "Comments", roles: ["moderator", "admin"], file: "./log.js" },
  { id: "person", title: "People", part: "Comments", roles: ["moderator", "admin"], file: "./person.js" },
];

const main = h("main", { id: "page", tabindex: "-1" });
const nav = h("nav", { "aria-label": "Console" });

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
    return main.replaceChildren(h("h1", {}, "Plaza does not answer"), h("p", { class: "card" }, h("button", { onclick: () => location.reload() }, "Try again")));
  }
  // Another page may have been chosen while this one was loaded.
  if (location.hash.slice(1) === wanted) main.replaceChildren(document.createElement(`plaza-${page.id}`));
}

/** @param {Caller} signedIn */
function open(signedIn) {
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
  if (pages.length) {
    window.addEventListener("hashchange", () => show(pages));
    show(pages);
  } else {
    main.replaceChildren(h("h1", {}, "Nothing to do here"), h("p", { class: "card" }, "Your token has no role that the console has a page for."));
  }
}

/** The address names the page, so that a link within it cannot lead further. @param {Event} event */
function skip(event) {
  event.preventDefault();
  main.focus();
}

/** Sign out, and leave nothing of the pages behind. */
function leave() {
  signOut();
  location.reload();
}

/** Ask for a token. */
function signIn() {
  const form = tokenForm(open);
  document.body.replaceChildren(h("main", { class: "alone" }, h("h1", {}, "Plaza console"), h("div", { class: "card" }, h("p", {}, "Your site hands you over with a token. You can also paste one."), form)));
}

async function start() {
  takeToken();
  try {
    const signedIn = await caller();
    if (signedIn) open(signedIn);
    else signIn();
  } catch {
    document.body.replaceChildren(h("main", { class: "alone" }, h("h1", {}, "Plaza does not answer"), h("p", { class: "card" }, h("button", { onclick: start }, "Try again"))));
  }
}

start();
