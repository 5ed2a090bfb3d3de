import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { test } from "node:test";

import { RANKS, SUITS, cardName, cardShort, isCourt, letter, parse } from "../../static/js/deck.js";
import { moveFocus, sideOf, withReasons } from "../../static/js/layout.js";

const file = (path) => new URL(`../../static/${path}`, import.meta.url);
const DECK = SUITS.flatMap((suit) => RANKS.map((rank) => rank + suit));

test("32 cards, each read back as it is written", () => {
  assert.equal(new Set(DECK).size, 32);
  for (const name of DECK) {
    const { rank, suit } = parse(name);
    assert.equal(rank + suit, name);
  }
});

test("what is no card is refused", () => {
  for (const name of ["", "S", "1S", "6H", "JX", "SJ", "10", "js"]) assert.throws(() => parse(name), RangeError);
});

test("letters follow the language", () => {
  assert.deepEqual(["K", "Q", "J"].map((rank) => letter(rank, "fr")), ["R", "D", "V"]);
  assert.deepEqual(["K", "Q", "J"].map((rank) => letter(rank, "en")), ["K", "Q", "J"]);
  assert.deepEqual(["K", "Q", "J"].map((rank) => letter(rank, "pl")), ["K", "D", "W"]);
  assert.equal(letter("J", "fr-CA"), "V");
  assert.equal(letter("J", "xx"), "J");
  for (const lang of ["fr", "en", "pl"]) {
    assert.deepEqual(["A", "10", "9", "8", "7"].map((rank) => letter(rank, lang)), ["A", "10", "9", "8", "7"]);
  }
});

test("a card in words", () => {
  const words = { "card.name": "{rank} de {suit}", "rank.J": "valet", "suit.S": "pique" };
  const t = (key, places = {}) => words[key].replace(/\{(\w+)\}/g, (_, name) => places[name]);
  assert.equal(cardName("JS", t), "valet de pique");
  assert.equal(cardShort("JS", "fr"), "V♠");
  assert.equal(cardShort("10D"), "10♦");
});

test("every court has its figure, and nothing in it is fetched or run", () => {
  for (const name of DECK.filter(isCourt)) {
    assert.ok(existsSync(file(`cards/${name}.svg`)), name);
    const art = readFileSync(file(`cards/${name}.svg`), "utf8");
    assert.doesNotMatch(art.replace('xmlns="http://www.w3.org/2000/svg"', ""), /http|<script|<style|onload|xlink/, name);
  }
});

test("seats around the table", () => {
  const around = (viewer, direction) => [0, 1, 2, 3].map((seat) => sideOf(seat, viewer, direction));
  assert.deepEqual(around(0, "clockwise"), ["bottom", "left", "top", "right"]);
  assert.deepEqual(around(0, "counter_clockwise"), ["bottom", "right", "top", "left"]);
  assert.deepEqual(around(2, "clockwise"), ["top", "right", "bottom", "left"]);
  assert.deepEqual(around(3, "counter_clockwise"), ["right", "top", "left", "bottom"]);
  assert.deepEqual(around(null, "clockwise"), ["bottom", "left", "top", "right"]);
});

test("arrows move along the hand and stop at its ends", () => {
  assert.equal(moveFocus("ArrowRight", 0, 8), 1);
  assert.equal(moveFocus("ArrowRight", 7, 8), 7);
  assert.equal(moveFocus("ArrowLeft", 0, 8), 0);
  assert.equal(moveFocus("ArrowLeft", 3, 8), 2);
  assert.equal(moveFocus("Home", 5, 8), 0);
  assert.equal(moveFocus("End", 5, 8), 7);
  assert.equal(moveFocus("Enter", 5, 8), null);
  assert.equal(moveFocus("ArrowRight", -1, 0), null);
});

test("a hand may come with or without reasons", () => {
  assert.deepEqual(withReasons(["JS", { card: "AH", why: "must_trump" }]), [
    { card: "JS", why: null },
    { card: "AH", why: "must_trump" },
  ]);
});

// ------------------------------------------------------------------------------------------------ contrast of the tokens

const css = readFileSync(file("css/tokens.css"), "utf8").replace(/\/\*.*?\*\//gs, "");

/** The declarations of a block, later ones over earlier ones. */
function tokens(...selectors) {
  const all = {};
  for (const selector of selectors) {
    const start = css.indexOf(`${selector} {`);
    assert.notEqual(start, -1, selector);
    const block = css.slice(start, css.indexOf("}", start));
    for (const [, name, value] of block.matchAll(/(--[\w-]+):\s*([^;]+);/g)) all[name] = value.trim();
  }
  return (name) => {
    let value = all[name];
    while (value?.startsWith("var(")) value = all[value.slice(4, -1)];
    assert.match(value ?? "", /^#[0-9a-f]{6}$/, name);
    return value;
  };
}

function luminance(hex) {
  const [r, g, b] = [1, 3, 5].map((at) => {
    const part = Number.parseInt(hex.slice(at, at + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

function contrast(one, other) {
  const [light, dark] = [luminance(one), luminance(other)].sort((a, b) => b - a);
  return (light + 0.05) / (dark + 0.05);
}

const THEMES = {
  light: [":root"],
  "light, four colours": [":root", ".four-colours"],
  dark: [":root", ':root[data-theme="dark"]'],
  "dark, four colours": [":root", ".four-colours", ':root[data-theme="dark"]', ':root[data-theme="dark"].four-colours'],
};

for (const [theme, selectors] of Object.entries(THEMES)) {
  test(`text can be read: ${theme}`, () => {
    const get = tokens(...selectors);
    const pairs = [
      ...["--ink", "--muted", "--link", "--red", "--ok", "--suit-s", "--suit-h", "--suit-d", "--suit-c"].flatMap((text) => [
        [text, "--paper", 4.5],
        [text, "--panel", 4.5],
      ]),
      ["--hint-ink", "--hint", 4.5],
      ["--invert-ink", "--invert", 4.5],
      ["--brass-ink", "--brass", 4.5],
      ["--brass-ink", "--brass-strong", 4.5],
      ["--on-felt", "--felt", 4.5],
      ["--on-felt", "--felt-deep", 4.5],
      ["--on-felt-muted", "--felt", 4.5],
      ["--line-strong", "--paper", 3],
      ["--line-strong", "--panel", 3],
      ["--focus", "--paper", 3],
      ...["--card-s", "--card-h", "--card-d", "--card-c"].flatMap((text) => [
        [text, "--card", 4.5],
        [text, "--card-dim", 3],
      ]),
    ];
    for (const [text, ground, least] of pairs) {
      const found = contrast(get(text), get(ground));
      assert.ok(found >= least, `${text} on ${ground}: ${found.toFixed(2)} < ${least}`);
    }
  });
}

test("the two ways to a dark page say the same", () => {
  const system = css.slice(css.indexOf("@media (prefers-color-scheme: dark)"));
  const list = (text, selector) => {
    const start = text.indexOf(`${selector} {`);
    return [...text.slice(start, text.indexOf("}", start)).matchAll(/--[\w-]+:[^;]+/g)].map((one) => one[0]);
  };
  for (const more of ["", ".four-colours"]) {
    const chosen = list(css, `:root[data-theme="dark"]${more}`);
    assert.ok(chosen.length > 0);
    assert.deepEqual(list(system, `:root:not([data-theme="light"])${more}`), chosen);
  }
});
