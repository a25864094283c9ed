// @ts-check
/** Imports another system's discussions after a trial; exports the site's own to files. */
import { Problem } from "./../embed/api.js";
import { h } from "./../embed/element.js";
import { siteChoice, sitesOf } from "./choice.js";
import { download, upload } from "./files.js";
import { report, samples, WAY } from "./import-report.js";
import { when } from "./queue-card.js";
import { ask } from "./session.js";

/** @typedef {import("./../embed/plaza-api.js").components["schemas"]["ImportAnswer"]} Import */
/** @typedef {import("./../embed/plaza-api.js").components["schemas"]["DiscussionExportAnswer"]} Export */

const PAUSE_MS = 1_000;
const FORMATS = { "": "What the file says", plaza: "Plaza", disqus: "Disqus", wordpress: "WordPress", isso: "Isso", remark42: "Remark42", commento: "Commento", twikoo: "Twikoo", waline: "Waline", artalk: "Artalk", github: "GitHub Discussions" };
const EXPORTED = { plaza: "Plaza's own lines", wxr: "WXR, for Disqus and WordPress" };

class Imports extends HTMLElement {
  #site = new URLSearchParams(location.search).get("site") || "";
  #status = h("p", { role: "status", class: "status" });
  #import = h("section", { class: "card", "aria-labelledby": "import" });
  /** It stays while an export runs: a screen reader would begin anew at each step. */
  #exportTitle = h("h2", { id: "export", tabindex: "-1" }, "Export");
  #exported = h("div");
  #export = h("section", { class: "card", "aria-labelledby": "export" }, this.#exportTitle, this.#exported);
  /** The id and state of the shown import; "" while the form or the sending is shown. */
  #shown = "";
  /** The shown import's progress, failure and counts: the part that changes while it runs. */
  #told = h("div");
  /** Counts the runs of #follow() and the returns to the form; each ends the earlier runs. */
  #turn = 0;

