// @ts-check
/** What an element says, in its reader's language. */
import { isRtl, languageAt, localeAt } from "./languages.js";
import { speak } from "./matters.js";
import common from "./words/en/common.js";

/** The other languages that there are words in; the build lists them. */
const LANGUAGES = /** @type {string[]} */ (BUILT_LANGUAGES);

/**
 * @typedef {object} Words
 * @property {string} language
 * @property {string} locale The language with its region, for numbers and times.
 * @property {boolean} isRtl
 * @property {(key: string, values?: Record<string, string | number>) => string} t
 * @property {(error: unknown) => string} reason What went wrong; a fault of the element itself is told on the console, too.
 */

/** The words of an element, in the language of its place. @param {Element} element @param {Record<string, Record<string, string>>} [matters] Its own, in English; loaded in other languages. @returns {Promise<Words>} */
export async function wordsFor(element, matters) {
  const { language, t } = await speak(languageAt(element, LANGUAGES), { common, ...matters }, (key) => key);
  return {
    language,
    locale: localeAt(element, language),
    isRtl: isRtl(language),
    t,
    reason(error) {
      const { code, body, message } = /** @type {any} */ (error);
      // A fault of the element itself has no code of the API, or the number of a DOMException.
      if (typeof code !== "string") {
        console.error(error);
        return t("internal");
      }
      const told = t(code, body);
      return told === code ? t("failed", { reason: message || code }) : told;
    },
  };
}
