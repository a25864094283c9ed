import assert from "node:assert/strict";
import { test } from "node:test";

import { since } from "../../../web/embed/times.js";

process.env.TZ = "Europe/Amsterdam";
const at = (text) => new Date(text);

const ROWS = [
  ["a second", "2026-03-10T12:00:00", "2026-03-10T12:00:01", 0, "second"],
  ["a slow clock", "2026-03-10T12:18:00", "2026-03-10T12:00:00", 0, "second"],
  ["59 seconds", "2026-03-10T12:00:00", "2026-03-10T12:00:59", 0, "second"],
  ["a minute", "2026-03-10T12:00:00", "2026-03-10T12:01:00", 1, "minute"],
  ["almost an hour", "2026-03-10T12:00:00", "2026-03-10T12:59:59", 59, "minute"],
  ["minutes across midnight", "2026-03-10T23:50:00", "2026-03-11T00:10:00", 20, "minute"],
  ["an hour", "2026-03-10T12:00:00", "2026-03-10T13:00:00", 1, "hour"],
  ["almost a day", "2026-03-10T12:00:00", "2026-03-11T11:59:59", 23, "hour"],
  ["a day", "2026-03-10T12:00:00", "2026-03-11T12:00:00", 1, "day"],
  ["the evening of yesterday's eve", "2026-03-08T23:00:00", "2026-03-10T00:30:00", 2, "day"],
  ["the day before, late", "2026-03-09T00:01:00", "2026-03-10T23:59:00", 1, "day"],
  ["a day of 23 hours", "2026-03-28T12:00:00", "2026-03-29T12:30:00", 23, "hour"],
  ["a day of 25 hours", "2026-10-24T23:00:00", "2026-10-26T00:30:00", 2, "day"],
  ["thirty days", "2026-03-01T12:00:00", "2026-03-31T12:00:00", 30, "day"],
  ["a short month", "2026-02-01T12:00:00", "2026-03-01T12:00:00", 28, "day"],
  ["a month", "2026-03-10T12:00:00", "2026-04-10T12:00:00", 1, "month"],
  ["not yet a month", "2026-01-31T12:00:00", "2026-02-28T12:00:00", 28, "day"],
  ["almost a year", "2025-03-11T12:00:00", "2026-03-10T12:00:00", 11, "month"],
  ["a year", "2025-03-10T12:00:00", "2026-03-10T12:00:00", 1, "year"],
  ["from a leap day", "2024-02-29T12:00:00", "2026-02-28T12:00:00", 1, "year"],
];

for (const [name, then, now, count, unit] of ROWS) {
  test(`${name}: ${count} ${unit}`, () => assert.deepEqual(since(at(then), at(now)), [count, unit]));
}

test("what is said grows no younger and skips no step, for five years", () => {
  const ORDER = ["second", "minute", "hour", "day", "month", "year"];
  const then = at("2024-01-31T22:17:03");
  let last = [0, "second"];
  for (let passed = 0; passed < 5 * 366 * 864e5; passed += 17 * 6e4) {
    const [count, unit] = since(then, new Date(then.getTime() + passed));
    const isLater = ORDER.indexOf(unit) > ORDER.indexOf(last[1]) || (unit === last[1] && count >= last[0]);
    assert.ok(isLater, `${last} before ${count},${unit}`);
    last = [count, unit];
  }
});
