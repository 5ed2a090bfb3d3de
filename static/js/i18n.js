// @ts-check
// The words of the page in the reader's language. Keys are flat; a sentence that counts has one form per plural rule.

import { isolated } from "./text.js";

/** @typedef {Record<string, string | Record<string, string>>} Words */

export const LANGUAGES = { fr: "Français", en: "English" };

/** @typedef {keyof typeof LANGUAGES} Language */

/** @type {{language: Language, words: Words, plural: Intl.PluralRules, number: Intl.NumberFormat}} */
const current = {
  language: "en",
  words: {},
  plural: new Intl.PluralRules("en"),
  number: new Intl.NumberFormat("en"),
};

/**
 * Speak this language from now on.
 * @param {Language} language
 * @param {Words} words
 */
export function use(language, words) {
  current.language = language;
  current.words = words;
  current.plural = new Intl.PluralRules(language);
  current.number = new Intl.NumberFormat(language);
}

/**
 * Fetch a language and speak it.
 * @param {Language} language
 */
export async function load(language) {
  const answer = await fetch(new URL(`../i18n/${language}.json`, import.meta.url));
  if (answer.ok) use(language, await answer.json());
}

/** The language one speaks now. */
export function language() {
  return current.language;
}

/** Of the reader's own locales the first in this language: days and hours are written as at home. */
export function locale() {
  return navigator.languages.find((wish) => wish.slice(0, 2).toLowerCase() === current.language) ?? current.language;
}

/**
 * Which of our languages fits a list of wishes best ("fr-CA", "en").
 * @param {readonly string[]} wishes
 * @returns {Language}
 */
export function choose(wishes) {
  for (const wish of wishes) {
    const short = wish.slice(0, 2).toLowerCase();
    if (short in LANGUAGES) return /** @type {Language} */ (short);
  }
  return "en";
}

/** @param {number} value */
export function num(value) {
  return current.number.format(value);
}

/** @param {string} key */
export function has(key) {
  return key in current.words;
}

/**
 * A code nobody wrote words for, as readable as it gets: "must_go_higher" becomes "Must go higher".
 * @param {string} code
 */
export function readable(code) {
  const words = code.replace(/^.*\./, "").replace(/[_-]+/g, " ").trim();
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/**
 * The sentence of a key, its {places} filled. `count` chooses the plural form; numbers are written as the language does.
 * @param {string} key
 * @param {Record<string, string | number>} [places]
 * @returns {string}
 */
export function t(key, places = {}) {
  const entry = current.words[key];
  if (entry === undefined) return readable(key);
  const text = typeof entry === "string" ? entry : (entry[current.plural.select(Number(places.count))] ?? entry.other ?? "");
  return text.replace(/\{(\w+)\}/g, (whole, name) => {
    const value = places[name];
    if (value === undefined) return whole;
    return typeof value === "number" ? num(value) : isolated(value);
  });
}
