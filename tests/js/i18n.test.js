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

test("no key stands twice", () => {
  for (const language of Object.keys(languages)) {
    const keys = [...read(`i18n/${language}.json`).matchAll(/^ {2}"([^"]+)":/gm)].map(([, key]) => key);
    assert.equal(keys.length, Object.keys(languages[language]).length, "one key a line");
    assert.deepEqual(keys.filter((key, place) => keys.indexOf(key) !== place), [], language);
  }
});

const js = new URL("../../static/js/", import.meta.url);
const sources = ["", "views/"]
  .flatMap((folder) => readdirSync(new URL(folder, js)).filter((name) => name.endsWith(".js")).map((name) => read(`js/${folder}${name}`)))
  .join("\n");

test("every key that the page names is there", () => {
  const families = new Set(Object.keys(languages.en).map((key) => key.split(".")[0]));
  for (const [, key, family] of sources.matchAll(/"(([a-z_]+)\.[a-z_][\w-]*(?:\.[\w-]+)*)"/g)) {
    if (families.has(family) && !key.endsWith(".js")) assert.ok(key in languages.en, key);
  }
});

test("every key is named by the page, or by the server", () => {
  // `sheet.${…}` names all that begins so, and coded("reason", …) as well.
  const begins = [...sources.matchAll(/`([a-z_]+\.[a-z_]*)\$\{/g), ...sources.matchAll(/coded\("([a-z_]+)"/g)].map(([, begin]) => begin);
  const server = ["page.", "event."];
  const unused = Object.keys(languages.en).filter(
    (key) => !sources.includes(`"${key}"`) && ![...begins, ...server].some((begin) => key.startsWith(begin)),
  );
  assert.deepEqual(unused, []);
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
