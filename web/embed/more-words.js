// @ts-check
/** Words that stand in files of their own, beside those of all elements. */

/** @typedef {import("./words.js").Words} Words */

/**
 * The words of a language's further file, before those that an element has already.
 * @param {Words} words @param {Record<string, string>} files By language. @param {Record<string, string>} english
 * @returns {Promise<Words>}
 */
export async function moreWords(words, files, english) {
  const { language } = words;
  /** @type {Record<string, string>} */
  const own = language in files
    ? await import(new URL(files[language], import.meta.url).href).then((module) => module.default, () => english)
    : english;
  const plural = new Intl.PluralRules(own === english ? "en" : language);
  /** @type {Words["t"]} */
  const t = (key, values = {}) => {
    const form = "n" in values ? own[`${key}.${plural.select(Number(values.n))}`] || own[`${key}.other`] : own[key];
    const text = window.plaza?.words?.[key] || form || english[key];
    return text ? text.replace(/\{(\w+)\}/g, (_, name) => String(values[name])) : words.t(key, values);
  };
  return {
    ...words,
    t,
    reason(error) {
      const code = /** @type {{code?: string} | null} */ (error)?.code || "";
      return code in english ? t(code) : words.reason(error);
    },
  };
}
