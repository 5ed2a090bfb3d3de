// @ts-check
// The shapes of what the server sends (docs/protocol.md), for the type checker alone.

/** @typedef {"S" | "H" | "D" | "C"} Suit */
/** @typedef {Suit | "SA" | "TA"} Trump */
/** @typedef {{value: number | "capot", trump: Trump}} Bid */
/** @typedef {"pass" | "coinche" | "surcoinche" | Bid} Call */
/** @typedef {{A: number, B: number}} BySide */
/** @typedef {"A" | "B"} Side */
/** @typedef {{declarer: number, value: number | "capot", trump: Trump, level: number, factor: number}} Contract */
/** @typedef {{seat: number, card: string}} Played */
/** @typedef {{number?: number, leader: number, cards: Played[], master?: number | null, points: number, winner?: number}} Trick */
/** @typedef {{seat: number, kind: string, cards: string[], points: number}} ShownMeld */
/** @typedef {{side: Side, kind: string, points: number, rule: string | null}} Line */
/**
 * @typedef {{deal: number, dealer: number, contract: Contract | null, made: boolean | null, trick_points: BySide,
 *   tricks_won: BySide, score: BySide, totals: BySide, lines: Line[]}} Row
 */
/** @typedef {{lowest: number | null, step: number, highest: number, capot: boolean, trumps: Trump[]}} Bids */
/**
 * @typedef {{kind: "calls", pass: boolean, bids: Bids | null,
 *   coinche: {deal: number, value: number | "capot", trump: Trump} | null, surcoinche: boolean, redeal: string[]}} CallMoves
 */
/** @typedef {{kind: "cards", cards: {card: string, why: string | null}[], belote: string[]}} CardMoves */
/**
 * @typedef {{viewer: number | null, deal: number, dealer: number, phase: string, turn: number | null, totals: BySide,
 *   target: number, direction: string, winner: Side | null, hand: string[] | null, counts: number[],
 *   calls: {seat: number, call: Call}[], contract: Contract | null, trick: Trick | null, last_trick: Trick | null,
 *   tricks_won: BySide, trick_points: BySide, belotes: {seat: number, suit: Suit, word: string}[],
 *   melds: {seat: number, kind: string}[], melds_shown: ShownMeld[], moves: CallMoves | CardMoves | null, sheet: Row[],
 *   redeal: {seat: number, right: string, hand: string[]} | null}} View
 */
/** @typedef {{kind: string, [field: string]: any}} GameEvent */
/** @typedef {[number, number]} At */
/** @typedef {{at: At, turn: number | null, deadline: number | null, next: number[], view: View | null, events: GameEvent[]}} Step */
/**
 * @typedef {{seat: number, kind: "free" | "person" | "house", player: string | null, name: string | null, bot: boolean,
 *   ready: boolean, away: boolean, present: boolean}} SeatInfo
 */
/** @typedef {Record<string, string | number | boolean>} Rules */
/**
 * @typedef {{id: string, status: string, host: string | null, preset: string | null, rules: Rules, clock: number | null,
 *   listed: boolean, closable: boolean, games: number, spectators: number, created: number, seats: SeatInfo[]}} TableInfo
 */
/** @typedef {{at: number, seat: number | null, name: string, phrase: string | null, text: string | null}} Said */
/**
 * @typedef {{name: string, kind: "bool" | "int" | "choice", choices: string[] | null, least: number | null,
 *   most: number | null, step: number | null, group: string}} Option
 */
/**
 * @typedef {{presets: Record<string, Rules>, options: Option[], reasons: string[], phrases: string[],
 *   clocks: (number | null)[]}} RuleBook
 */
/**
 * @typedef {{id: string, preset: string | null, rated: boolean, started: number, finished: number, totals: BySide,
 *   ended: "played" | "abandoned", winner: Side | null, deal_count: number, seats: {seat: number, kind: string, player: string | null, name: string, bot: boolean}[],
 *   won: boolean | null}} PlayedGame
 */
/**
 * @typedef {Row & {calls: {seat: number, call: Call}[], redeal: {seat: number, right: string} | null,
 *   tricks: Trick[] | null, melds_shown: ShownMeld[] | null}} PlayedDeal
 */
/** @typedef {PlayedGame & {rules: Rules, deals: PlayedDeal[]}} FinishedGame */
/** @typedef {{id: string, name: string}} Me */
/** @typedef {{id: string, seat: number, status: string, your_turn: boolean}} OwnTable */
/** @typedef {{id: string, name: string, scopes: string[], created: number, expires: number | null, used: number | null}} Token */
/** @typedef {{name: string, scopes: string[], expires: number | null}} TokenWish `expires` in so many days */
/** @typedef {{id: string, name: string, bot: true}} Bot */
/** @typedef {{id: string, name: string, rating: number, games: number, won: number}} Ranked */
/**
 * @typedef {{kind: "bid", value: number | "capot", trump: Trump} | {kind: "pass"} | {kind: "surcoinche"} | {kind: "next"}
 *   | {kind: "return"} | {kind: "coinche", on: {deal: number, value: number | "capot", trump: Trump}}
 *   | {kind: "redeal", right: string} | {kind: "play", card: string, belote?: boolean}} Action
 */
/** @typedef {{cid: string, turn: number | null, action: Action}} Pending */

export {};
