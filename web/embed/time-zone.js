// @ts-check
/** The time zone by which Plaza schedules a reader's notifications. */

/** Return the browser's IANA time zone; UTC if it is unknown. */
export function timeZone() {
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
  return !timeZone || timeZone === "Etc/Unknown" ? "UTC" : timeZone;
}
