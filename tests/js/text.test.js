import assert from "node:assert/strict";
import { test } from "node:test";
import { LINE, NAME, fit, initial, isolated, signs } from "../../static/js/text.js";

const SHRUG = "🤷🏽\u200d♂️";
const FAMILY = "👩\u200d👩\u200d👧\u200d👦";

test("a sign is what people see as one", () => {
  assert.deepEqual(signs(`${SHRUG}e\u0301${FAMILY}`), [SHRUG, "e\u0301", FAMILY]);
});

test("the initial of a name is its first sign, and there always is one", () => {
  for (const [name, first] of [["élise", "É"], [` ${SHRUG} Bo`, SHRUG], ["نينا", "ن"], ["", "?"], ["  ", "?"]]) {
    assert.equal(initial(name), first);
  }
});

test("what is too long is cut between signs, never within one", () => {
  assert.equal(fit("x".repeat(30), NAME), "x".repeat(24));
  assert.equal(fit(` ${SHRUG.repeat(30)}`, NAME), SHRUG.repeat(12));
  assert.equal(fit("ha ".repeat(99), LINE), "ha ".repeat(67).slice(0, 200).trim());
  assert.equal(fit(FAMILY.repeat(40), LINE), FAMILY.repeat(28));
});

test("a name written from right to left keeps to itself, another is left as it is", () => {
  assert.equal(isolated("نينا"), "\u2068نينا\u2069");
  assert.equal(initial(isolated("نينا")), "ن");
  assert.equal(isolated("Élise 李"), "Élise 李");
});
