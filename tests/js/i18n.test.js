import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { test } from "node:test";
import { choose, readable, t, use } from "../../static/js/i18n.js";

const read = (path) => readFileSync(new URL(`../../static/${path}`, import.meta.url), "utf8");
const languages = { fr: JSON.parse(read("i18n/fr.json")), en: JSON.parse(read("i18n/en.json")) };
const places = (entry) =>
  [...new Set((typeof entry === "string" ? [entry] : Object.values(entry)).join(" ").match(/\{\w+\}/g) ?? [])].sort();

test("every language has the same keys", () => {
  assert.deepEqual(Object.keys(languages.fr).sort(), Object.keys(languages.en).sort());
});

test("a sentence has the same places in every language, and none is empty", () => {
  for (const [key, english] of Object.entries(languages.en)) {
    assert.deepEqual(places(languages.fr[key]), places(english), key);
    for (const words of [english, languages.fr[key]]) {
      for (const form of typeof words === "string" ? [words] : Object.values(words)) assert.notEqual(form.trim(), "", key);
    }
  }
});

test("what counts has the plural forms its language asks for", () => {
  for (const [language, words] of Object.entries(languages)) {
    for (const [key, entry] of Object.entries(words)) {
      if (typeof entry === "object") assert.deepEqual(Object.keys(entry).sort(), ["one", "other"], `${language} ${key}`);
    }
  }
});

test("every key that the page names is there", () => {
  const js = new URL("../../static/js/", import.meta.url);
  const sources = ["", "views/"].flatMap((folder) =>
    readdirSync(new URL(folder, js)).filter((name) => name.endsWith(".js")).map((name) => read(`js/${folder}${name}`)),
  );
  for (const source of sources) {
    for (const [, key] of source.matchAll(/\bt\("([a-z_]+\.[\w.-]+)"/g)) assert.ok(key in languages.en, key);
  }
});

test("places are filled and numbers written as the language does", () => {
  use("fr", { a: "{name} : {points}", b: { one: "{count} place", other: "{count} places" } });
  assert.equal(t("a", { name: "Zoé", points: 1234 }).replace(/\s/g, " "), "Zoé : 1 234");
  assert.equal(t("b", { count: 0 }), "0 place");
  assert.equal(t("b", { count: 2 }), "2 places");
  use("en", { b: { one: "{count} seat", other: "{count} seats" } });
  assert.equal(t("b", { count: 0 }), "0 seats");
});

test("an unknown code is still readable", () => {
  assert.equal(t("reason.must_go_higher"), "Must go higher");
  assert.equal(readable("some-thing_new"), "Some thing new");
});

test("the first wish we speak is taken", () => {
  assert.equal(choose(["pl", "fr-CA", "en"]), "fr");
  assert.equal(choose(["de"]), "en");
  assert.equal(choose([]), "en");
});
