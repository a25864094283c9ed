// @ts-check
/** <plaza-watch node="harbour:moon">: the reader's choice of a discussion's notifications. */
import { call, Problem, readerId } from "./api.js";
import { apiOf, h, sheet, tell } from "./element.js";
import { Live } from "./live.js";
import { followReader, retry } from "./states.js";
import { wordsFor } from "./words.js";
import watch from "./words/en/watch.js";
import css from "./watch.css";

/** @typedef {import("./plaza-api.js").components["schemas"]["WatchLevelAnswer"]} Watch */

const STYLES = [sheet(css)];
/** Hides the element from guests, and on sites without notifications. */
const AWAY = [sheet(":host { display: none; }")];
/** The level for which the API stores nothing. */
const NORMAL = "normal";
const LEVELS = [NORMAL, "watching", "muted"];

/**
 * Whether the error leaves no choice: refused token, no notifications, no discussion.
 * @param {unknown} error
 */
const isNone = (error) => error instanceof Problem && ["unauthenticated", "not_enabled", "unknown_node"].includes(error.code);

export default class PlazaWatch extends Live {
  static needs = ["node"];
  static reads = ["lang", "api"];

  #root = this.attachShadow({ mode: "open" });
  #reader = "";
  #select = /** @type {HTMLSelectElement} */ (h("select", { part: "input", onchange: () => this.#chosen() }));
  #status = h("span", { role: "status" });
  #refusal = h("span", { role: "alert" });
  /** The level that the API has stored. */
  #stored = NORMAL;
  #isSending = false;
  /** @type {import("./words.js").Words} */
  #words = /** @type {any} */ (null);

  /** @param {AbortSignal} alive */
  connected(alive) {
    followReader(() => this.#reader, () => this.restart(), alive);
  }

  get #path() {
    return `/nodes/${this.getAttribute("node")}/watch`;
  }

  /** @param {AbortSignal} now */
  async start(now) {
    const reader = await readerId();
    if (now.aborted) return;
    this.#reader = reader || "";
    if (!reader) return this.#leave();
    const words = await wordsFor(this, { watch });
    /** @type {Watch} */
    const found = await call(apiOf(this), this.#path, { signal: now, anew: true });
    if (now.aborted) return;
    if (!found.available) return this.#leave();
    this.#words = words;
    const { isRtl, language, t } = words;
    this.#select.replaceChildren(...LEVELS.map((value) => h("option", { value }, t(`watch_${value}`))));
    this.#show(found);
    this.#status.textContent = this.#refusal.textContent = "";
    const label = h("label", { part: "root", dir: isRtl ? "rtl" : "ltr", lang: language }, t("watch"), this.#select);
    this.#root.adoptedStyleSheets = STYLES;
    this.#root.replaceChildren(label, this.#status, this.#refusal);
    tell(this, "ready");
  }

  /** @param {Watch} found */
  #show({ level }) {
    this.#select.value = this.#stored = level || NORMAL;
  }

  /** Send the reader's last choice, then any choice made meanwhile. A failure resets the choice. */
  async #chosen() {
    if (this.#isSending) return;
    this.#isSending = true;
    const { now } = this;
    this.#status.textContent = this.#refusal.textContent = "";
    try {
      while (!now.aborted && this.#select.value !== this.#stored) {
        const level = this.#select.value;
        const wanted = level === NORMAL ? { method: "DELETE" } : { method: "PUT", body: { level } };
        await call(apiOf(this), this.#path, { ...wanted, as: this.#reader, signal: now });
        this.#stored = level;
      }
      if (!now.aborted) this.#status.textContent = this.#words.t("watchSaved");
    } catch (error) {
      if (isNone(error)) this.restart();
      else if (!now.aborted) {
        this.#select.value = this.#stored;
        this.#refusal.textContent = this.#words.reason(error);
      }
    }
    this.#isSending = false;
  }

  /** Show nothing, as to a guest. */
  #leave() {
    this.#root.adoptedStyleSheets = AWAY;
    this.#root.replaceChildren();
  }

  /** @param {unknown} error */
  async fail(error) {
    if (isNone(error)) return this.#leave();
    tell(this, "error", error);
    const { now } = this;
    const words = await wordsFor(this, { watch });
    if (now.aborted) return;
    this.#root.adoptedStyleSheets = STYLES;
    this.#root.replaceChildren(retry(error, words, () => this.restart()));
  }
}
