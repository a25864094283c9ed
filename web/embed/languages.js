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
 * The first language that is known, by language and script; without one, English.
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

/** The known language of a place. @param {Element} element @param {readonly string[]} known */
export const languageAt = (element, known) => nearestOf(tagsAt(element), known);

/** How numbers and times are written at a place: as its page's tag says, or its browser's, with the region of an `en-GB`. @param {Element} element @param {string} language Its known language. */
export function localeAt(element, language) {
  const tag = tagsAt(element).find((each) => nameOf(each) === nameOf(language));
  return tag ? tag.trim().replace(/_/g, "-") : language;
}

/** The tags of a place: the nearest `lang`, also outside of a component, or the browser's. @param {Element} element @returns {readonly string[]} */
function tagsAt(element) {
  for (let each = /** @type {Element | null} */ (element); each; each = around(each)) {
    const tag = each.getAttribute("lang");
    if (tag) return [tag];
  }
  return navigator.languages;
}

/** @param {string} language */
export const isRtl = (language) => /^(ar|fa|he|ur)\b/.test(language);
