// @ts-check
/** The orders in which a discussion is read. */
import { h } from "./element.js";

/** @typedef {import("./plaza-api.js").components["schemas"]["CommentsAnswer"]} Page */

const BY_TIME = ["oldest", "newest"];
const BY_VOTES = ["best", "top"];

/** @param {string} order */
export const isByTime = (order) => BY_TIME.includes(order);

/** The `order` of an element; "" for none: the site's applies. @param {Element} element */
export function orderNamed(element) {
  const named = element.getAttribute("order") || "";
  return [...BY_TIME, ...BY_VOTES, "controversial", "featured"].includes(named) ? named : "";
}

/**
 * Make a select of a discussion's orders.
 * @param {import("./words.js").Words} words @param {Page} page
 * @param {(order: Page["order"]) => void} choose
 */
export function orderSelect({ t }, { node: { votes }, order }, choose) {
  const orders = [...BY_TIME, ...(votes === "off" ? [] : BY_VOTES), ...(votes === "up_down" ? ["controversial"] : [])];
  // List the page's order even if votes are off by now or nothing is featured.
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
 * Return a function that reads, on its first call, whether anything is featured, and then adds
 * that order to the select. Callers run it on hover or focus: most readers do neither.
 * @param {HTMLSelectElement} select @param {import("./words.js").Words} words @param {() => Promise<Page>} ask
 */
export function lookForFeatured(select, words, ask) {
  /** @type {unknown} */
  let asked = select.value === "featured";
  return () => {
    asked ||= ask().then((page) => page.comments.length && offerFeatured(select, words), () => {});
  };
}
