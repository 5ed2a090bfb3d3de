import assert from "node:assert/strict";
import { test } from "node:test";
import { judge } from "../../static/js/ahead.js";

const cards = [{ card: "JH", why: null }, { card: "7C", why: "must_follow" }];
const view = (fields = {}) => ({ phase: "playing", hand: ["JH", "7C"], moves: null, ...fields });
const mine = view({ moves: { kind: "cards", cards, belote: [] } });

const CASES = [
  ["before one's turn a card waits", "JH", view(), { verdict: "wait", why: null }],
  ["in one's turn it is played", "JH", mine, { verdict: "play", why: null }],
  ["or barred, with the reason", "7C", mine, { verdict: "barred", why: "must_follow" }],
  ["a card that is gone means nothing", "AS", view(), { verdict: "drop", why: null }],
  ["nor does any card in an auction", "JH", view({ phase: "bidding" }), { verdict: "drop", why: null }],
  ["nor between two deals", "JH", view({ phase: "dealing", hand: [] }), { verdict: "drop", why: null }],
  ["nor without a game", "JH", null, { verdict: "drop", why: null }],
  ["nor to one who watches", "JH", view({ hand: null }), { verdict: "drop", why: null }],
];

for (const [name, card, seen, expected] of CASES) {
  test(`chosen ahead: ${name}`, () => assert.deepEqual(judge(card, seen), expected));
}
