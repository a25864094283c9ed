// @ts-check
/** An order as its buyer sees it: while it is paid, and once it is. */
import { h } from "./element.js";

/** @typedef {import("./cart-words.js").CartWords} CartWords */
/** @typedef {import("./plaza-api.js").components["schemas"]} Schemas */
/** @typedef {Schemas["CheckoutAnswer"]} Checkout */
/** @typedef {Schemas["OrderAnswer"]} Order */
/** @typedef {{kind: string, label: string, amount_micros: number}} Adjustment */

/** @param {Order} order */
export const isOpen = ({ state }) => !["done", "void"].includes(state);

/** Rows of the adjustments and the total; amounts in micros. @param {readonly Adjustment[]} adjustments @param {number} total @param {string} currency @param {CartWords} words */
export const sums = (adjustments, total, currency, { t, money }) => [
  ...adjustments.map((each) => h("div", {}, h("dt", { dir: "auto" }, each.label), h("dd", {}, money(each.amount_micros, currency)))),
  h("div", { class: "total" }, h("dt", {}, t("total")), h("dd", { part: "total" }, money(total, currency))),
];

/** @param {Checkout} checkout @param {CartWords} words @param {{cancel: () => void, end: () => void}} acts */
export function orderView({ order, payment }, words, acts) {
  const { t, money, time } = words;
  const isDone = order.state === "done";
  const link = payment?.redirect_url;
  const { address } = order;
  const goesTo = address && [address.name, address.street, `${address.postal_code} ${address.city}`.trim()].filter(Boolean).join(", ");
  return h("div", { part: "order" },
    h("h3", { tabindex: -1 }, t(isDone ? "thanks" : "paying")),
    h("p", { class: "badge" }, t("orderNumber", { order: order.id })),
    h("ul", { class: "bought" }, ...order.lines.map((line) => h("li", {},
      h("span", { dir: "auto" }, `${line.qty} × ${line.title}`), h("span", { class: "price" }, money(line.qty * line.price_micros, order.currency))))),
    h("dl", {}, ...sums(order.adjustments, order.total_micros, order.currency, words)),
    isDone && goesTo && h("p", { dir: "auto" }, t("goesTo", { address: goesTo })),
    !isDone && order.pay_until && h("p", {}, t("payUntil", { time: time(order.pay_until) })),
    h("p", { class: "row note" },
      link && /^https:/i.test(link) && h("a", { href: link, part: "link" }, t("pay")),
      isDone ? h("button", { part: "button", onclick: acts.end }, t("newCart"))
        : order.state === "paying" && h("button", { part: "button", onclick: acts.cancel }, t("cancelOrder"))));
}

/** The key of the text for an order that ended unpaid. @param {Order} order */
export const endOf = ({ reason }) => (reason === "declined" || reason === "cancelled" ? reason : "notBought");

/** @param {Order} order @param {CartWords} words */
function pastOrder(order, { t, money, locale }) {
  const state = order.sent ? "sent" : order.state === "done" || order.state === "void" ? order.state : "paying";
  const facts = [new Date(order.at).toLocaleDateString(locale), t(`state_${state}`)];
  if (order.refunded_micros) facts.push(t("refunded", { amount: money(order.refunded_micros, order.currency) }));
  return h("li", {},
    h("span", {}, h("b", { dir: "auto" }, order.lines.map((line) => `${line.qty} × ${line.title}`).join(", ")),
      h("small", {}, facts.join(" · "))),
    h("span", { class: "price" }, money(order.total_micros, order.currency)));
}

/** The orders of a signed-in reader, requested each time that they are opened. @param {CartWords} words @param {(query: string) => Promise<Schemas["OrdersAnswer"]>} ask */
export function pastOrders(words, ask) {
  const { t } = words;
  const list = h("ol", { class: "bought" });
  const told = h("p", { role: "status" });
  const more = h("button", { class: "more", part: "button", hidden: true, onclick: () => page() }, t("more"));
  /** @type {string | null} */
  let next = null;
  /** Counts the requests: an answer to an earlier one is out of date. */
  let turn = 0;
  async function page() {
    const mine = ++turn;
    try {
      const answer = await ask(next ? `?${new URLSearchParams({ cursor: next })}` : "");
      if (mine !== turn) return;
      const isHere = /** @type {ShadowRoot} */ (more.getRootNode()).activeElement === more;
      list.append(...answer.orders.map((each) => pastOrder(each, words)));
      next = answer.next;
      more.hidden = !next;
      if (isHere && !next) shown.querySelector("summary")?.focus();
      told.textContent = list.children.length ? "" : t("noOrders");
    } catch (error) {
      if (mine === turn) told.textContent = words.reason(error);
    }
  }
  const shown = h("details", { part: "orders", ontoggle() {
    if (!(/** @type {HTMLDetailsElement} */ (shown).open)) return;
    next = null;
    list.replaceChildren();
    page();
  } }, h("summary", {}, t("yourOrders")), list, told, more);
  return shown;
}
