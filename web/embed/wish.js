// @ts-check
/** What a reader says to one thing, shown at once, and sent until the API has it. */

/** @typedef {import("./plaza-api.js").components["schemas"]["MarksAnswer"]} Told */
/** @typedef {Record<string, number>} Said By key, 1 or -1; the vote's key is "". */
/**
 * @typedef {object} Way How what is wanted reaches the API, and what is to be done then.
 * @property {(key: string, value: number) => Promise<Told>} send
 * @property {() => void} show
 * @property {(error: unknown) => void} failed
 * @property {(isOffline: boolean) => void} waits There is no connection, and again once there is.
 */

/** The key of the vote among those of reactions. */
export const VOTE = "";

/** Counts the answers, so that what was asked before one is not taken for newer. */
let clock = 0;
export const now = () => ++clock;

const online = () => new Promise((done) => addEventListener("online", done, { once: true }));

export class Wish {
  /** What the API has told last. @type {Told} */
  #told;
  #toldAt = 0;
  /** What is not yet sent, or not yet answered. @type {Map<string, number>} */
  #wanted = new Map();
  #isSending = false;
  #way;

  /** @param {Told} told @param {Way} way */
  constructor({ votes, reactions, mine }, way) {
    this.#told = { votes, reactions, mine };
    this.#way = way;
  }

  /** What the API has of the reader. @returns {Said} */
  #had() {
    const { vote = 0, reactions = [] } = this.#told.mine || {};
    return { [VOTE]: vote, ...Object.fromEntries(reactions.map((key) => [key, 1])) };
  }

  get isOnItsWay() {
    return this.#isSending;
  }

  /** What the reader says, with what is on its way. @returns {Said} */
  get mine() {
    return { ...this.#had(), ...Object.fromEntries(this.#wanted) };
  }

  /** How many say so, with what is on its way; null where that is not told. @param {string} key @param {number} value */
  count(key, value) {
    const { votes, reactions } = this.#told;
    const counted = key !== VOTE ? reactions[key] || 0 : votes && (value > 0 ? votes.up : votes.down);
    if (counted === null) return null;
    const is = (/** @type {Said} */ said) => Number((said[key] || 0) === value);
    return Math.max(0, counted + is(this.mine) - is(this.#had()));
  }

  /** Take what the API tells, unless it was asked before the last answer. @param {Told} told @param {number} askedAt @returns {boolean} whether anything is new */
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

  /** Send one thing after the other, since the last is to hold. */
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
        // What the reader wants by now may be something else, and is tried.
        if (this.#wanted.get(key) === value) this.#way.failed(error);
      }
      if (this.#wanted.get(key) === value) this.#wanted.delete(key);
      this.#way.show();
    }
    this.#isSending = false;
  }
}
