// @ts-check
// What the page knows, in one place, and who wants to hear when it changes.

import { href } from "./base.js";
import { choose } from "./i18n.js";

/** @import {FinishedGame, Me, PlayedGame, Ranked, RuleBook, TableInfo} from "./types.js" */
/** @import {Session} from "./session.js" */
/** @import {Language} from "./i18n.js" */
/** @import {PaceName} from "./pace.js" */

/**
 * @typedef {{language: Language, fourColours: boolean, sound: boolean, stillness: boolean | null, pace: PaceName,
 *   theme: "auto" | "light" | "dark",
 *   left: boolean, right: boolean}} Preferences
 */

const KEY = "coinche.preferences";

/** @returns {Preferences} */
function remembered() {
  const wishes = typeof navigator === "undefined" ? [] : navigator.languages;
  /** @type {Preferences} */
  const preferences = {
    language: choose(wishes),
    fourColours: false,
    sound: false,
    stillness: null, // as the system has it
    pace: "normal",
    theme: "auto",
    left: true,
    right: true,
  };
  try {
    return { ...preferences, ...JSON.parse(localStorage.getItem(KEY) ?? "{}") };
  } catch {
    return preferences;
  }
}

export const state = {
  preferences: remembered(),
  /** @type {import("./place.js").Place} */
  route: { name: "lobby" },
  /** @type {Me | null} */
  me: null,
  /** Whether the server has been asked who we are. */
  known: false,
  /** Whether the figures of the court cards have come, or have been waited for long enough. */
  hasFigures: false,
  /** @type {RuleBook | null} */
  rules: null,
  /** @type {string} one line about what went wrong, until the next try */
  problem: "",
  /** @type {Session | null} the table one sits at or watches */
  session: null,
  /** @type {"menu" | "programs" | "left" | "right" | "trick" | null} what is opened over the page */
  drawer: null,
  /** @type {{game: FinishedGame | null, problem: string} | null} a finished game one reads */
  game: null,
  lobby: {
    /** @type {TableInfo[] | null} */
    tables: null,
    offline: false,
    /** @type {Ranked[] | null} */
    players: null,
    /** @type {TableInfo[]} the tables at which one sits */
    own: [],
    /** @type {string[]} those of them that wait for one's move */
    due: [],
    /** @type {PlayedGame[] | null} */
    games: null,
    busy: false,
    opening: false,
    renaming: false,
    /** @type {Record<string, string | number | boolean>} */
    overrides: {},
    preset: "announced-701",
    /** @type {number | null} */
    clock: null,
    listed: false,
    refusal: "",
  },
};

/** @type {() => void} */
let draw = () => {};
let asked = false;

/** @param {() => void} listener */
export function onChange(listener) {
  draw = listener;
}

/** Something is different: draw once, soon. */
export function changed() {
  if (asked) return;
  asked = true;
  queueMicrotask(() => {
    asked = false;
    draw();
  });
}

/** The page comes in this language next time. @param {Language} language */
function tellLanguage(language) {
  document.cookie = `coinche_language=${language}; path=${href("/")}; max-age=31536000; samesite=lax`;
}

/** Whether the page keeps still: as one has chosen, or as the system has it. */
export function isStill() {
  return state.preferences.stillness ?? matchMedia("(prefers-reduced-motion: reduce)").matches;
}

/** @param {Partial<Preferences>} wishes */
export function prefer(wishes) {
  Object.assign(state.preferences, wishes);
  if (wishes.language) tellLanguage(wishes.language);
  try {
    localStorage.setItem(KEY, JSON.stringify(state.preferences));
  } catch {
    // A browser that keeps nothing still plays.
  }
  changed();
}
