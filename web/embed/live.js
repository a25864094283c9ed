// @ts-check
/** The base of all elements, shared by their files: an element starts once its page has given it all that it needs, and again when an attribute has another value. */
import { load } from "./load.js";

/** Ids as the API takes them. @type {Record<string, RegExp>} */
const IDS = { node: /^[\w.~:-]{1,256}$/, site: /^[a-z\d_-]{1,64}$/, zone: /^[a-z\d_-]{1,64}$/ };

/** Times between two looks for what is new; the longer ones while nothing is. */
const FIRST_MS = 30_000;
const MOST_MS = 300_000;
/** What hears of changes, once for all elements, in pages whose reader stays for so long; the build writes the address of this release. */
const TOPICS = BUILT_TOPICS;
const STAYS_MS = 8_000;

/** The loader's element of this name becomes this one: its fields are added there. */
class Adopted extends HTMLElement {
  /** @param {HTMLElement} [stub] */
  constructor(stub) {
    if (stub) return /** @type {any} */ (stub);
    super();
  }
}

export class Live extends Adopted {
  /** Ids without which it cannot start. @type {string[]} */
  static needs = [];
  /** Other attributes that it starts by. @type {string[]} */
  static reads = [];

  #life = new AbortController();
  #turn = new AbortController();
  /** The attributes that it has started by. */
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

  /** Ends when the element leaves its page; while it moves, it goes on. */
  get alive() {
    return this.#life.signal;
  }

  /** Ends when it leaves or starts again: an answer to an earlier start may be another reader's. */
  get now() {
    return this.#turn.signal;
  }

  async connectedCallback() {
    // A script that moves it, or sets its attributes, is done then.
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

  /** Start anew; a failure leaves what the page has put inside. */
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

  /** Begin a life in a page. @param {AbortSignal} _alive */
  connected(_alive) {}

  /** @param {AbortSignal} _now @returns {void | Promise<void>} */
  start(_now) {}

  /**
   * Look for what is new while the page is in front: seldom while nothing is, and at once when a topic has changed.
   * @param {() => Promise<boolean>} look Returns whether it found something; may fail. @param {import("./topics.js").Topic} [topic]
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
      // What has changed meanwhile may not have been read.
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

  /** Hear of a topic's changes. @param {import("./topics.js").Topic} topic */
  hear(topic) {
    const { alive } = this;
    const begin = () => load(TOPICS).catch(() => load(TOPICS)).then(({ hear }) => hear(topic, alive)).catch(() => {});
    const timer = setTimeout(begin, STAYS_MS);
    alive.addEventListener("abort", () => clearTimeout(timer));
  }

  /** Say what went wrong. @param {unknown} error */
  fail(error) {
    console.error(error);
  }
}
