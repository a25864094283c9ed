// @ts-check
/** The forms that choose a console page's site and person. */
import { h } from "./../embed/element.js";
import { ask, caller } from "./session.js";

/** @typedef {{known: string[], isHeld: boolean}} Sites The sites to offer; `isHeld`: no others. */

/** The most sites that a select offers; with more, the caller types the site. */
const MOST_SITES = 50;

/** The address of a page of the console. @param {string} page @param {Record<string, string>} query */
export const addressOf = (page, query) => `?${new URLSearchParams(query)}#${page}`;

/**
 * Return the sites that the caller's token names; for an admin or a token without sites, the sites
 * of the 200 comments that have waited longest. A failed call counts as an empty answer.
 * @returns {Promise<Sites>}
 */
export async function sitesOf() {
  const signedIn = await caller().catch(() => null);
  if (signedIn?.sites && !signedIn.roles.includes("admin")) return { known: signedIn.sites, isHeld: true };
  /** @type {{comments: {site: string}[]}} */
  const queue = await ask("/moderation/comments?limit=200").catch(() => ({ comments: [] }));
  return { known: [...new Set(queue.comments.map(({ site }) => site))], isHeld: false };
}

const PLAIN = { autocomplete: "off", spellcheck: "false" };

/**
 * Return the form that opens a page about a site.
 * @param {string} page @param {Sites} sites @param {string} site The field's first value.
 */
export function siteChoice(page, sites, site) {
  const { field, offered } = siteField(sites, site);
  return leading(h("form", { class: "row" }, h("label", {}, "Site ", field), h("button", {}, "Show"), offered), page, () => ({ site: field.value.trim() }));
}

/**
 * Return the form that opens a page about a site and a person.
 * @param {string} page @param {Sites} sites
 * @param {URLSearchParams} query The fields' first values.
 * @param {boolean} isOptional Whether the page also opens without a person.
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

/**
 * Return the field of a site: a select if the caller has few sites and no others, or else a text
 * field and the list of the known sites.
 * @param {Sites} sites @param {string} site
 */
function siteField({ known, isHeld }, site) {
  const options = [...new Set(site ? [...known, site] : known)].map((each) => h("option", { value: each, selected: each === site }, each));
  const isChosen = isHeld && known.length > 0 && known.length <= MOST_SITES;
  const field = /** @type {HTMLInputElement | HTMLSelectElement} */ (isChosen ? h("select", { name: "site" }, ...options) : h("input", { name: "site", value: site, list: "sites", required: true, ...PLAIN }));
  return { field, offered: !isChosen && h("datalist", { id: "sites" }, ...options) };
}

/**
 * Open a page when its form is submitted; return the form.
 * @param {HTMLElement} form @param {string} page
 * @param {() => Record<string, string>} query Returns the parameters of the page's address.
 */
function leading(form, page, query) {
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const asked = addressOf(page, query());
    // A browser does not load the address that it already shows.
    if (asked === location.search + location.hash) location.reload();
    else location.assign(asked);
  });
  return form;
}
