// @ts-check
/** A person at a site: their figures, and the form for a moderator's decisions about them. */
import { Problem } from "./../embed/api.js";
import { h } from "./../embed/element.js";
import { addressOf, choice, sitesOf } from "./choice.js";
import { when } from "./queue-card.js";
import { ask } from "./session.js";

/** @typedef {import("./../embed/plaza-api.js").components["schemas"]["SitePersonAnswer"]} Person */

/** @type {Record<Person["status"], string>} */
const STATUS = { ok: "Writes as anybody", suspended: "Suspended: writes nothing for a time", shadowed: "Shadowed: is seen by themselves alone", banned: "Banned: writes nothing" };
const MOST_BADGES = 5;

class PlazaPerson extends HTMLElement {
  #query = new URLSearchParams(location.search);
  #status = h("p", { role: "status", class: "status" });
  #place = h("div", {});

  get #path() {
    return `/sites/${encodeURIComponent(this.#query.get("site") || "")}/people/${encodeURIComponent(this.#query.get("person") || "")}`;
  }

  async connectedCallback() {
    const sites = await sitesOf();
    if (!this.#query.get("site") && sites.known.length) this.#query.set("site", sites.known[0]);
    this.replaceChildren(h("h1", {}, "A person at a site"), choice("person", sites, this.#query, false), this.#status, this.#place);
    if (this.#query.get("site") && this.#query.get("person")) await this.#tried(async () => this.#show(await ask(this.#path)));
  }

  /** @param {Person} person */
  #show(person) {
    const { name, id, site, counts, trust, first_at } = person;
    const facts = h("p", { class: "meta" }, h("span", {}, id), first_at ? h("span", {}, "here since ", when(first_at)) : h("span", {}, "new here"), h("span", {}, `trust ${trust} of 2`), h("span", {}, `${counts.visible} visible, ${counts.pending} waiting, ${counts.rejected} hidden`));
    const does = h("div", { class: "row" }, h("a", { href: addressOf("log", { site, person: id }) }, "Their log"), h("button", { class: "bad", onclick: () => this.#hideAll(person) }, "Hide all they wrote"));
    this.#place.replaceChildren(h("section", { class: "card", "aria-labelledby": "who" }, h("h2", { id: "who", dir: "auto" }, name), facts, does), this.#form(person));
  }

  /** @param {Person} person */
  #form({ status, until, badges, note }) {
    const chosen = /** @type {HTMLSelectElement} */ (h("select", {}, ...Object.entries(STATUS).map(([value, words]) => h("option", { value, selected: value === status }, words))));
    const end = /** @type {HTMLInputElement} */ (h("input", { type: "datetime-local", max: "9999-12-31T23:59", value: until ? local(until) : "" }));
    const given = /** @type {HTMLInputElement} */ (h("input", { value: badges.join(", "), dir: "auto" }));
    const about = /** @type {HTMLTextAreaElement} */ (h("textarea", { rows: 2, dir: "auto" }));
    const why = /** @type {HTMLTextAreaElement} */ (h("textarea", { rows: 2, dir: "auto" }));
    about.value = note;
    const ends = h("label", {}, "End of the suspension (empty for none)", end);
    const shown = () => (end.disabled = ends.hidden = chosen.value !== "suspended");
    chosen.addEventListener("change", shown);
    shown();
    const form = h("form", { class: "card fields" }, h("label", {}, "Standing", chosen), ends, h("label", {}, `Badges beside the name (${MOST_BADGES} at most, with commas between them)`, given), h("label", {}, "Note, for moderators alone", about), h("label", {}, "Why, for the log", why), h("button", { class: "good" }, "Save"));
    let isSending = false;
    const send = (/** @type {boolean} */ begins) => (isSending = chosen.disabled = end.readOnly = given.readOnly = about.readOnly = why.readOnly = begins);
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      // A press during a call does nothing.
      if (isSending) return;
      /** @type {Record<string, unknown>} */
      const changed = {};
      const limit = chosen.value === "suspended" && end.value ? new Date(end.value).toISOString() : null;
      // Unchanged fields are not sent: another moderator may have changed them.
      if (chosen.value !== status || (limit && local(limit)) !== (until && local(until))) Object.assign(changed, { status: chosen.value, until: limit, as_shown: { status, until } });
      const named = given.value.split(",").map((each) => each.trim()).filter(Boolean);
      if (named.join() !== badges.join()) changed.badges = named;
      if (about.value.trim() !== note) changed.note = about.value.trim() || null;
      if (!Object.keys(changed).length) return this.#say("Nothing was changed.");
      if (why.value.trim()) changed.reason = why.value.trim();
      send(true);
      this.#tried(async () => {
        this.#show(await ask(this.#path, { method: "PATCH", body: changed }));
        /** @type {HTMLElement} */ (this.#place.querySelector("form button")).focus();
        return "Saved.";
      }).finally(() => send(false));
    });
    return form;
  }

  /** @param {Person} person */
  #hideAll({ id, site, name }) {
    if (!window.confirm(`Hide everything that ${name} wrote at ${site}?`)) return;
    this.#tried(async () => {
      await ask("/moderation/batches", { method: "POST", body: { site, state: "hidden", person: id } });
      return `All by ${name} is being hidden. The log takes it back.`;
    });
  }

  /** Run an act, and show its message or its problem. @param {() => Promise<string | void>} act */
  async #tried(act) {
    try {
      this.#say((await act()) || "");
    } catch (problem) {
      if (!(problem instanceof Problem)) throw problem;
      this.#say(problem.code === "offline" ? "Plaza does not answer. Try again." : faults(problem) || problem.message || problem.code);
    }
  }

  /** @param {string} text */
  #say(text) {
    this.#status.textContent = text;
  }
}

/**
 * Return the faults of a refused call, field by field; "" if it names none.
 * @param {Problem} problem
 */
const faults = (problem) => (problem.body.errors || []).map(({ field, detail }) => `${field}: ${detail}`).join("; ");

/** Return a time for `datetime-local`: in the reader's zone, to the minute. @param {string} iso */
function local(iso) {
  const time = new Date(iso);
  return new Date(time.getTime() - 60_000 * time.getTimezoneOffset()).toISOString().slice(0, 16);
}

customElements.define("plaza-person", PlazaPerson);
