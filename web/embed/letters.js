// @ts-check
/** The form for emails of notifications: their times and address. Loaded when a reader opens it. */
import { h, sheet } from "./element.js";
import { withMatters } from "./matters.js";
import { addStyles, showForm } from "./panel-form.js";
import { HOURS, hourNames, numbers, select, weekdayNames } from "./time-choices.js";
import { timeZone } from "./time-zone.js";
import letters from "./words/en/letters.js";
import css from "./panel-form.css";

/** @typedef {import("./plaza-api.js").components["schemas"]["MailChoiceAnswer"]} Choice */

const STYLES = sheet(css);
const PATH = "/notifications/mail";
const EVERY = ["off", "at_once", "hourly", "daily", "weekly"];
/** @param {string} every */
const hasHour = (every) => every === "daily" || every === "weekly";

/**
 * Read the reader's choice; return a function that shows its form in a panel. Throws a Problem if
 * the read fails.
 * @param {HTMLElement} panel @param {import("./inbox.js").Desk} desk
 * @param {HTMLElement} button Opened the form; gets the focus after it.
 */
export async function prepare(panel, { call, words }, button) {
  const { language, locale, reason, t } = await withMatters(words, { letters });
  /** @type {Choice} */
  const choice = await call(PATH, { anew: true });
  const every = select(choice.every, EVERY, (each) => t(`every_${each}`));
  const weekday = select(choice.weekday, numbers(1, 7), weekdayNames(locale));
  const hour = select(choice.hour, HOURS, hourNames(locale));
  const email = /** @type {HTMLInputElement} */ (h("input", { type: "email", autocomplete: "email", dir: "ltr", part: "input" }));
  const field = (/** @type {string} */ key, /** @type {HTMLElement} */ input) => h("label", {}, h("span", {}, t(key)), input);
  const [ofWeeks, ofDays, ofAll] = [field("lettersWeekday", weekday), field("lettersHour", hour), field("lettersEmail", email)];
  // The stored hour belongs to the time zone in which the reader chose it.
  let zoneOfHour = hasHour(choice.every) ? choice.time_zone : timeZone();
  const zone = h("small", { "aria-live": "polite" });
  const status = h("p", { role: "status" });
  const refusal = h("p", { role: "alert" });
  const form = h("form", { part: "form", onsubmit: save, oninput: changed },
    field("lettersEvery", every), ofWeeks, ofDays, zone, ofAll,
    h("button", { class: "more", part: "button primary" }, t("lettersSave")), status, refusal);
  let isSending = false;

  /** Show the stored choice as a sentence. @param {Choice} stored @param {string} before */
  function tell(stored, before = "") {
    email.value ||= stored.email || "";
    // The address keeps its direction within the sentence.
    status.textContent = before + t(`letters_${stored.state}`, { email: `\u2068${stored.email}\u2069` });
  }

  /** @param {Event} [event] */
  function changed(event) {
    if (event?.target === hour) zoneOfHour = timeZone();
    zone.textContent = t("lettersZone", { zone: zoneOfHour });
    const isOff = every.value === "off";
    ofWeeks.hidden = every.value !== "weekly";
    ofDays.hidden = zone.hidden = !hasHour(every.value);
    // The browser must not check, nor the form send, an address that is not asked for.
    ofAll.hidden = email.disabled = isOff;
    status.textContent = refusal.textContent = "";
  }

  /** @param {Event} event */
  async function save(event) {
    event.preventDefault();
    if (isSending) return;
    isSending = true;
    changed();
    const body = { every: every.value, hour: Number(hour.value), weekday: Number(weekday.value), time_zone: hasHour(every.value) ? zoneOfHour : timeZone(), language, email: (!email.disabled && email.value) || undefined };
    await call(PATH, { method: "PUT", body }).then((stored) => tell(stored, `${t("lettersSaved")} `), (error) => { refusal.textContent = reason(error); });
    isSending = false;
  }

  return () => {
    addStyles(panel, STYLES);
    showForm(panel, button, t("lettersTitle"), t("lettersBack"), form);
    changed();
    tell(choice);
    every.focus();
  };
}
