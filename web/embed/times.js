// @ts-check
/** Relative times; from a day on, they count calendar days of the reader's time zone. */
import { h } from "./element.js";

const MINUTE = 6e4;
const HOUR = 36e5;
const DAY = 864e5;
/** More days than this are counted in months. */
const MOST_DAYS = 30;

/**
 * The time since a moment in whole units: 0 seconds within the first minute, and for a moment that
 * a slow clock still has ahead.
 * @param {Date} then @param {Date} now @returns {[number, Intl.RelativeTimeFormatUnit]}
 */
export function since(then, now) {
  const passed = +now - +then;
  if (passed < MINUTE) return [0, "second"];
  if (passed < HOUR) return [Math.floor(passed / MINUTE), "minute"];
  if (passed < DAY) return [Math.floor(passed / HOUR), "hour"];
  const days = dayOf(now) - dayOf(then);
  const months = monthOf(now) - monthOf(then) - Number(now.getDate() < then.getDate());
  if (months < 1 || days <= MOST_DAYS) return [days, "day"];
  return months < 12 ? [months, "month"] : [Math.floor(months / 12), "year"];
}

/** The number of a calendar day since 1970; daylight saving does not shift it. @param {Date} at */
const dayOf = (at) => Date.UTC(at.getFullYear(), at.getMonth(), at.getDate()) / DAY;

/** @param {Date} at */
const monthOf = (at) => 12 * at.getFullYear() + at.getMonth();

/** Say how long ago a time was, in words of a locale. @param {string} iso @param {string} locale */
export function ago(iso, locale) {
  const [count, unit] = since(new Date(iso), new Date());
  return new Intl.RelativeTimeFormat(locale, { numeric: "auto", style: "short" }).format(-count, unit);
}

/**
 * Make a `<time>` with its age as text; `renewTimes` renews the text.
 * @param {string} iso @param {string} locale
 */
export function when(iso, locale) {
  return h("time", { datetime: iso, lang: locale, title: new Date(iso).toLocaleString(locale) }, ago(iso, locale));
}
