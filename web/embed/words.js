// @ts-check
/** What an element says, in its reader's language. */
import { Problem } from "./api.js";
import { isRtl, languagesOf } from "./element.js";
import COMMON from "./words/en/common.js";

/** The files of the other languages; the build writes the addresses of this release. */
const LANGUAGES = /** @type {Record<string, string>} */ (BUILT_LANGUAGES);

/**
 * @typedef {object} Words
 * @property {string} language
 * @property {boolean} isRtl
 * @property {(key: string, values?: Record<string, string | number>) => string} t
 * @property {(error: unknown) => string} reason What went wrong; a fault of the element itself is told on the console, too.
 */

/** The words of a language, from the nearest `lang`. @param {Element} element @param {Record<string, string>} [own] the element's own in English @returns {Promise<Words>} */
export async function wordsFor(element, own) {
  const tag = languagesOf(element).find((each) => each in LANGUAGES || each === "en") || "en";
  /** @type {Record<string, string>} */
  const english = { ...COMMON, ...own };
  let words = english;
  if (tag !== "en") {
    words = await import(new URL(LANGUAGES[tag], import.meta.url).href).then((module) => module.default, () => english);
  }
  const language = words === english ? "en" : tag;
  const plural = new Intl.PluralRules(language);
  /** @type {Words["t"]} */
  const t = (key, values = {}) => {
    const form = "n" in values ? words[`${key}.${plural.select(Number(values.n))}`] || words[`${key}.other`] : words[key];
    const text = window.plaza?.words?.[key] || form || english[key] || key;
    return text.replace(/\{(\w+)\}/g, (_, name) => String(values[name]));
  };
  return {
    language,
    isRtl: isRtl(language),
    t,
    reason(error) {
      if (!(error instanceof Problem)) {
        console.error(error);
        return t("internal");
      }
      const told = t(error.code);
      return told === error.code ? t("failed", { reason: error.message || error.code }) : told;
    },
  };
}

const STEPS = /** @type {const} */ ([["year", 31536e6], ["month", 2592e6], ["day", 864e5], ["hour", 36e5], ["minute", 6e4]]);

/** @param {string} iso @param {string} language */
export function ago(iso, language) {
  const passed = new Date(iso).getTime() - Date.now();
  const format = new Intl.RelativeTimeFormat(language, { numeric: "auto", style: "short" });
  for (const [unit, size] of STEPS) if (Math.abs(passed) >= size) return format.format(Math.round(passed / size), unit);
  return format.format(0, "minute");
}