  async connectedCallback() {
    const sites = await sitesOf();
    if (!this.#site && sites.known.length === 1) this.#site = sites.known[0];
    this.replaceChildren(h("h1", {}, "Import and export"), siteChoice("imports", sites, this.#site), this.#status);
    if (!this.#site) return this.#say("Name a site.");
    this.append(this.#import, this.#export);
    await this.#tried(async () => {
      await this.#showLast();
      const { exports } = await ask(this.#path("exports"));
      const made = exports.length ? await ask(this.#path("exports", exports[0].id)) : null;
      this.#showExport(made);
      if (made?.state === "running") this.#tried(() => this.#followExport(made));
    });
  }

  /** @param {...string} parts */
  #path(...parts) {
    return `/sites/${[this.#site, ...parts].map(encodeURIComponent).join("/")}`;
  }

  /** Show the site's newest import; follow it if it runs: its publisher may have come back. */
  async #showLast() {
    const { imports: [last] } = await ask(this.#path("imports"));
    /** @type {Import | null} */
    const open = last && WAY[/** @type {Import["state"]} */ (last.state)].isOpen ? await ask(this.#path("imports", last.id)) : null;
    this.#showImport(open, last);
    if (open?.state === "running") this.#tried(() => this.#follow(open));
  }

  /**
   * Show an import with its buttons; null: the form of a new one, and the state of the last.
   * @param {Import | null} open @param {Partial<Import>} [last]
   */
  #showImport(open, last) {
    const title = h("h2", { id: "import", tabindex: "-1" }, "Import");
    if (!open) {
      this.#shown = "";
      this.#turn++;
      const ended = last?.begun_at && h("p", { class: "meta" }, h("span", {}, "The last one began ", when(last.begun_at), ": ", WAY[/** @type {Import["state"]} */ (last.state)].words));
      return this.#replace(this.#import, title, ended || "", this.#form());
    }
    const { state, progress, failure } = open;
    const bar = progress && h("progress", { max: progress.total || 1, value: progress.done, "aria-label": progress.part === "reading" ? "Bytes read" : "Discussions stored" });
    this.#told.replaceChildren(bar || "", failure ? h("p", { class: "bad-text" }, failure.detail) : "", report(open));
    const now = `${open.id} ${state}`;
    // A button that is replaced loses the focus, and a press that has begun.
    if (now !== this.#shown) this.#replace(this.#import, title, h("p", {}, WAY[state].words), this.#told, this.#actsOn(open), state === "running" ? "" : samples(open));
    this.#shown = now;
  }

  /**
   * Replace the content of a section; if the focus was in it, move the focus to the title.
   * @param {HTMLElement} section @param {HTMLElement} title @param {...(HTMLElement | string)} rest
   */
  #replace(section, title, ...rest) {
    const isHere = section.contains(document.activeElement);
    section.replaceChildren(title, ...rest);
    if (isHere) title.focus();
  }

  /** @param {Import} shown */
  #actsOn(shown) {
    const acts = h("div", { class: "row" });
    if (shown.state === "tried") acts.append(h("button", { class: "good", onclick: () => this.#act(shown, "apply") }, "Import it"));
    if (WAY[shown.state].isOpen) acts.append(h("button", { class: "bad", onclick: () => this.#act(shown, "stop") }, shown.state === "running" ? "Stop" : "Discard the file"));
    else acts.append(h("button", { onclick: () => this.#showImport(null) }, "Import another file"));
    return acts;
  }

  #form() {
    const file = /** @type {HTMLInputElement} */ (h("input", { type: "file", required: true }));
    const format = /** @type {HTMLSelectElement} */ (h("select", {}, ...Object.entries(FORMATS).map(([value, words]) => h("option", { value }, words))));
    const base = /** @type {HTMLInputElement} */ (h("input", { type: "url", placeholder: "https://blog.example", autocomplete: "off" }));
    const form = h("form", { class: "fields" }, h("p", {}, "Nothing is changed before you have seen what would come over."),
      h("label", {}, "The other system's file (it may be a .gz)", file), h("label", {}, "Its format", format),
      h("label", {}, "Where the pages stand, if the file has paths alone", base), h("button", { class: "good" }, "Try the file"));
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      const chosen = file.files?.[0];
      if (chosen) this.#tried(() => this.#begin(chosen, { format: format.value || null, base: base.value.trim() || null }));
    });
    return form;
  }

  /** Send a file, and have it tried. @param {File} file @param {Record<string, unknown>} options */
  async #begin(file, options) {
    const bar = /** @type {HTMLProgressElement} */ (h("progress", { max: 1, value: 0, "aria-label": "Sent of the file" }));
    const title = h("h2", { id: "import", tabindex: "-1" }, "Import");
    this.#shown = "";
    this.#import.replaceChildren(title, h("p", {}, "The file is being sent. Leave this page open."), bar);
    title.focus();
    try {
      const begun = await upload(this.#path("imports"), file, options, (share) => (bar.value = share));
      await this.#follow(await ask(this.#path("imports", begun.id, "start"), { method: "POST" }));
    } catch (problem) {
      // An import whose file was sent in part stays open, and bars the next one.
      await this.#showLast().catch(() => this.#showImport(null));
      this.#import.querySelector("h2")?.focus();
      throw problem;
    }
  }

  /**
   * Return the answer to a call a second from now; while Plaza does not answer, repeat the call.
   * Throws Problem for other failures; once the page is closed, also for no answer.
   * @param {string} path
   */
  async #later(path) {
    for (;;) {
      await new Promise((done) => setTimeout(done, PAUSE_MS));
      try {
        return await ask(path);
      } catch (problem) {
        if (!(problem instanceof Problem) || problem.code !== "offline" || !this.isConnected) throw problem;
      }
    }
  }

  /**
   * Show an import until it no longer runs, then say its state. Throws Problem.
   * @param {Import} current
   */
  async #follow(current) {
    let shown = "";
    const turn = ++this.#turn;
    while (this.isConnected && turn === this.#turn) {
      const now = JSON.stringify(current);
      // An unchanged import is not shown again: a screen reader would begin anew.
      if (now !== shown) this.#showImport(current);
      shown = now;
      if (current.state !== "running") return this.#say(WAY[current.state].words);
      current = await this.#later(this.#path("imports", current.id));
    }
  }

  /** @param {Import} open @param {"apply" | "stop"} what */
  #act({ id }, what) {
    this.#tried(async () => {
      const call = what === "apply" ? ask(this.#path("imports", id, "apply"), { method: "POST" }) : ask(this.#path("imports", id), { method: "DELETE" });
      await this.#follow(await call);
    });
  }

  /** @param {Export | null} last */
  #showExport(last) {
    const format = /** @type {HTMLSelectElement} */ (h("select", {}, ...Object.entries(EXPORTED).map(([value, words]) => h("option", { value }, words))));
    const form = h("form", { class: "row" }, h("label", {}, "Format ", format), h("button", { class: "good" }, "Export"));
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#tried(async () => this.#followExport(await ask(this.#path("exports"), { method: "POST", body: { format: format.value } })));
    });
    const made = last && h("div", {}, h("p", { class: "meta" }, h("span", {}, "The last one began ", when(last.begun_at), ": ", last.state === "running" ? `${last.comments} comments are written` : WAY[last.state].words)),
      last.failure ? h("p", { class: "bad-text" }, last.failure.detail) : "",
      h("ul", { class: "files" }, ...last.files.map((file) => h("li", {}, this.#download(file)))));
    const isHere = this.#exported.contains(document.activeElement);
    this.#exported.replaceChildren(last?.state === "running" ? "" : form, made || "");
    if (isHere) this.#exportTitle.focus();
  }

  /** @param {Export["files"][number]} file */
  #download(file) {
    if (file.is_signed) return h("a", { href: file.pieces[0], rel: "noreferrer" }, `Download ${file.name}`);
    return h("button", { onclick: () => this.#tried(() => download(file)) }, `Download ${file.name}`);
  }

  /** @param {Export} current */
  async #followExport(current) {
    this.#say("The export is being written.");
    while (this.isConnected && current.state === "running") {
      this.#showExport(current);
      current = await this.#later(this.#path("exports", current.id));
    }
    this.#showExport(current);
    this.#say(current.state === "done" ? "The export is ready." : "The export failed.");
  }

  /** @param {() => Promise<unknown>} act */
  async #tried(act) {
    try {
      this.#say("");
      await act();
    } catch (problem) {
      if (!(problem instanceof Problem)) throw problem;
      this.#say(problem.code === "offline" ? "Plaza does not answer. Try again." : problem.message || problem.code);
    }
  }

  /** @param {string} text */
  #say(text) {
    this.#status.textContent = text;
  }
}

customElements.define("plaza-imports", Imports);
