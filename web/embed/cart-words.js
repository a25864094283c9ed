// @ts-check
/** What a cart says, in its reader's language, and why something failed. */
import { Problem } from "./api.js";
import { withMatters } from "./matters.js";
import { wordsFor } from "./words.js";
import cart from "./words/en/cart.js";

const MICROS = 1e6;

/** @typedef {import("./plaza-api.js").components["schemas"]["CartAnswer"]} Cart */
/**
 * @typedef {Omit<import("./words.js").Words, "reason"> & {
 *   reason: (error: unknown, cart?: Cart | null, title?: string) => string,
 *   money: (micros: number, currency: string) => string,
 *   time: (iso: string) => string,
 * }} CartWords
 */

/** The words of a cart, from the nearest `lang`. @param {Element} element @returns {Promise<CartWords>} */
export async function cartWords(element) {
  const words = await withMatters(await wordsFor(element), { cart });
  const { locale, t } = words;
  /** @type {CartWords["money"]} */
  const money = (micros, currency) => {
    // Browsers round amounts of some currencies that the shop does not round.
    const usual = new Intl.NumberFormat(locale, { style: "currency", currency });
    if (micros % MICROS === 0) return usual.format(micros / MICROS);
    const digits = Math.max(usual.resolvedOptions().maximumFractionDigits || 0, micros % 1e4 ? 3 : 2);
    return new Intl.NumberFormat(locale, { style: "currency", currency, minimumFractionDigits: digits, maximumFractionDigits: digits }).format(micros / MICROS);
  };
  return {
    ...words,
    money,
    time: (iso) => new Date(iso).toLocaleTimeString(locale, { hour: "numeric", minute: "2-digit" }),
    reason(error, cart, title) {
      /** @type {any} */
      const facts = (error instanceof Problem && error.body.facts) || {};
      const code = error instanceof Problem && error.code;
      if (code === "total_changed") return t(code, { total: money(facts.total_micros, cart?.currency || "") });
      if (code !== "out_of_stock") return words.reason(error);
      const named = cart?.lines.find(({ sku }) => sku === facts.sku)?.title || title || facts.sku;
      return facts.available ? t("left", { n: facts.available, title: named }) : t("soldOut", { title: named });
    },
  };
}
