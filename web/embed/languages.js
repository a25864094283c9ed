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

/** The known language of a place: by the nearest `lang`, also outside of a component, or the browser's. @param {Element} element @param {readonly string[]} known */
export function languageAt(element, known) {
  for (let each = /** @type {Element | null} */ (element); each; each = around(each)) {
    const tag = each.getAttribute("lang");
    if (tag) return nearestOf([tag], known);
  }
  return nearestOf(navigator.languages, known);
}

/** @param {string} language */
export const isRtl = (language) => /^(ar|fa|he|ur)\b/.test(language);
