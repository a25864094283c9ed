// @ts-check
/** The clock by which a reader hears of notifications. */

/** The reader's time zone; a browser may not know it. */
export function timeZone() {
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
  return !timeZone || timeZone === "Etc/Unknown" ? "UTC" : timeZone;
}
