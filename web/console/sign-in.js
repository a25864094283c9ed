// @ts-check
/** The settings of a site's readers: their right to write, and their ways to sign in. */
import { Problem } from "./../embed/api.js";
import { h } from "./../embed/element.js";
import { siteChoice, sitesOf } from "./choice.js";
import { fieldForm, said } from "./field-form.js";
import { keptList } from "./kept-list.js";
import { ask } from "./session.js";
import { ISSUERS, SERVICES } from "./sign-in-kinds.js";

/** @typedef {import("./../embed/plaza-api.js").components["schemas"]["CommentSettingsAnswer"]} Settings */
/** @typedef {import("./field-form.js").Field} Field */

/** @type {Record<Settings["guests"], string>} */
const GUESTS = {
  off: "Accounts of your own alone",
  accounts: "Accounts of your own, and of the services below",
  name: "These, and guests under a name of their choice",
  email: "These, and guests who confirm an e-mail address",
};
/** @type {Field[]} */
const FIELDS = [
  { name: "guests", label: "Readers who write", kind: "choice", options: GUESTS, rule: "Guests who confirm an address need a Plaza that sends mail." },
  { name: "origins", label: "Origins of your pages", kind: "lines", isOptional: true, rule: "An origin a line, such as https://harbour.example, without a path. Sign-ins and links in letters lead back to these alone." },
];
const PAGE = "/console";

class SignIn extends HTMLElement {
  #site = new URLSearchParams(location.search).get("site") || "";
  #status = h("p", { role: "status", class: "status" });
  #missing = h("ul", { class: "bad-text", "aria-label": "What is missing" });
  /** @type {Settings | null} */
  #settings = null;
  /** @type {HTMLElement} */
  #form = h("form");
  #services = 0;
  #base = "";

  async connectedCallback() {
    const sites = await sitesOf();
    if (!this.#site && sites.known.length === 1) this.#site = sites.known[0];
    this.replaceChildren(h("h1", {}, "How readers sign in"), siteChoice("sign-in", sites, this.#site), this.#status);
    if (!this.#site) return this.#say("Name a site.");
    try {
      await this.#load();
    } catch (problem) {
      if (!(problem instanceof Problem)) throw problem;
      this.#say(said(problem));
    }
  }

  get #path() {
    return `/sites/${encodeURIComponent(this.#site)}`;
  }

  async #load() {
    const [settings, { providers }, { issuers }, plaza] = await Promise.all([ask(`${this.#path}/comments/settings`), ask(`${this.#path}/providers`), ask(`${this.#path}/issuers`), ask("/")]);
    // Services lead back to Plaza's public address; the console may have another.
    this.#base = plaza.console_url.slice(0, -PAGE.length);
    this.#settings = settings;
    this.#services = providers.length;
    const about = { site: this.#site, base: this.#base };
    const say = (/** @type {string} */ told) => this.#say(told);
    const services = keptList(SERVICES, about, providers, say, (rows) => {
      this.#services = rows.length;
      this.#showMissing();
    });
    this.append(this.#missing, this.#who(settings), services, keptList(ISSUERS, about, issuers, say, () => {}));
    this.#showMissing();
  }

  /** @param {Settings} settings */
  #who(settings) {
    this.#form = this.#formOf(settings);
    return h("section", { class: "card", "aria-labelledby": "who" }, h("h2", { id: "who" }, "Who writes"), this.#form);
  }

  /** @param {Settings} settings */
  #formOf(settings) {
    return fieldForm({ id: "who", fields: FIELDS, values: settings, submit: ({ guests, origins }) => this.#decide(guests, origins) });
  }

  /** @param {Settings["guests"]} guests @param {string[]} origins */
  async #decide(guests, origins) {
    const now = /** @type {Settings} */ (this.#settings);
    /** @type {Record<string, unknown>} */
    const changed = {};
    // Unchanged fields are not sent: another publisher may have changed them.
    if (guests !== now.guests) changed.guests = guests;
    if (origins.join() !== now.origins.join()) {
      const { origins: stored } = await ask(`${this.#path}/comments/settings`);
      changed.origins = merge(now.origins, origins, stored);
    }
    if (!Object.keys(changed).length) return this.#say("Nothing was changed.");
    if (changed.guests && hasGuests(now.guests) && !hasGuests(guests) && !window.confirm(`End the rights of all guests of ${this.#site}? They write no more. What they wrote stays.`)) return;
    const stored = (this.#settings = /** @type {Settings} */ (await ask(`${this.#path}/comments/settings`, { method: "PATCH", body: changed })));
    this.#showMissing();
    // The answer may hold another publisher's changes: the new form begins with them.
    this.#form.replaceWith((this.#form = this.#formOf(stored)));
    /** @type {HTMLElement} */ (this.#form.querySelector("button")).focus();
    this.#say("Saved.");
  }

  /** List the settings that prevent readers from signing in. */
  #showMissing() {
    const { guests, origins } = /** @type {Settings} */ (this.#settings);
    const offers = this.#services > 0;
    const missing = [
      offers && guests === "off" && "No service is offered while accounts of your own alone write.",
      guests === "accounts" && !offers && "Readers without an account of yours have no service to sign in by.",
      (offers || guests === "email") && !origins.length && "Without the origins of your pages, no sign-in and no letter leads back.",
      (offers || guests === "email") && !this.#base && "This Plaza has no public address (PLAZA_PUBLIC_URL), which sign-ins and letters need. Its operator sets it.",
    ].filter((each) => each !== false);
    this.#missing.replaceChildren(...missing.map((each) => h("li", {}, each)));
    this.#missing.hidden = !missing.length;
  }

  /** @param {string} text */
  #say(text) {
    this.#status.textContent = text;
  }
}

/**
 * Return the stored lines, with the publisher's changes: from `shown` to `written`.
 * @param {string[]} shown @param {string[]} written @param {string[]} stored
 */
function merge(shown, written, stored) {
  const kept = written.filter((each) => stored.includes(each) || !shown.includes(each));
  return [...new Set([...kept, ...stored.filter((each) => !shown.includes(each))])];
}

/** @param {Settings["guests"]} guests */
const hasGuests = (guests) => guests === "name" || guests === "email";

customElements.define("plaza-sign-in", SignIn);
