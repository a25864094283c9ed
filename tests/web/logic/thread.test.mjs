import assert from "node:assert/strict";
import { test } from "node:test";

import { indexIn } from "../../../web/embed/thread.js";

const root = (second) => ({ parent_id: null, posted_at: `2026-03-01T12:00:0${second}Z` });
const reply = (second, parent = "a") => ({ parent_id: parent, posted_at: `2026-03-01T12:00:0${second}Z` });

const ROWS = [
  ["an empty list", [], root(1), "oldest", -1],
  ["the last of the oldest", [root(1), root(2)], root(3), "oldest", -1],
  ["between", [root(1), root(3)], root(2), "oldest", 1],
  ["the first", [root(2), root(3)], root(1), "oldest", 0],
  ["of the same time", [root(1), root(1)], root(1), "oldest", -1],
  ["a fraction of a second", [root(1), { parent_id: null, posted_at: "2026-03-01T12:00:02.500Z" }], root(2), "oldest", 1],
  ["the newest", [root(3), root(1)], root(4), "newest", 0],
  ["between, newest first", [root(3), root(1)], root(2), "newest", 1],
  ["replies, wherever the newest come first", [reply(1), reply(3)], reply(2), "newest", 1],
  ["replies, wherever the best come first", [reply(1), reply(3)], reply(2), "best", 1],
  ["a reply to a comment of another page", [reply(9, "elsewhere"), root(2)], root(3), "oldest", -1],
];

for (const [name, siblings, comment, order, index] of ROWS) {
  test(`${name}: ${index}`, () => assert.equal(indexIn(siblings, comment, order), index));
}
