// @ts-check
/**
 * Texts by matter (`words/<language>/<matter>.js`). A module that shows
 * texts contains them in English, and loads those of the reader's language.
 */
import { load } from "./load.js";

/** @typedef {Record<string, string>} Texts */
/** @typedef {import("./words.js").Words} Words */

/**
 * Load a language's texts of some matters; all in English if one file fails to load.
 * @param {string} language @param {Record<string, Texts>} matters In English. @param {Words["t"]} otherwise Looks up keys of other matters.
 */
export async function speak(language, matters, otherwise) {
  /** @type {Texts} */
  const english = Object.assign({}, ...Object.values(matters));
  /** @param {string} matter @returns {Promise<Texts>} */
  const textsOf = async (matter) => (await load(`./words-${language}-${matter}.js`)).default;
  const own = /** @type {Texts} */ (language === "en" ? english : await Promise.all(Object.keys(matters).map(textsOf)).then((all) => Object.assign({}, ...all), () => english));
  const spoken = own === english ? "en" : language;
  const plural = new Intl.PluralRules(spoken);
  /** @type {Words["t"]} */
  const t = (key, values = {}) => {
    const form = "n" in values ? own[`${key}.${plural.select(Number(values.n))}`] || own[`${key}.other`] : own[key];
    const text = window.plaza?.words?.[key] || form || english[key];
    return text ? text.replace(/\{(\w+)\}/g, (_, name) => String(values[name])) : otherwise(key, values);
  };
  return { language: spoken, english, t };
}

/**
 * Return words that look up further matters first, then the given words.
 * @param {Words} words @param {Record<string, Texts>} matters In English. @returns {Promise<Words>}
 */
export async function withMatters(words, matters) {
  const { english, t } = await speak(words.language, matters, words.t);
  return {
    ...words,
    t,
    reason(error) {
      const code = /** @type {{code?: string} | null} */ (error)?.code || "";
      return code in english ? t(code) : words.reason(error);
    },
  };
}
