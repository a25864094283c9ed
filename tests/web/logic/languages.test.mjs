import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { test } from "node:test";

import { isRtl, nearestOf } from "../../../web/embed/languages.js";

const KNOWN = readdirSync(new URL("../../../web/embed/words", import.meta.url)).filter((each) => each !== "en");

const ROWS = [
  ["zh", "zh-cn"],
  ["zh-CN", "zh-cn"],
  ["zh-cn", "zh-cn"],
  ["zh_CN", "zh-cn"],
  ["zh-Hans", "zh-cn"],
  ["ZH-HANS", "zh-cn"],
  ["zh-SG", "zh-cn"],
  ["zh-Hans-HK", "zh-cn"],
  ["zh-MY", "zh-cn"],
  ["cmn", "zh-cn"],
  // Readers of traditional characters get English.
  ["zh-Hant", "en"],
  ["zh-TW", "en"],
  ["zh-HK", "en"],
  ["zh-MO", "en"],
  ["yue", "en"],
  ["pt", "pt-br"],
  ["pt-PT", "pt-br"],
  ["pt_BR", "pt-br"],
  ["PT-BR", "pt-br"],
  ["de-AT", "de"],
  ["de_AT", "de"],
  ["DE", "de"],
  ["de-CH-1996", "de"],
  ["de-Latn", "de"],
  ["de-x-own", "de"],
  [" de ", "de"],
  ["deu", "de"],
  ["es-419", "es"],
  ["ar-EG", "ar"],
  ["uk-UA", "uk"],
  ["ru-Latn", "en"],
  ["ja-JP-u-ca-japanese", "ja"],
  ["en", "en"],
  ["en-GB", "en"],
  ["EN_us", "en"],
  ["sv", "en"],
  ["den", "en"],
  ["de--AT", "en"],
  ["constructor", "en"],
  ["c", "en"],
  ["und", "en"],
  ["*", "en"],
  ["", "en"],
];

for (const [tag, language] of ROWS) {
  test(`${JSON.stringify(tag)} is read in ${language}`, () => assert.equal(nearestOf([tag], KNOWN), language));
}

test("each language that has words is found by its own tag", () => {
  assert.equal(KNOWN.length, 12);
  for (const tag of KNOWN) assert.equal(nearestOf([tag], KNOWN), tag);
});

test("of several wanted languages the first that is known counts, English among them", () => {
  assert.equal(nearestOf(["sv", "zh-TW", "nl-BE", "de"], KNOWN), "nl");
  assert.equal(nearestOf(["en-AU", "de"], KNOWN), "en");
  assert.equal(nearestOf([], KNOWN), "en");
});

test("Arabic alone is set from right to left", () => {
  assert.deepEqual(KNOWN.filter(isRtl), ["ar"]);
});
