// @ts-check
/** A reader's letters of notifications: when they come, and where to. Readers who ask for the form load it. */
import { h, sheet } from "./element.js";
import { withMatters } from "./matters.js";
import { timeZone } from "./time-zone.js";
import letters from "./words/en/letters.js";
import css from "./letters.css";

/** @typedef {import("./plaza-api.js").components["schemas"]["MailChoiceAnswer"]} Choice */

const STYLES = sheet(css);
const PATH = "/notifications/mail";
const EVERY = ["off", "at_once", "hourly", "daily", "weekly"];
/** The longest address that the API takes. */
const MOST = 254;
const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
/** A Monday, in UTC. */
const MONDAY_MS = Date.UTC(2024, 0, 1);

/** A choice among labelled values. @param {string | number} chosen @param {(string | number)[]} values @param {(value: any) => string} label */
const select = (chosen, values, label) => /** @type {HTMLSelectElement} */ (
  h("select", { part: "input" }, ...values.map((value) => h("option", { value, selected: value === chosen }, label(value)))));

/** The numbers from `first` on. @param {number} first @param {number} count */
const numbers = (first, count) => Array.from({ length: count }, (_, number) => first + number);

/**
 * Read the reader's choice, and return what shows its form in a panel; throws when that fails.
 * @param {HTMLElement} panel @param {import("./inbox.js").Desk} desk @param {HTMLElement} button It leads here, and has the focus afterwards.
 */
export async function prepare(panel, { call, words }, button) {
  const { language, reason, t } = await withMatters(words, { letters });
  const time = (/** @type {number} */ ms, /** @type {Intl.DateTimeFormatOptions} */ options) => new Intl.DateTimeFormat(language, { ...options, timeZone: "UTC" }).format(ms);
  /** @type {Choice} */
  const choice = await call(PATH, { anew: true });
  const every = select(choice.every, EVERY, (each) => t(`every_${each}`));
  const weekday = select(choice.weekday, numbers(1, 7), (day) => time(MONDAY_MS + (day - 1) * DAY_MS, { weekday: "long" }));
  const hour = select(choice.hour, numbers(0, 24), (each) => time(MONDAY_MS + each * HOUR_MS, { hour: "numeric", minute: "2-digit" }));
  const email = /** @type {HTMLInputElement} */ (h("input", { type: "email", maxlength: MOST, autocomplete: "email", dir: "ltr", part: "input" }));
  const field = (/** @type {string} */ key, /** @type {HTMLElement} */ input) => h("label", {}, h("span", {}, t(key)), input);
  const [ofWeeks, ofDays, ofAll] = [field("lettersWeekday", weekday), field("lettersHour", hour), field("lettersEmail", email)];
  const zone = h("small", {}, t("lettersZone", { zone: timeZone() }));
  const status = h("p", { role: "status" });
  const refusal = h("p", { role: "alert" });
  const form = h("form", { part: "form", onsubmit: save, oninput: changed },
    field("lettersEvery", every), ofWeeks, ofDays, zone, ofAll,
    h("button", { class: "more", part: "button primary" }, t("lettersSave")), status, refusal);
  let isSending = false;

  /** What is stored, as a sentence. @param {Choice} stored @param {string} before */
  function tell(stored, before = "") {
    email.value ||= stored.email || "";
    // The address keeps its direction within the sentence.
    status.textContent = before + t(`letters_${stored.state}`, { email: `\u2068${stored.email}\u2069` });
  }

  function changed() {
    const isOff = every.value === "off";
    ofWeeks.hidden = every.value !== "weekly";
    ofDays.hidden = zone.hidden = isOff || !["daily", "weekly"].includes(every.value);
    ofAll.hidden = isOff;
    status.textContent = refusal.textContent = "";
  }

  /** @param {Event} event */
  async function save(event) {
    event.preventDefault();
    if (isSending) return;
    isSending = true;
    changed();
    const body = { every: every.value, hour: Number(hour.value), weekday: Number(weekday.value), time_zone: timeZone(), language, email: email.value || undefined };
    await call(PATH, { method: "PUT", body }).then((stored) => tell(stored, `${t("lettersSaved")} `), (error) => { refusal.textContent = reason(error); });
    isSending = false;
  }

  return () => {
    const root = /** @type {ShadowRoot} */ (panel.getRootNode());
    root.adoptedStyleSheets = [...new Set([...root.adoptedStyleSheets, STYLES])];
    const before = [...panel.childNodes];
    const back = () => { panel.replaceChildren(...before); button.focus(); };
    const header = h("header", {}, h("h2", { part: "title" }, t("lettersTitle")), h("button", { part: "button", onclick: back }, t("lettersBack")));
    panel.replaceChildren(header, form);
    changed();
    tell(choice);
    every.focus();
  };
}
