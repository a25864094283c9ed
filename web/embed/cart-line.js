// @ts-check
/** The lines of a cart, renewed in place: a number being typed stays. */
import { h } from "./element.js";

/** @typedef {import("./cart-words.js").CartWords} CartWords */
/** @typedef {import("./plaza-api.js").components["schemas"]["LineAnswer"]} Line */
/** @typedef {{set: (line: Line, qty: number) => Promise<void>, remove: (line: Line) => void}} Acts */
/** @typedef {{item: HTMLElement, show: (line: Line, currency: string) => void}} Row */

const MOST_UNITS = 999;

/** Return a function that shows lines in a list; remaining lines keep their element and the focus. @param {HTMLElement} list @param {CartWords} words @param {Acts} acts */
export function linesIn(list, words, acts) {
  /** @type {Map<string, Row>} */
  const rows = new Map();
  return (/** @type {Line[]} */ lines, /** @type {string} */ currency) => {
    for (const [sku, { item }] of rows) {
      if (lines.some((line) => line.sku === sku)) continue;
      item.remove();
      rows.delete(sku);
    }
    lines.forEach((line, at) => {
      const row = rows.get(line.sku) || rowOf(words, acts);
      rows.set(line.sku, row);
      row.show(line, currency);
      if (list.children[at] !== row.item) list.insertBefore(row.item, list.children[at] || null);
    });
  };
}

/** @param {CartWords} words @param {Acts} acts @returns {Row} */
function rowOf({ t, money, time }, acts) {
  /** @type {Line} */
  let line;
  let isTyping = false;
  const title = h("b", { dir: "auto" });
  const code = h("small", { dir: "ltr" });
  const price = h("span", { class: "price" });
  const state = h("small");
  const units = /** @type {HTMLInputElement} */ (h("input", {
    type: "number", min: 1, max: MOST_UNITS, required: true, inputmode: "numeric", part: "input",
    oninput: () => (isTyping = true),
    async onchange() {
      const wanted = units.valueAsNumber;
      if (units.validity.valid && wanted !== line.qty) {
        await acts.set(line, wanted);
        // The reader has typed another number meanwhile; its own change event follows.
        if (units.valueAsNumber !== wanted) return;
      }
      isTyping = false;
      units.value = String(line.qty);
    },
  }));
  const remove = h("button", { part: "button", class: "remove", onclick: () => acts.remove(line) }, "×");
  const item = h("li", { part: "line", tabindex: -1 }, h("div", {}, title, code, state), units, price, remove);
  return {
    item,
    show(given, currency) {
      line = given;
      title.textContent = line.title;
      code.textContent = line.sku;
      price.textContent = money(line.qty * line.price_micros, currency);
      state.textContent = line.lapsed ? t("lapsed") : t("held", { time: time(line.until) });
      state.className = line.lapsed ? "lapsed" : "";
      units.setAttribute("aria-label", t("qty", { title: line.title }));
      remove.setAttribute("aria-label", t("remove", { title: line.title }));
      if (!isTyping) units.value = String(line.qty);
    },
  };
}
