// @ts-check
/** <plaza-cart site="harbour-post">: what a reader buys, from the first line to the order that is paid. */
import { Problem } from "./api.js";
import { Access, isAnswered } from "./cart-access.js";
import { typed } from "./cart-kept.js";
import { linesIn } from "./cart-line.js";
import { endOf, isOpen, orderView, pastOrders, sums } from "./cart-order.js";
import { handOver, watch } from "./cart-payment.js";
import { markSoldOut } from "./cart-sold.js";
import { cartWords } from "./cart-words.js";
import { h, sheet, tell } from "./element.js";
import { Live } from "./live.js";
import { load } from "./load.js";
import { failure, followReader } from "./states.js";
import base from "./base.css";
import css from "./cart.css";

/** @typedef {import("./plaza-api.js").components["schemas"]} Schemas */
/** @typedef {Schemas["CartAnswer"]} Cart */
/** @typedef {Schemas["CheckoutAnswer"]} Checkout */
/** @typedef {{total_micros: number, lines: {sku: string, price_micros: number}[], adjustments: import("./cart-order.js").Adjustment[]}} Priced */

const STYLES = [base, css].map(sheet);
/** The form of the checkout; the build writes the address of this release. */
const ADDRESS = BUILT_ADDRESS;

/** The carts of this document. @type {Set<PlazaCart>} */
const carts = new Set();
/** Presses that a cart has handled: a cart that the same press loads ignores them. @type {WeakSet<Event>} */
const taken = new WeakSet();

/** Ids of the orders that this document has had `plaza:ordered` for. @type {Set<string>} */
const bought = new Set();

/** Return null for a failure after which a later call may succeed; throw any other. @param {unknown} error */
function unlessRefused(error) {
  if (error instanceof Problem && (error.response?.status || 500) < 500) throw error;
  return null;
}

export default class PlazaCart extends Live {
  static needs = ["site"];
  static reads = ["countries", "lang", "api"];

  #root = this.attachShadow({ mode: "open" });
  #list = h("ol", { part: "list", class: "lines" });
  #sums = h("dl", {});
  #status = h("p", { role: "status", class: "status" });
  #place = h("div", {});
  /** @type {ReturnType<typeof import("./cart-form.js").addressForm> | null} */
  #form = null;
  /** @type {ReturnType<typeof linesIn>} */
  #showIn = () => {};
  #access = /** @type {Access} */ (/** @type {unknown} */ (null));
  /** The reader's actions, run one after the other. @type {Promise<void>} */
  #queue = Promise.resolve();
  /** Counts what was shown, so that an older answer is not shown after it. */
  #shows = 0;
  /** @type {Cart | null} */
  #cart = null;
  /** @type {Checkout | null} */
  #checkout = null;
  /** Current prices, once the shop has refused an old total. @type {Priced | null} */
  #priced = null;
  /** @type {import("./cart-words.js").CartWords} */
  #words = /** @type {any} */ (null);

