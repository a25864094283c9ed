// @ts-check
/** The address form of the checkout: its text survives every failure, and its key makes one order. */
import { h } from "./element.js";
import { newKey } from "./key.js";

/** @typedef {import("./cart-words.js").CartWords} CartWords */
/** @typedef {import("./plaza-api.js").components["schemas"]["Checkout"]} Agreement */
/**
 * @typedef {object} FormOptions
 * @property {CartWords} words
 * @property {string} place The key of the draft in the browser.
 * @property {string} countries The offered countries' codes; "" for all.
 * @property {() => number} total The shown total, in micros.
 * @property {(agreement: Agreement, key: string) => Promise<void>} send `key` is the same for an equal agreement until the shop answers.
 * @property {(error: unknown) => string} reason
 * @property {(error: unknown) => boolean} isAnswered Whether the shop has decided something.
 * @property {typeof import("./cart-kept.js").typed} typed Keeps the draft.
 */

// ISO 3166-1, alpha-2.
const COUNTRIES = "AD AE AF AG AI AL AM AO AQ AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ BR BS BT BV BW BY BZ CA CC CD CF CG CH CI CK CL CM CN CO CR CU CV CW CX CY CZ DE DJ DK DM DO DZ EC EE EG EH ER ES ET FI FJ FK FM FO FR GA GB GD GE GF GG GH GI GL GM GN GP GQ GR GS GT GU GW GY HK HM HN HR HT HU ID IE IL IM IN IO IQ IR IS IT JE JM JO JP KE KG KH KI KM KN KP KR KW KY KZ LA LB LC LI LK LR LS LT LU LV LY MA MC MD ME MF MG MH MK ML MM MN MO MP MQ MR MS MT MU MV MW MX MY MZ NA NC NE NF NG NI NL NO NP NR NU NZ OM PA PE PF PG PH PK PL PM PN PR PS PT PW PY QA RE RO RS RU RW SA SB SC SD SE SG SH SI SJ SK SL SM SN SO SR SS ST SV SX SY SZ TC TD TF TG TH TJ TK TL TM TN TO TR TT TV TW TZ UA UG UM US UY UZ VA VC VE VG VI VN VU WF WS XK YE YT ZA ZM ZW";
// Each with its autofill name (WCAG 2.2, 1.3.5). None has a `maxlength`: it would cut a pasted address without a word.
const FIELDS = /** @type {const} */ ([
  ["email", "email"],
  ["name", "name"],
  ["street", "address-line1"],
  ["postal_code", "postal-code"],
  ["city", "address-level2"],
  ["region", "address-level1"],
]);
// The country decides whether an address has the others.
const REQUIRED = ["email", "name", "street"];

/** @param {string} codes @param {CartWords} words */
function countryChoice(codes, { t, locale }) {
  const names = new Intl.DisplayNames([locale], { type: "region" });
  const offered = (codes.trim() || COUNTRIES).split(/[\s,]+/).filter(Boolean).map((code) => ({ code, name: names.of(code) || code }));
  offered.sort((one, other) => one.name.localeCompare(other.name, locale));
  const own = new Intl.Locale(navigator.language).region;
  return /** @type {HTMLSelectElement} */ (h("select", { id: "country", name: "country", required: true, autocomplete: "country", part: "input" },
    offered.length > 1 && h("option", { value: "" }, t("choose")),
    ...offered.map(({ code, name }) => h("option", { value: code, selected: code === own }, name))));
}

/** @param {FormOptions} options */
export function addressForm({ words, place, countries, total, send, reason, isAnswered, typed }) {
  const { t } = words;
  /** @type {{values?: Record<string, string>, sent?: {key: string, text: string} | null}} */
  const draft = typed.read(place) || {};
  /** @type {Record<string, HTMLInputElement | HTMLSelectElement>} */
  const fields = {};
  for (const [name, autocomplete] of FIELDS) {
    fields[name] = /** @type {HTMLInputElement} */ (h("input", {
      id: name, name, autocomplete, part: "input", dir: "auto",
      type: name === "email" ? "email" : "text",
      required: REQUIRED.includes(name),
    }));
  }
  fields.country = countryChoice(countries, words);
  for (const name in draft.values) if (name in fields) fields[name].value = draft.values[name];
  const told = h("p", { role: "alert", class: "note", hidden: true });
  const button = /** @type {HTMLButtonElement} */ (h("button", { class: "primary", part: "button primary" }));
  const form = /** @type {HTMLFormElement} */ (h("form", { part: "form", oninput: keep, onsubmit: submit },
    ...Object.values(fields).map((field) => h("p", { class: field.name }, h("label", { for: field.id, part: "label" }, t(field.name)), field)),
    told, h("p", { class: "row" }, button)));

  /** Show the order's total on the button. */
  const priced = (/** @type {string} */ text) => (button.textContent = t("buy", { total: text }));

  function keep() {
    draft.values = Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, field.value]));
    typed.write(place, draft);
  }

  /** @returns {Agreement} */
  function agreement() {
    const { email, ...address } = Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, field.value.trim()]));
    return { total_micros: total(), email, address: /** @type {any} */ ({ ...address, city: address.city || null, region: address.region || null }) };
  }

  /** @param {Event} event */
  async function submit(event) {
    event.preventDefault();
    if (button.ariaDisabled) return;
    const agreed = agreement();
    const text = JSON.stringify(agreed);
    // An unanswered call may have made an order: an equal agreement goes out under its key.
    if (draft.sent?.text !== text) draft.sent = { key: newKey(), text };
    keep();
    const before = button.textContent;
    // A disabled button would lose the focus.
    button.ariaDisabled = "true";
    button.textContent = t("buying");
    told.hidden = true;
    for (const field of Object.values(fields)) field.removeAttribute("aria-invalid");
    try {
      await send(agreed, draft.sent.key);
      draft.sent = null;
      // A paid order has removed the draft.
      if (!typed.read(place)) return;
    } catch (error) {
      if (isAnswered(error)) draft.sent = null;
      if (button.textContent === t("buying")) button.textContent = before;
      say(error);
    }
    keep();
    button.ariaDisabled = null;
  }

  /** @param {unknown} error */
  function say(error) {
    const { body } = /** @type {Partial<import("./api.js").Problem>} */ (error);
    const faults = (body?.errors || []).map(({ field }) => fields[field.split(".").slice(-1)[0]]).filter(Boolean);
    for (const field of faults) field.setAttribute("aria-invalid", "true");
    faults[0]?.focus();
    const text = faults.length ? t("checkFields", { fields: faults.map(({ name }) => t(name)).join(", ") }) : reason(error);
    told.textContent = isAnswered(error) ? text : `${text} ${t("keptForm")}`;
    told.hidden = false;
  }

  return { form, priced, start: () => fields.email.focus() };
}
