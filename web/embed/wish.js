// @ts-check
/** A reader's vote and reactions to one thing: shown at once, sent again once online. */

/** @typedef {import("./plaza-api.js").components["schemas"]["MarksAnswer"]} Told */
/** @typedef {Record<string, number>} Said By key, 1 or -1; the vote's key is "". */
/**
 * @typedef {object} Way Sends the reader's marks, and shows their progress.
 * @property {(key: string, value: number) => Promise<Told>} send
 * @property {() => void} show
 * @property {(error: unknown) => void} failed
 * @property {(isOffline: boolean) => void} waits Called with true when the connection is lost, with
 *   false when it returns.
 */

/** The key of the vote among those of reactions. */
export const VOTE = "";

/** A logical clock: a reading that was asked for before an answer is older than it. */
let clock = 0;
export const now = () => ++clock;

const online = () => new Promise((done) => addEventListener("online", done, { once: true }));

export class Wish {
  /** The API's last answer. @type {Told} */
  #told;
  #toldAt = 0;
  /** The values by key that are not yet sent or not yet answered. @type {Map<string, number>} */
  #wanted = new Map();
  #isSending = false;
  #way;

  /** @param {Told} told @param {Way} way */
  constructor({ votes, reactions, mine }, way) {
    this.#told = { votes, reactions, mine };
    this.#way = way;
  }

  /** The reader's marks by the API's last answer. @returns {Said} */
  #had() {
    const { vote = 0, reactions = [] } = this.#told.mine || {};
    return { [VOTE]: vote, ...Object.fromEntries(reactions.map((key) => [key, 1])) };
  }

  get isOnItsWay() {
    return this.#isSending;
  }

  /** The reader's marks, including unanswered ones. @returns {Said} */
  get mine() {
    return { ...this.#had(), ...Object.fromEntries(this.#wanted) };
  }

  /**
   * How many readers have this mark, including an unanswered one; null if hidden.
   * @param {string} key @param {number} value
   */
  count(key, value) {
    const { votes, reactions } = this.#told;
    const counted = key !== VOTE ? reactions[key] || 0 : votes && (value > 0 ? votes.up : votes.down);
    if (counted === null) return null;
    const is = (/** @type {Said} */ said) => Number((said[key] || 0) === value);
    return Math.max(0, counted + is(this.mine) - is(this.#had()));
  }

  /**
   * Take a reading of the API, unless it was asked for before the last answer.
   * @param {Told} told @param {number} askedAt By `now`. @returns {boolean} Whether it differs.
   */
  tell({ votes, reactions, mine }, askedAt) {
    if (askedAt < this.#toldAt) return false;
    const told = { votes, reactions, mine };
    const isNew = JSON.stringify(told) !== JSON.stringify(this.#told);
    this.#told = told;
    if (isNew) this.#way.show();
    return isNew;
  }

  /** @param {string} key @param {number} value */
  want(key, value) {
    this.#wanted.set(key, value);
    this.#way.show();
    this.#deliver();
  }

  /** Send one mark after the other: the last wins. A failed mark is dropped; offline, it waits. */
  async #deliver() {
    if (this.#isSending) return;
    this.#isSending = true;
    for (let next; (next = this.#wanted.entries().next().value); ) {
      const [key, value] = next;
      try {
        const told = value === (this.#had()[key] || 0) ? this.#told : await this.#way.send(key, value);
        this.#told = told;
        this.#toldAt = now();
      } catch (error) {
        if (!navigator.onLine) {
          this.#way.waits(true);
          await online();
          this.#way.waits(false);
          continue;
        }
        // A newer value of the reader's is tried next, without a message.
        if (this.#wanted.get(key) === value) this.#way.failed(error);
      }
      if (this.#wanted.get(key) === value) this.#wanted.delete(key);
      this.#way.show();
    }
    this.#isSending = false;
  }
}
