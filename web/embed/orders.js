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
  const orders = [...BY_TIME, ...(votes === "off" ? [] : BY_VOTES), ...(votes === "up_down" ? ["controversial"] : []), "featured"];
  // The one that was asked for is told, even where nobody votes any more.
  if (!orders.includes(order)) orders.push(order);
  const select = /** @type {HTMLSelectElement} */ (h("select", {
    "aria-label": t("order"), part: "input", onchange: () => choose(/** @type {Page["order"]} */ (select.value)),
  }, ...orders.map((each) => h("option", { value: each }, t(each)))));
  select.value = order;
  return select;
}