  get #site() {
    return this.getAttribute("site") || "";
  }

  /** @param {HTMLElement} [stub] */
  constructor(stub) {
    super(stub);
    this.#root.adoptedStyleSheets = STYLES;
    this.#root.append(h("slot"));
  }

  /** @param {AbortSignal} signal */
  connected(signal) {
    this.#access = new Access(this, signal);
    carts.add(this);
    signal.addEventListener("abort", () => carts.delete(this));
    markSoldOut(this, signal);
    followReader(() => this.#access.reader, () => this.restart(), signal);
    document.addEventListener("click", (event) => {
      const button = event.composedPath().find((each) => each instanceof HTMLElement && each.dataset.plazaBuy);
      if (button) this.buy(button, event);
    }, { signal });
    // Another tab has begun or ended a cart, or another element has changed this one.
    addEventListener("storage", ({ key }) => key === this.#access.place() && this.restart(), { signal });
    document.addEventListener("plaza:cart", (event) => {
      const [other] = event.composedPath();
      if (other !== this && other instanceof PlazaCart && other.#access.place() === this.#access.place()) this.#readAgain().catch(() => {});
    }, { signal });
    addEventListener("pageshow", ({ persisted }) => persisted && this.#readAgain().catch(() => {}), { signal });
    this.watch(async () => { await this.#look(); return false; });
  }

  /** Add units of a SKU to the cart. @param {string} sku @param {number} [qty] @param {string} [title] */
  add(sku, qty = 1, title = sku) {
    return this.#tried(async () => {
      const cart = await this.#access.open();
      const had = cart.lines.find((line) => line.sku === sku)?.qty || 0;
      this.#show(await this.#call(`/carts/${cart.id}/lines/${encodeURIComponent(sku)}`, { method: "PUT", body: { qty: had + qty } }));
      return this.#words.t("inCart", { title });
    }, title);
  }

  /** Add what a button of the page names (`<button data-plaza-buy="SADDLE">`), unless another cart does. @param {EventTarget} button @param {Event} [press] Missing from an older loader. */
  buy(button, press) {
    if (!(button instanceof HTMLElement) || (press && taken.has(press))) return;
    const { plazaBuy, plazaQty, plazaTitle, plazaSite } = button.dataset;
    const [first] = [...carts].filter((each) => !plazaSite || each.#site === plazaSite)
      .sort((one, other) => one.compareDocumentPosition(other) & Node.DOCUMENT_POSITION_FOLLOWING ? -1 : 1);
    if (!plazaBuy || first !== this) return;
    if (press) taken.add(press);
    this.add(plazaBuy, Number(plazaQty) || 1, plazaTitle);
  }

  /** @param {string} path @param {import("./api.js").Options} [options] @returns {Promise<any>} */
  async #call(path, options) {
    const { now } = this;
    const answer = await this.#access.call(path, options);
    if (now.aborted) throw new Problem({});
    return answer;
  }

  /** @param {AbortSignal} now */
  async start(now) {
    this.#words = await cartWords(this);
    this.#status.textContent = "";
    await this.#access.identify(true);
    // Earlier presses go first: a cart read meanwhile would be older than theirs.
    const shown = this.#queue.then(async () => {
      if (now.aborted) return;
      const cart = await this.#access.kept();
      const checkout = await this.#access.orderOf(cart);
      if (now.aborted) return;
      // The refusal of an earlier press.
      const told = this.#status.textContent;
      this.#render();
      this.#checkout = null;
      this.#show(cart, checkout);
      this.#status.textContent = told;
      tell(this, "ready");
    });
    this.#queue = shown.catch(() => {});
    await shown;
  }

  /** @param {unknown} error */
  async fail(error) {
    this.#words ||= await cartWords(this);
    this.#root.replaceChildren(failure(this, error, this.#words, () => this.restart()));
  }

  #render() {
    const { t, isRtl, language } = this.#words;
    for (const each of [this.#list, this.#sums, this.#status, this.#place]) each.replaceChildren();
    this.#showIn = linesIn(this.#list, this.#words, { set: (...given) => this.#set(...given), remove: ({ sku, title }) => this.#clickedAway(`/lines/${sku}`, "DELETE", () => t("removed", { title })) });
    this.#form = null;
    this.#root.replaceChildren(
      h("section", { part: "root", dir: isRtl ? "rtl" : "ltr", lang: language, tabindex: -1, "aria-labelledby": "title" },
        h("header", {}, h("h2", { id: "title", part: "title" }, t("cart"))), this.#status, this.#list, this.#sums, this.#place,
        this.#access.reader && pastOrders(this.#words, (query) => this.#access.asReader(`/users/me/orders${query}`, {}))));
  }

  /** Show a cart, or the order that was made of it. @param {Cart | null} cart @param {Checkout | null} [checkout] */
  #show(cart, checkout = null) {
    this.#shows++;
    if (!this.#list.isConnected) this.#render();
    const isOther = JSON.stringify(cart) !== JSON.stringify(this.#cart);
    if (isOther) this.#priced = null;
    this.#cart = cart;
    const isBought = checkout && checkout.order.state !== "void";
    const before = this.#checkout;
    this.#checkout = isBought ? checkout : null;
    if (isBought) this.#showOrder(checkout, before);
    else this.#showLines(cart);
    const units = (!isBought && cart?.lines || []).reduce((sum, { qty }) => sum + qty, 0);
    if (isOther) tell(this, "cart", { units, linesMicros: cart?.lines_micros || 0, currency: cart?.currency });
  }

  /** @param {Cart | null} cart */
  #showLines(cart) {
    const lines = (cart?.lines || []).map((line) => ({ ...line, ...this.#priced?.lines.find(({ sku }) => sku === line.sku) }));
    this.#showIn(lines, cart?.currency || "");
    this.#sums.replaceChildren(...(cart && lines.length ? sums(this.#priced?.adjustments || [], this.#total(), cart.currency, this.#words) : []));
    this.#showWays(lines.some(({ lapsed }) => lapsed));
  }

  #total() {
    return this.#priced?.total_micros ?? this.#cart?.lines_micros ?? 0;
  }

  /** Show the buttons, or the form, for the cart. @param {boolean} isLapsed */
  #showWays(isLapsed) {
    const { t, money } = this.#words;
    const button = (/** @type {string} */ word, /** @type {() => void} */ onclick) => h("button", { part: "button", onclick }, t(word));
    if (!this.#cart?.lines.length) {
      this.#form = null;
      this.#place.replaceChildren(h("p", {}, t("emptyCart")));
      return;
    }
    const again = isLapsed && h("p", { class: "note again" }, button("holdAgain", () => this.#clickedAway("/hold", "POST", () => t(this.#cart?.lines.some(({ lapsed }) => lapsed) ? "notHeld" : "heldAgain"))));
    this.#form?.priced(money(this.#total(), this.#cart.currency));
    if (this.#form) {
      this.#place.querySelector(".again")?.remove();
      if (again) this.#place.prepend(again);
      return;
    }
    this.#place.replaceChildren(...[again, h("p", { class: "note" }, button("checkOut", () => this.#fillIn()))].filter((each) => each instanceof Node));
  }

  /** Ask where the order goes. */
  #fillIn() {
    return this.#tried(async () => {
      /** @type {typeof import("./cart-form.js")} */
      const { addressForm } = await load(ADDRESS).catch(() => {
        throw new Problem({});
      });
      // Pressed twice, or emptied meanwhile.
      if (this.#form || !this.#cart?.lines.length) return;
      const { id, currency } = this.#cart;
      this.#form = addressForm({
        words: this.#words,
        place: `plaza:checkout:${id}`,
        countries: this.getAttribute("countries") || "",
        total: () => this.#total(),
        send: (agreement, key) => this.#buy(id, agreement, key),
        reason: (error) => this.#words.reason(error, this.#cart),
        isAnswered,
        typed,
      });
      this.#form.priced(this.#words.money(this.#total(), currency));
      this.#place.replaceChildren(...this.#place.querySelectorAll(".again"), this.#form.form);
      this.#form.start();
    });
  }

  /** @param {string} id @param {Schemas["Checkout"]} body @param {string} key */
  async #buy(id, body, key) {
    this.#status.textContent = "";
    try {
      /** @type {Checkout} */
      const checkout = await this.#call(`/carts/${id}/checkout`, { method: "POST", body, key });
      this.#show({ .../** @type {Cart} */ (this.#cart), state: "checkout", order: checkout.order.id }, checkout);
      this.#focus();
    } catch (error) {
      if (error instanceof Problem && error.code === "total_changed") {
        this.#priced = /** @type {any} */ (error.body.facts);
        this.#showLines(this.#cart);
      }
      // The order may be there after all, or a line may be held no more.
      else await this.#look(true).catch(() => {});
      if (!this.#checkout) throw error;
      this.#focus();
    }
  }

  /** @param {Checkout} checkout @param {Checkout | null} before */
  #showOrder(checkout, before) {
    if (JSON.stringify(checkout) === JSON.stringify(before)) return;
    const { order, payment } = checkout;
    this.#showIn([], order.currency);
    this.#sums.replaceChildren();
    this.#form = null;
    this.#place.replaceChildren(orderView(checkout, this.#words, { cancel: () => this.#decide("cancel"), end: () => { this.#access.leave(); this.#show(null); this.#focus(); } }));
    this.#bought(order, before);
    if (!isOpen(order)) return;
    const look = () => this.#decide("payment");
    const isNew = before?.order.id !== order.id;
    if (payment && (isNew || !before?.payment)) handOver(this, checkout, look);
    const { now } = this;
    if (isNew) watch(checkout, () => (now.aborted ? null : this.#checkout), look);
  }

  /** Dispatch `plaza:ordered` once for a paid order, wherever it was paid, and forget its address. @param {Checkout["order"]} order @param {Checkout | null} before */
  #bought({ id, state }, before) {
    const place = `plaza:checkout:${this.#cart?.id}`;
    if (state !== "done" || bought.has(id) || (before?.order.id !== id && !typed.read(place))) return;
    bought.add(id);
    typed.write(place, null);
    tell(this, "ordered", { order: id });
  }

  /** Have the API check the payment now, or cancel the order. @param {"payment" | "cancel"} what */
  #decide(what) {
    return this.#tried(async () => {
      if (!this.#cart || !this.#checkout) return;
      const before = this.#checkout.order.state;
      const shown = this.#status.textContent || "";
      const call = this.#call(`/orders/${this.#checkout.order.id}/${what}?cart=${this.#cart.id}`, { method: "POST" });
      // A timed look leaves the outcome of the reader's last press, also if it fails: the next one follows.
      /** @type {Checkout | null} */
      const checkout = await (what === "payment" ? call.catch(unlessRefused) : call);
      if (!checkout) return shown;
      const { order } = checkout;
      this.#show(order.state === "void" ? await this.#access.kept() : this.#cart, checkout);
      if (order.state === before) return what === "payment" ? shown : "";
      this.#focus();
      if (order.state === "void") return this.#words.t(endOf(order));
    });
  }

  /** @param {Schemas["LineAnswer"]} line @param {number} qty */
  #set({ sku, title }, qty) {
    return this.#tried(() => this.#change(`/lines/${sku}`, { method: "PUT", body: { qty } }), title);
  }

  /** Change the cart by a button that the change may remove, and move the focus. @param {string} path @param {string} method @param {() => string} tell After the change. */
  #clickedAway(path, method, tell) {
    return this.#tried(async () => {
      await this.#change(path, { method });
      this.#focus();
      return tell();
    });
  }

  /** @param {string} path @param {import("./api.js").Options} options */
  async #change(path, options) {
    this.#show(await this.#call(`/carts/${this.#cart?.id}${path}`, options));
  }

  #focus() { /** @type {HTMLElement | null} */ (this.#root.querySelector("h3") || this.#root.querySelector("section"))?.focus(); }

  /**
   * Read the cart again: a hold may have lapsed, or another tab may have paid. While an order is
   * shown, only if `isAsked`.
   * @param {boolean} [isAsked]
   */
  async #look(isAsked = false) {
    if (this.#cart && (isAsked || !this.#checkout)) await this.#readAgain();
  }

  /** Show the cart as it is now, unless a newer one was shown meanwhile. */
  async #readAgain() {
    if (!this.#words) return;
    const before = this.#shows;
    const cart = await this.#access.kept();
    const isSame = JSON.stringify(cart) === JSON.stringify(this.#cart);
    if (isSame && (!cart?.order || this.#checkout)) return;
    const checkout = await this.#access.orderOf(cart);
    if (before === this.#shows) this.#show(cart, checkout);
  }

  /** Run an action after the earlier ones, and show its outcome as the status. @param {() => Promise<string | void>} act @param {string} [title] */
  #tried(act, title) {
    const { now } = this;
    return (this.#queue = this.#queue.then(async () => {
      try {
        this.#words ||= await cartWords(this);
        const told = await act();
        this.#status.textContent = told || "";
      } catch (error) {
        if (now.aborted) return;
        const told = this.#words.reason(error, this.#cart, title);
        await this.#look(true).catch(() => {});
        // The status is absent before the first cart, and after a failed start.
        if (!this.#status.isConnected) this.#root.append(this.#status);
        this.#status.textContent = told;
      }
    }));
  }
}
