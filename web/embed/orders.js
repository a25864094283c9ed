// @ts-check
/** The orders in which a discussion is read. */
import { h } from "./element.js";

/** @typedef {import("./plaza-api.js").components["schemas"]["CommentsAnswer"]} Page */

const BY_TIME = ["oldest", "newest"];
const BY_VOTES = ["best", "top"];

/** @param {string} order */
export const isByTime = (order) => BY_TIME.includes(order);

/** The order that an element names; "" for the one that its site has chosen. @param {Element} element */
export function orderNamed(element) {
  const named = element.getAttribute("order") || "";
  return [...BY_TIME, ...BY_VOTES, "controversial", "featured"].includes(named) ? named : "";
}

/** A choice of the orders that a discussion has. @param {import("./words.js").Words} words @param {Page} page @param {(order: Page["order"]) => void} choose */
export function orderSelect({ t }, { node: { votes }, order }, choose) {
  const orders = [...BY_TIME, ...(votes === "off" ? [] : BY_VOTES), ...(votes === "up_down" ? ["controversial"] : [])];
  // The one that was asked for is told, even where nobody votes any more or nothing is featured.
  if (!orders.includes(order)) orders.push(order);
  const select = /** @type {HTMLSelectElement} */ (h("select", {
    "aria-label": t("order"), part: "input", onchange: () => choose(/** @type {Page["order"]} */ (select.value)),
  }, ...orders.map((each) => h("option", { value: each }, t(each)))));
  select.value = order;
  return select;
}

/** @param {Element} select @param {import("./words.js").Words} words */
export function offerFeatured(select, { t }) {
  if (!select.querySelector("[value=featured]")) select.append(h("option", { value: "featured" }, t("featured")));
}

/**
 * What offers what is featured, if something is: it is asked for once, when the reader turns to the
 * discussion. Most pages are opened by those who never do.
 * @param {HTMLSelectElement} select @param {import("./words.js").Words} words @param {() => Promise<Page>} ask
 */
export function lookForFeatured(select, words, ask) {
  /** @type {unknown} */
  let asked = select.value === "featured";
  return () => {
    asked ||= ask().then((page) => page.comments.length && offerFeatured(select, words), () => {});
  };
}
