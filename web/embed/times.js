// @ts-check
/** Times as a reader counts them: by calendar days of their own zone. */
import { h } from "./element.js";

const MINUTE = 6e4;
const HOUR = 36e5;
const DAY = 864e5;
/** More days than this are counted in months. */
const MOST_DAYS = 30;

/**
 * How long ago something was, in whole units; a slow clock makes no future.
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

/** The number of a calendar day, which no change of the clock shifts. @param {Date} at */
const dayOf = (at) => Date.UTC(at.getFullYear(), at.getMonth(), at.getDate()) / DAY;

/** @param {Date} at */
const monthOf = (at) => 12 * at.getFullYear() + at.getMonth();

/** @param {string} iso @param {string} locale */
export function ago(iso, locale) {
  const [count, unit] = since(new Date(iso), new Date());
  return new Intl.RelativeTimeFormat(locale, { numeric: "auto", style: "short" }).format(-count, unit);
}

/** A time; `renewTimes` keeps it true. @param {string} iso @param {string} locale */
export function when(iso, locale) {
  return h("time", { datetime: iso, lang: locale, title: new Date(iso).toLocaleString(locale) }, ago(iso, locale));
}
