// @ts-check
/** Languages: the reader's, and the nearest of those that Plaza has words in. */
import { around } from "./around.js";

/** A language and its script: `zh` and `zh_SG` are `zh-Hans`; "" for no language. @param {string} tag */
function nameOf(tag) {
  try {
    const { language, script } = new Intl.Locale(tag.trim().replace(/_/g, "-")).maximize();
    return `${language}-${script}`;
  } catch {
    return "";
  }
}

/**
 * The first wanted language that is known, compared by language and script; else "en".
 * @param {readonly string[]} wanted BCP 47 tags, the best first. @param {readonly string[]} known
 */
export function nearestOf(wanted, known) {
  const names = ["en", ...known].map((tag) => /** @type {const} */ ([nameOf(tag), tag]));
  for (const tag of wanted) {
    const name = nameOf(tag);
    const found = names.find(([each]) => each === name);
    if (found) return found[1];
  }
  return "en";
}

/** The nearest known language of an element. @param {Element} element @param {readonly string[]} known */
export const languageAt = (element, known) => nearestOf(tagsAt(element), known);

/**
 * The locale for an element's numbers and times: the page's or the browser's tag of this language
 * with its region, as `en-GB`; the language itself if no tag matches.
 * @param {Element} element @param {string} language The element's known language.
 */
export function localeAt(element, language) {
  const tag = tagsAt(element).find((each) => nameOf(each) === nameOf(language));
  return tag ? tag.trim().replace(/_/g, "-") : language;
}

/**
 * An element's language tags: the nearest `lang`, across shadow roots, or else the browser's tags.
 * @param {Element} element @returns {readonly string[]}
 */
function tagsAt(element) {
  for (let each = /** @type {Element | null} */ (element); each; each = around(each)) {
    const tag = each.getAttribute("lang");
    if (tag) return [tag];
  }
  return navigator.languages;
}

/** @param {string} language */
export const isRtl = (language) => /^(ar|fa|he|ur)\b/.test(language);
