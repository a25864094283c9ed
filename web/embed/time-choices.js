// @ts-check
/** Choices among values, and the names of hours and weekdays in a language. */
import { h } from "./element.js";

/** A Monday, in UTC. */
const MONDAY_MS = Date.UTC(2024, 0, 1);
const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
export const HOURS = numbers(0, 24);

/** The numbers from `first` on. @param {number} first @param {number} count */
export function numbers(first, count) {
  return Array.from({ length: count }, (_, number) => first + number);
}

/** A choice among labelled values. @param {string | number} chosen @param {(string | number)[]} values @param {(value: any) => string} label */
export function select(chosen, values, label) {
  return /** @type {HTMLSelectElement} */ (
    h("select", { part: "input" }, ...values.map((value) => h("option", { value, selected: value === chosen }, label(value)))));
}

/** Names of hours. @param {string} locale @returns {(hour: number) => string} */
export function hourNames(locale) {
  const format = new Intl.DateTimeFormat(locale, { hour: "numeric", minute: "2-digit", timeZone: "UTC" });
  return (hour) => format.format(MONDAY_MS + hour * HOUR_MS);
}

/** Names of weekdays, 1 for Monday. @param {string} locale @returns {(day: number) => string} */
export function weekdayNames(locale) {
  const format = new Intl.DateTimeFormat(locale, { weekday: "long", timeZone: "UTC" });
  return (day) => format.format(MONDAY_MS + (day - 1) * DAY_MS);
}
