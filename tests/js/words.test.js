import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { beforeEach, test } from "node:test";
import { use } from "../../static/js/i18n.js";
import { placeOf, tableIn } from "../../static/js/place.js";
import { sentences } from "../../static/js/tell.js";
import * as words from "../../static/js/words.js";

const load = (language) => use(language, JSON.parse(readFileSync(new URL(`../../static/i18n/${language}.json`, import.meta.url), "utf8")));
const name = (seat) => ["Alma", "Paul", "Nina", "Octave"][seat];
const row = (fields) => ({
  deal: 1,
  dealer: 0,
  contract: { declarer: 2, value: 110, trump: "S", level: 0, factor: 1 },
  made: true,
  trick_points: { A: 118, B: 44 },
  tricks_won: { A: 5, B: 3 },
  ...fields,
});

beforeEach(() => load("en"));

test("calls are written and said", () => {
  assert.equal(words.call({ value: 110, trump: "S" }), "110\u00a0♠\uFE0E");
  assert.equal(words.callAloud({ value: 110, trump: "S" }), "110 spades");
  assert.equal(words.call({ value: "capot", trump: "TA" }), "Capot\u00a0TA");
  load("fr");
  assert.equal(words.call("pass"), "Passe");
});

test("cards are said", () => {
  assert.equal(words.cardAloud("10H"), "ten of hearts");
  load("fr");
  assert.equal(words.cardAloud("JH"), "valet de cœur");
});

test("the outcome of a deal has its numbers", () => {
  assert.match(words.outcome(row({}), name, {}), /^110.♠. by Nina: made, 118 taken in tricks\.$/u);
  const missed = row({ made: false, trick_points: { A: 81, B: 81 } });
  assert.match(words.outcome(missed, name, { trick_floor: 82 }), /82 needed in tricks, 81 taken/);
  assert.match(words.outcome(missed, name, { trick_floor: 0 }), /failed, 81 taken in tricks/);
  assert.equal(words.outcome(row({ contract: null, made: null }), name, {}), "Not played");
});

test("a capot tells its tricks", () => {
  const contract = { declarer: 0, value: "capot", trump: "H", level: 1, factor: 2 };
  assert.match(words.outcome(row({ contract, made: false, tricks_won: { A: 7, B: 1 } }), name, {}), /×2 by Alma: failed, 7 tricks of eight/);
});

test("a line names the rule behind it where it does not go without saying", () => {
  const rules = { failure: 162, coinche_multiplies: "whole" };
  assert.equal(words.rule({ side: "A", kind: "factor", points: 90, rule: "coinche_multiplies" }, rules), "Coinche multiplies: everything");
  assert.equal(words.rule({ side: "A", kind: "failure", points: 162, rule: "failure" }, rules), "Points for a failed contract: 162");
  assert.equal(words.rule({ side: "A", kind: "tricks", points: 90, rule: "bid_only" }, rules), "");
});

test("what nobody wrote words for stays readable", () => {
  assert.equal(words.reason("too_sleepy"), "Too sleepy");
  assert.equal(words.line({ side: "A", kind: "last_laugh", points: 1, rule: null }), "Last laugh");
  assert.equal(words.event({ kind: "something_new" }, { name, side: () => "" }), "");
});

test("events are sentences", () => {
  const who = { name, side: () => "Us" };
  assert.equal(words.event({ kind: "card_played", seat: 1, card: "JH" }, who), "Paul: jack of hearts");
  assert.equal(words.event({ kind: "call_made", seat: 2, call: { value: 90, trump: "H" } }, who), "Nina: 90 hearts");
  assert.equal(words.event({ kind: "melds_announced", seat: 0, kinds: ["tierce", "carre"] }, who), "Alma announces Tierce, Carré");
});

test("a table is found in a link or a code", () => {
  assert.equal(tableIn("http://192.168.1.9:8000/t/3f-k2m7q9x4wz?x=1"), "3f-k2m7q9x4wz");
  assert.equal(tableIn(" 3f-k2m7q9x4wz "), "3f-k2m7q9x4wz");
  assert.equal(tableIn("no table here"), null);
  assert.deepEqual(placeOf("/t/3f-k2"), { name: "table", id: "3f-k2" });
  assert.deepEqual(placeOf("/"), { name: "lobby" });
});

test("a link that a chat program has cut or lengthened leads as far as it can, and never fails", () => {
  for (const path of ["/t/%", "/t/%ff", "/t/", "/t", "/g/%e2%82", "/nothing", "/t/a/b", "/%"]) {
    assert.equal(placeOf(path).name, path === "/%" ? "lobby" : "nowhere", path);
  }
  for (const path of ["/t/3f-k2m7q9x4wz).", "/t/3f-k2m7q9x4wz%", "/t/3f-k2m7q9x4wz%e2", "/t/3f-k2m7q9x4wz/", "/t/3f-k2m7q9x4wz%20,"]) {
    assert.deepEqual(placeOf(path), { name: "table", id: "3f-k2m7q9x4wz" }, path);
  }
  assert.deepEqual(placeOf("/g/3f-k2m7q9x4wz/2."), { name: "game", id: "3f-k2m7q9x4wz/2" });
  assert.equal(tableIn("https://coinche.example.org/t/3f-k2m7q9x4wz%"), "3f-k2m7q9x4wz");
  assert.equal(tableIn("look: https://coinche.example.org/t/3f-k2m7q9x4wz)."), "3f-k2m7q9x4wz");
  assert.equal(tableIn("/t/%"), null);
});

test("lines for the ear end once each", () => {
  assert.equal(sentences(["Nina: Belote!", "Your turn"]), "Nina: Belote! Your turn.");
});
