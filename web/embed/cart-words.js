// @ts-check
/** What a cart says, in its reader's language, and why something failed. */
import { Problem } from "./api.js";
import { wordsFor } from "./words.js";
import english from "./words/en/cart.js";

/** The files of the other languages; the build writes the addresses of this release. */
const CART_LANGUAGES = /** @type {Record<string, string>} */ (BUILT_CART_LANGUAGES);
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
  const words = await wordsFor(element);
  const { language } = words;
  /** @type {Record<string, string>} */
  const own = language in CART_LANGUAGES
    ? await import(new URL(CART_LANGUAGES[language], import.meta.url).href).then((module) => module.default, () => english)
    : english;
  const plural = new Intl.PluralRules(own === english ? "en" : language);
  /** @type {Record<string, string>} */
  const spare = english;
  /** @type {CartWords["t"]} */
  const t = (key, values = {}) => {
    const form = "n" in values ? own[`${key}.${plural.select(Number(values.n))}`] || own[`${key}.other`] : own[key];
    const text = window.plaza?.words?.[key] || form || spare[key];
    return text ? text.replace(/\{(\w+)\}/g, (_, name) => String(values[name])) : words.t(key, values);
  };
  /** @type {CartWords["money"]} */
  const money = (micros, currency) => new Intl.NumberFormat(language, { style: "currency", currency }).format(micros / MICROS);
  return {
    ...words,
    t,
    money,
    time: (iso) => new Date(iso).toLocaleTimeString(language, { hour: "numeric", minute: "2-digit" }),
    reason(error, cart, title) {
      const code = error instanceof Problem && error.code in spare ? error.code : "";
      /** @type {any} */
      const facts = (error instanceof Problem && error.body.facts) || {};
      if (code === "total_changed") return t(code, { total: money(facts.total_micros, cart?.currency || "") });
      if (!(error instanceof Problem) || error.code !== "out_of_stock") return code ? t(code) : words.reason(error);
      const named = cart?.lines.find(({ sku }) => sku === facts.sku)?.title || title || facts.sku;
      return facts.available ? t("left", { n: facts.available, title: named }) : t("soldOut", { title: named });
    },
  };
}
