// @ts-check
/**
 * The base of all elements: an element starts once it is in a page and has the attributes that it
 * needs, and starts again when one of its attributes changes.
 */
import { load } from "./load.js";

/** Ids as the API takes them. @type {Record<string, RegExp>} */
const IDS = { node: /^[\w.~:-]{1,256}$/, site: /^[a-z\d_-]{1,64}$/, zone: /^[a-z\d_-]{1,64}$/ };

/** The first and the longest wait for a timed look; it doubles while looks find nothing. */
const FIRST_MS = 30_000;
const MOST_MS = 300_000;
/**
 * The module that polls topics for all elements of the page, loaded once a reader has stayed for
 * STAYS_MS; the build inserts this release's address.
 */
const TOPICS = BUILT_TOPICS;
const STAYS_MS = 8_000;

/** Returns the loader's stub from the constructor, so that a subclass adds its fields to it. */
class Adopted extends HTMLElement {
  /** @param {HTMLElement} [stub] */
  constructor(stub) {
    if (stub) return /** @type {any} */ (stub);
    super();
  }
}

export class Live extends Adopted {
  /** Attributes with ids that the element needs to start; keys of IDS. @type {string[]} */
  static needs = [];
  /** Other attributes whose change restarts the element. @type {string[]} */
  static reads = [];

  #life = new AbortController();
  #turn = new AbortController();
  /** The attributes' values at the last start, as JSON; "" before it and outside a page. */
  #values = "";

  /** @param {HTMLElement} [stub] */
  constructor(stub) {
    super(stub);
    const { needs, reads } = this.#kind;
    new MutationObserver(() => this.connectedCallback()).observe(this, { attributeFilter: [...needs, ...reads] });
  }

  get #kind() {
    return /** @type {typeof Live} */ (this.constructor);
  }

  /** Aborts when the element leaves its page; a move within the page does not count. */
  get alive() {
    return this.#life.signal;
  }

  /** Aborts when the element leaves or restarts: an earlier answer may be another reader's. */
  get now() {
    return this.#turn.signal;
  }

  async connectedCallback() {
    // Wait for the script that moves the element or sets its attributes to finish.
    await null;
    if (!this.isConnected) {
      this.#life.abort();
      this.#turn.abort();
      this.#values = "";
      return;
    }
    const { needs, reads } = this.#kind;
    const values = JSON.stringify([...needs, ...reads].map((name) => this.getAttribute(name)));
    if (values === this.#values || !needs.every((name) => this.getAttribute(name))) return;
    if (!this.#values) {
      this.#life = new AbortController();
      this.connected(this.alive);
    }
    this.#values = values;
    this.restart();
  }

  disconnectedCallback() {
    this.connectedCallback();
  }

  /** Abort the last start, check the ids, and call `start`; `fail` gets its error. */
  async restart() {
    this.#turn.abort();
    this.#turn = new AbortController();
    const { now } = this;
    try {
      for (const name of this.#kind.needs) {
        const id = this.getAttribute(name) || "";
        if (!IDS[name].test(id)) throw Object.assign(new Error(`<${this.localName}>: ${name}="${id}" is no id`), { code: "bad_id", body: { id } });
      }
      await this.start(now);
    } catch (error) {
      if (!now.aborted) this.fail(error);
    }
  }

  /** Called when the element enters a page, before `start`. @param {AbortSignal} _alive */
  connected(_alive) {}

  /** @param {AbortSignal} _now @returns {void | Promise<void>} */
  start(_now) {}

  /**
   * Call `look` while the page is visible: more seldom while it finds nothing, at once when the
   * topic changes or the page becomes visible.
   * @param {() => Promise<boolean>} look Returns whether it found something; a rejection counts as no. @param {import("./topics.js").Topic} [topic]
   */
  watch(look, topic) {
    const { alive } = this;
    let wait = FIRST_MS;
    let isLooking = false;
    let isChanged = false;
    const turn = async () => {
      if (document.hidden || isLooking) return;
      isLooking = true;
      isChanged = false;
      wait = (await look().catch(() => false)) ? FIRST_MS : Math.min(2 * wait, MOST_MS);
      isLooking = false;
      clearTimeout(timer);
      // The look may have missed a change that came during it.
      if (!alive.aborted) timer = setTimeout(turn, isChanged ? 0 : wait);
    };
    let timer = setTimeout(turn, wait);
    document.addEventListener("visibilitychange", () => {
      wait = FIRST_MS;
      turn();
    }, { signal: alive });
    alive.addEventListener("abort", () => clearTimeout(timer));
    if (topic) this.hear({ changed: () => { isChanged = true; turn(); }, ...topic });
  }

  /** Subscribe to a topic's changes after STAYS_MS. @param {import("./topics.js").Topic} topic */
  hear(topic) {
    const { alive } = this;
    let wait = STAYS_MS;
    const begin = () => load(TOPICS).then(({ hear }) => hear(topic, alive)).catch(() => {
      // The network may be away for long, and the bell has no look of its own.
      wait = Math.min(2 * wait, MOST_MS);
      if (!alive.aborted) timer = setTimeout(begin, wait);
    });
    let timer = setTimeout(begin, wait);
    alive.addEventListener("abort", () => clearTimeout(timer));
  }

  /** Say what went wrong. @param {unknown} error */
  fail(error) {
    console.error(error);
  }
}
