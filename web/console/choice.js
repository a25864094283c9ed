// @ts-check
/** Which site, and which person there, a page of the console is about. */
import { h } from "./../embed/element.js";
import { ask, caller } from "./session.js";

/** @typedef {{known: string[], isHeld: boolean}} Sites Sites that the caller likely means; if they are held to these, there are no others. */

/** More sites than these are typed, not chosen. */
const MOST_SITES = 50;

/** The address of a page of the console. @param {string} page @param {Record<string, string>} query */
export const addressOf = (page, query) => `?${new URLSearchParams(query)}#${page}`;

/** The sites that the caller's token names, or, for who moderates all, those of the comments that wait longest. @returns {Promise<Sites>} */
export async function sitesOf() {
  const signedIn = await caller().catch(() => null);
  if (signedIn?.sites && !signedIn.roles.includes("admin")) return { known: signedIn.sites, isHeld: true };
  /** @type {{comments: {site: string}[]}} */
  const queue = await ask("/moderation/comments?limit=200").catch(() => ({ comments: [] }));
  return { known: [...new Set(queue.comments.map(({ site }) => site))], isHeld: false };
}

const PLAIN = { autocomplete: "off", spellcheck: "false" };

/** The form that opens a page about a site. @param {string} page @param {Sites} sites @param {string} site What it begins with. */
export function siteChoice(page, sites, site) {
  const { field, offered } = siteField(sites, site);
  return leading(h("form", { class: "row" }, h("label", {}, "Site ", field), h("button", {}, "Show"), offered), page, () => ({ site: field.value.trim() }));
}

/**
 * The form that opens a page about a site and a person.
 * @param {string} page @param {Sites} sites @param {URLSearchParams} query What it begins with. @param {boolean} isOptional Whether a page about nobody is one, too.
 */
export function choice(page, sites, query, isOptional) {
  const { field, offered } = siteField(sites, query.get("site") || "");
  const person = /** @type {HTMLInputElement} */ (h("input", { name: "person", value: query.get("person"), placeholder: isOptional && "anybody", required: !isOptional, ...PLAIN }));
  const form = h("form", { class: "row" }, h("label", {}, "Site ", field), h("label", {}, "Person (their id) ", person), h("button", {}, "Show"), offered);
  return leading(form, page, () => {
    const about = person.value.trim();
    return { site: field.value.trim(), ...(about && { person: about }) };
  });
}

/** The field of a site: a choice of few, or else a text with those offered that are known. @param {Sites} sites @param {string} site */
function siteField({ known, isHeld }, site) {
  const options = [...new Set(site ? [...known, site] : known)].map((each) => h("option", { value: each, selected: each === site }, each));
  const isChosen = isHeld && known.length > 0 && known.length <= MOST_SITES;
  const field = /** @type {HTMLInputElement | HTMLSelectElement} */ (isChosen ? h("select", { name: "site" }, ...options) : h("input", { name: "site", value: site, list: "sites", required: true, ...PLAIN }));
  return { field, offered: !isChosen && h("datalist", { id: "sites" }, ...options) };
}

/** Have a form lead to a page. @param {HTMLElement} form @param {string} page @param {() => Record<string, string>} query What the page is about. */
function leading(form, page, query) {
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const asked = addressOf(page, query());
    // To an address that differs in nothing, a browser does not go.
    if (asked === location.search + location.hash) location.reload();
    else location.assign(asked);
  });
  return form;
}
