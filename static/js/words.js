// @ts-check
// What a call, a card, a contract, a line of the score and an event are called. Text only; suits are their signs.

import { cardName, cardShort } from "./deck.js";
import { has, language, num, readable, t } from "./i18n.js";

/** @import {Bid, Call, Contract, GameEvent, Line, Row, Rules, Side, Trump} from "./types.js" */

/** U+FE0E asks for the plain sign in place of a coloured picture. */
export const SIGN = { S: "♠\uFE0E", H: "♥\uFE0E", D: "♦\uFE0E", C: "♣\uFE0E" };

/**
 * The sign of a suit, or the short words for sans atout and tout atout.
 * @param {Trump} trump
 */
export function trump(trump) {
  return trump in SIGN ? SIGN[/** @type {keyof typeof SIGN} */ (trump)] : t(`trump.${trump}`);
}

/**
 * The same said aloud: "spades".
 * @param {Trump} trump
 */
export function trumpAloud(trump) {
  return t(`suit.${trump}`);
}

/** @param {number | "capot"} value */
export function value(value) {
  return typeof value === "number" ? num(value) : t(`call.${value}`);
}

/** @param {Bid} bid */
export function bid(bid) {
  return `${value(bid.value)}\u00a0${trump(bid.trump)}`;
}

/** @param {Call} call */
export function call(call) {
  return typeof call === "string" ? t(`call.${call}`) : bid(call);
}

/** @param {Call} call */
export function callAloud(call) {
  return typeof call === "string" ? t(`call.${call}`) : `${value(call.value)} ${trumpAloud(call.trump)}`;
}

/**
 * "Jack of hearts".
 * @param {string} card
 */
export function cardAloud(card) {
  return cardName(card, t);
}

/**
 * A card in short, with the letter of the language: "J♥".
 * @param {string} card
 */
export function card(card) {
  return cardShort(card, language());
}

/**
 * Words for a code of the server's, readable even if nobody has written them.
 * @param {string} family
 * @param {string} code
 */
export function coded(family, code) {
  return has(`${family}.${code}`) ? t(`${family}.${code}`) : readable(code);
}

/** @param {string | null} why */
export function reason(why) {
  return why === null ? "" : coded("reason", why);
}

/**
 * What the table chose for an option: "yes", "82", "In turn".
 * @param {string} name
 * @param {string | number | boolean | undefined} value
 */
export function chosen(name, value) {
  if (typeof value === "boolean") return t(value ? "option.on" : "option.off");
  if (has(`option.${name}.${value}`)) return t(`option.${name}.${value}`);
  return typeof value === "number" ? num(value) : coded(`option.${name}`, String(value ?? ""));
}

/** Lines whose rule needs no telling. */
const PLAIN_LINES = new Set(["tricks", "der", "belote", "melds", "contract"]);

/**
 * The rule that made a line of the score, with what the table chose; "" where it goes without saying.
 * @param {Line} line
 * @param {Rules} rules
 */
export function rule(line, rules) {
  if (!line.rule || PLAIN_LINES.has(line.kind)) return "";
  const label = coded("option", line.rule);
  return line.rule in rules ? t("sheet.rule", { rule: label, value: chosen(line.rule, rules[line.rule]) }) : label;
}

/** @param {Line} line */
export function line(line) {
  return coded("line", line.kind);
}

/** @param {number} seat */
export function sideOf(seat) {
  return /** @type {Side} */ (seat % 2 ? "B" : "A");
}

/** @param {Side} side */
export function other(side) {
  return /** @type {Side} */ (side === "A" ? "B" : "A");
}

/** @param {Contract | null} contract */
export function factor(contract) {
  return contract && contract.factor > 1 ? `×${contract.factor}` : "";
}

/**
 * What became of a deal, in one sentence with its numbers: "110 ♠ by Nina: made, 118 in tricks".
 * @param {Row} row
 * @param {(seat: number) => string} name
 * @param {Rules} rules
 */
export function outcome(row, name, rules) {
  if (!row.contract) return t("sheet.passed_out");
  const { contract } = row;
  const mine = sideOf(contract.declarer);
  const places = {
    bid: `${bid(contract)}${contract.factor > 1 ? `\u00a0${factor(contract)}` : ""}`,
    name: name(contract.declarer),
    points: row.trick_points[mine],
    tricks: row.tricks_won[mine],
    count: row.tricks_won[mine],
    floor: Number(rules.trick_floor ?? 0),
  };
  const state = row.made ? "made" : "failed";
  if (contract.value === "capot") return t(`sheet.capot_${state}`, places);
  if (!row.made && places.floor > places.points) return t("sheet.below_floor", places);
  return t(`sheet.${state}`, places);
}

/**
 * An event as a sentence for those who listen, or "" where nothing need be said.
 * @param {GameEvent} event
 * @param {{name: (seat: number) => string, side: (side: Side) => string}} who
 */
export function event(event, who) {
  const seat = "seat" in event ? event.seat : event.by;
  const places = { name: seat === undefined ? "" : who.name(seat) };
  switch (event.kind) {
    case "hands_dealt":
      return t("event.dealt", { deal: event.deal, name: who.name(event.dealer) });
    case "call_made":
      return t("event.call", { ...places, call: callAloud(event.call) });
    case "redeal_claimed":
      return t("event.redeal", { ...places, right: coded("redeal", event.right) });
    case "deal_passed_out":
      return t("event.passed_out");
    case "contract_set":
      return t("event.contract", {
        name: who.name(event.contract.declarer),
        bid: `${callAloud(event.contract)} ${factor(event.contract)}`.trim(),
      });
    case "card_played":
      return t("event.card", { ...places, card: cardAloud(event.card) });
    case "belote_said":
      return t("event.belote", { ...places, word: coded("belote", event.word) });
    case "melds_announced":
      return t("event.melds", {
        ...places,
        melds: event.kinds.map((/** @type {string} */ kind) => coded("meld", kind)).join(", "),
      });
    case "trick_taken":
      return t("event.trick", { ...places, points: event.points });
    case "game_won":
      return t("event.won", { side: who.side(event.side) });
    case "seat_away":
    case "seat_back":
    case "game_started":
    case "game_abandoned":
    case "host_asked_to_move":
      return t(`event.${event.kind}`, places);
    default:
      return "";
  }
}
