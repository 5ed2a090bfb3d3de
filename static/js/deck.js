// @ts-check
// The 32 cards by name ("JH", "10S"): what they are called and how they are written. No drawing here.

/** @typedef {import("./types.js").Suit} Suit */
/** @typedef {"A" | "K" | "Q" | "J" | "10" | "9" | "8" | "7"} Rank */
/** @typedef {(key: string, places?: Record<string, string | number>) => string} Translate */

export const SUITS = /** @type {const} */ (["S", "H", "D", "C"]);
export const RANKS = /** @type {const} */ (["A", "K", "Q", "J", "10", "9", "8", "7"]);

/** Court letters where they differ from A K Q J. @type {Record<string, Partial<Record<Rank, string>>>} */
const LETTERS = {
  fr: { K: "R", Q: "D", J: "V" },
  pl: { K: "K", Q: "D", J: "W" },
};

/**
 * The two parts of a card's name; an error for what is not one of the 32.
 * @param {string} name
 * @returns {{rank: Rank, suit: Suit}}
 */
export function parse(name) {
  const rank = /** @type {Rank} */ (name.slice(0, -1));
  const suit = /** @type {Suit} */ (name.slice(-1));
  if (!RANKS.includes(rank) || !SUITS.includes(suit)) throw new RangeError(`not a card: ${name}`);
  return { rank, suit };
}

/**
 * What is printed in the corner: "V" for a jack in French, "10" everywhere.
 * @param {Rank} rank
 * @param {string} [lang] "fr", "en", "pl", or longer ("fr-CA")
 */
export function letter(rank, lang = "en") {
  return LETTERS[lang.slice(0, 2)]?.[rank] ?? rank;
}

/**
 * A card in words: "valet de pique". Needs the keys `card.name` ("{rank} de {suit}"), `rank.J` …, `suit.S` ….
 * @param {string} name
 * @param {Translate} t
 */
export function cardName(name, t) {
  const { rank, suit } = parse(name);
  return t("card.name", { rank: t(`rank.${rank}`), suit: t(`suit.${suit}`) });
}

/**
 * A card in short, for a line of text: "V♠".
 * @param {string} name
 * @param {string} [lang]
 */
export function cardShort(name, lang) {
  const { rank, suit } = parse(name);
  return letter(rank, lang) + { S: "♠", H: "♥", D: "♦", C: "♣" }[suit];
}

/** Whether a card shows a court figure. @param {string} name */
export function isCourt(name) {
  return "KQJ".includes(parse(name).rank);
}
