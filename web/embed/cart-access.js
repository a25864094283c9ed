// @ts-check
/** Which cart a reader has: kept by the browser, claimed when a guest signs in, opened when needed. */
import { call, Problem, readerId } from "./api.js";
import { ids } from "./cart-kept.js";
import { apiOf } from "./element.js";

/** @typedef {import("./plaza-api.js").components["schemas"]} Schemas */
/** @typedef {Schemas["CartAnswer"]} Cart */
/** @typedef {Schemas["CheckoutAnswer"]} Checkout */

const GONE = ["unknown_cart", "cart_claimed"];

export class Access {
  /** Whose cart it is; "" for a guest. */
  reader = "";

  /** @param {Element} element @param {AbortSignal} signal */
  constructor(element, signal) {
    this.element = element;
    this.signal = signal;
  }

  /** @type {Promise<void> | null} */
  #identified = null;

  /** Wait until the page has named the reader; `anew` asks it again. Throws Problem if it fails. @param {boolean} [anew] */
  identify(anew = false) {
    if (anew) this.#identified = null;
    const asked = (this.#identified ||= readerId(!anew).then((reader) => {
      if (reader === null) throw new Problem({ code: "sign_in_failed" });
      this.reader = reader;
    }));
    // After a failure, the next press asks the page again.
    asked.catch(() => { if (this.#identified === asked) this.#identified = null; });
    return asked;
  }

  /** Where the browser keeps the id of a reader's cart. */
  place(reader = this.reader) {
    return `plaza:cart:${apiOf(this.element)}:${this.element.getAttribute("site")}:${reader}`;
  }

  /**
   * Make a call, and repeat it once if no answer came, or a status of 500 or more: each call of a
   * cart is safe to repeat.
   * A guest's cart needs no token, since its id is a secret; a reader's cart is theirs alone. A reader whose token is
   * refused is a guest from then on.
   * @param {string} path @param {import("./api.js").Options} [options] @returns {Promise<any>}
   */
  call(path, options) {
    const ask = () => call(apiOf(this.element), path, { anonymous: !this.reader, as: this.reader, anew: true, signal: this.signal, ...options });
    return ask().catch((error) => {
      const isRefused = error.code === "unauthenticated" && this.reader && options?.anonymous === undefined;
      if (isRefused) this.reader = "";
      if (isRefused || (error instanceof Problem && !isAnswered(error))) return ask();
      throw error;
    });
  }

  /** Make a call as who reads; if the page's token is refused, its reader is a guest here. @param {string} path @param {import("./api.js").Options} options @returns {Promise<any>} */
  asReader(path, options) {
    return this.call(path, { ...options, anonymous: false });
  }

  /** Read the reader's cart, null if none is kept; first claim the cart of their time as a guest. @returns {Promise<Cart | null>} */
  async kept() {
    const guests = this.reader && ids.read(this.place(""));
    if (guests) {
      const cart = await this.#claimed(guests);
      if (!this.reader) return cart;
      const { reader } = this;
      const isUsed = !!cart?.lines.length && ["open", "checkout"].includes(cart.state);
      const joined = isUsed && (await this.#joined(cart));
      // Another reader may have come: the cart stays with its claimant.
      ids.write(this.place(""), null);
      if (isUsed) ids.write(this.place(reader), cart.id);
      if (this.reader !== reader) return this.kept();
      if (isUsed) return joined || cart;
    }
    const { reader } = this;
    const id = ids.read(this.place());
    if (!id) return null;
    /** @type {Cart | null} */
    const cart = await this.call(`/carts/${id}`).catch(nothingIf("unknown_cart"));
    if (this.reader !== reader) return this.kept();
    return cart?.state === "expired" ? null : cart;
  }

  /** @param {string} id @returns {Promise<Cart | null>} */
  #claimed(id) {
    return this.asReader(`/carts/${id}/claim`, { method: "POST" }).catch((error) => {
      if (error.code === "unauthenticated") {
        this.reader = "";
        return this.kept();
      }
      return nothingIf(...GONE)(error);
    });
  }

  /** Merge the reader's earlier cart into a claimed cart; null without one, or if either is not open. @param {Cart} cart @returns {Promise<Cart | null>} */
  async #joined(cart) {
    const source = ids.read(this.place());
    if (!source || cart.state !== "open") return null;
    return this.call(`/carts/${cart.id}/merge`, { method: "POST", body: { source } }).catch(nothingIf(...GONE, "cart_closed"));
  }

  /** The cart as it is now, since another tab may have changed it; a new one if the last has ended. @returns {Promise<Cart>} */
  async open() {
    // Before the reader is known, a guest's new cart would replace the reader's own.
    await this.identify();
    const cart = await this.kept();
    if (cart && cart.state !== "ordered") return cart;
    const options = { method: "POST", body: { site: this.element.getAttribute("site") } };
    /** @type {Cart} */
    const fresh = await this.asReader("/carts", options).catch((error) => {
      if (error.code !== "unauthenticated") throw error;
      this.reader = "";
      return this.call("/carts", options);
    });
    ids.write(this.place(), fresh.id);
    return fresh;
  }

  /** The order of a cart; null without one, or while the API has not written it. @param {Cart | null} cart @returns {Promise<Checkout | null>} */
  async orderOf(cart) {
    return cart?.order ? this.call(`/orders/${cart.order}?cart=${cart.id}`).catch(nothingIf("unknown_order")) : null;
  }

  /** Forget the id of a bought cart. */
  leave() {
    ids.write(this.place(), null);
  }
}

/** @param {...string} codes */
const nothingIf = (...codes) => (/** @type {any} */ error) => {
  if (codes.includes(error.code)) return null;
  throw error;
};

/** Whether the shop has refused (status below 500): after any other failure, the order may exist. @param {unknown} error */
export const isAnswered = (error) => error instanceof Problem && error.code !== "offline" && Number(error.response?.status) < 500;
