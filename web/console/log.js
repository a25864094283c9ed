// @ts-check
/** The log of moderation: each act at a site, its moderator and reason, and a button to undo it. */
import { Problem } from "./../embed/api.js";
import { h } from "./../embed/element.js";
import { addressOf, choice, sitesOf } from "./choice.js";
import { row } from "./log-row.js";
import { ask } from "./session.js";

/** @typedef {import("./log-row.js").Act} Act */
/** @typedef {import("./../embed/plaza-api.js").components["schemas"]["BatchAnswer"]} Batch */

/** The parameters that choose a part of the log, in the page's address and in the API's. */
const FILTERS = ["site", "node", "comment", "person", "batch"];

class Log extends HTMLElement {
  /** @type {Act[]} */
  #acts = [];
  /** @type {string | null} */
  #next = null;
  #query = new URLSearchParams([...new URLSearchParams(location.search)].filter(([name]) => FILTERS.includes(name)));
  #status = h("p", { role: "status", class: "status" });
  #list = h("ol", { class: "log", "aria-label": "What moderators did" });
  #more = h("button", { onclick: () => this.#load(), hidden: true }, "Show more");

  async connectedCallback() {
    const sites = await sitesOf();
    if (!this.#query.get("site") && sites.known.length) this.#query.set("site", sites.known[0]);
    const site = this.#query.get("site") || "";
    const part = FILTERS.slice(1).some((name) => this.#query.get(name));
    this.replaceChildren(h("h1", {}, "What moderators did"), choice("log", sites, this.#query, true), this.#status);
    if (part) this.append(h("p", { class: "meta" }, "This is a part of the log. ", h("a", { href: addressOf("log", { site }) }, "Show all of it")));
    const batch = this.#query.get("batch");
    if (batch) this.append(await this.#batch(batch));
    this.append(this.#list, this.#more);
    if (site) await this.#load();
    else this.#say("Name a site to read its log.");
  }

  /** Show the next page; a press during the call does nothing. */
  async #load() {
    if (this.#more.ariaDisabled) return;
    this.#more.ariaDisabled = "true";
    const query = new URLSearchParams(this.#query);
    if (this.#next) query.set("cursor", this.#next);
    try {
      const page = await ask(`/moderation/log?${query}`);
      this.#acts.push(...page.acts);
      const rows = page.acts.map((/** @type {Act} */ act) => this.#row(act));
      this.#list.append(...rows);
      this.#say(this.#acts.length ? "" : "Nothing was done here.");
      // The last page hides the button, so the focus moves to the first new row.
      if (this.#next && [this.#more, document.body].includes(/** @type {HTMLElement} */ (document.activeElement))) rows[0]?.focus();
      this.#next = page.next;
    } catch (problem) {
      this.#say(told(problem));
    }
    this.#more.ariaDisabled = null;
    this.#more.hidden = !this.#next;
  }

  /** @param {Act} act */
  #row(act) {
    return row(act, this.#isUndone(act.id), (made) => this.#takeBack(act, made));
  }

  /**
   * Return whether an act is undone, unless its undoing is undone in turn.
   * @param {string} id @returns {boolean}
   */
  #isUndone(id) {
    return this.#acts.some((each) => each.undoes === id && !this.#isUndone(each.id));
  }

  /** @param {Act} act @param {HTMLElement} made */
  async #takeBack(act, made) {
    const button = /** @type {HTMLButtonElement} */ (made.querySelector("button"));
    if (button.ariaDisabled) return;
    button.ariaDisabled = "true";
    try {
      const undoing = await ask(`/moderation/log/${encodeURIComponent(act.id)}/undo`, { method: "POST" });
      this.#acts.unshift(undoing);
      // The undoing may also show or hide the buttons of other rows.
      this.#list.replaceChildren(...this.#acts.map((each) => this.#row(each)));
      /** @type {HTMLElement} */ (this.#list.firstElementChild).focus();
      this.#say("Taken back.");
    } catch (problem) {
      button.ariaDisabled = null;
      this.#say(told(problem));
    }
  }

  /**
   * Return a card with a batch's progress and, once it is over, the button to undo it.
   * @param {string} id
   */
  async #batch(id) {
    try {
      /** @type {Batch} */
      const batch = await ask(`/moderation/batches/${encodeURIComponent(id)}`);
      const figures = `${batch.changed} of ${batch.total} comments changed, ${batch.unchanged} were so already, ${batch.left} were left.`;
      const undo = batch.status !== "running" && batch.changed > 0 && h("button", { onclick: () => this.#takeBatchBack(batch) }, "Take the batch back");
      return h("div", { class: "card" }, h("p", {}, batch.status === "running" ? "This batch is running: " : "This batch is over: ", figures), undo);
    } catch (problem) {
      return h("p", { class: "card bad-text" }, told(problem));
    }
  }

  /** @param {Batch} batch */
  async #takeBatchBack({ id, site }) {
    try {
      const undoing = await ask(`/moderation/batches/${encodeURIComponent(id)}/undo`, { method: "POST" });
      location.assign(addressOf("log", { site, batch: undoing.id }));
    } catch (problem) {
      this.#say(told(problem));
    }
  }

  /** @param {string} text */
  #say(text) {
    this.#status.textContent = text;
  }
}

/** Return an error's words for the moderator. @param {unknown} problem */
function told(problem) {
  if (!(problem instanceof Problem) || problem.code === "offline") return "Plaza does not answer. Try again.";
  if (problem.code === "changed_since") return "It has been changed since: nothing was taken back.";
  return problem.message || problem.code;
}

customElements.define("plaza-log", Log);
