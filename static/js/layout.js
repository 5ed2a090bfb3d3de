// @ts-check
// Who sits where, and what follows what: the parts of hand.js and trick.js that draw nothing.

/** @typedef {{card: string, why: string | null}} Reasoned */
/** @typedef {"bottom" | "left" | "top" | "right"} Side */

/**
 * Where a seat sits as the viewer sees the table. Clockwise play goes from the viewer to the left.
 * @param {number} seat
 * @param {number | null} viewer null: seat 0 is at the bottom
 * @param {string} [direction] "clockwise" or "counter_clockwise"
 * @returns {Side}
 */
export function sideOf(seat, viewer, direction = "clockwise") {
  const steps = (seat - (viewer ?? 0) + 4) % 4;
  const turn = direction === "counter_clockwise" ? (4 - steps) % 4 : steps;
  return /** @type {const} */ (["bottom", "left", "top", "right"])[turn] ?? "bottom";
}

/**
 * Whether what is drawn is a deal that has ended without a contract: its calls and its hands still lie there, as they did in the auction.
 * @param {{phase: string, deal: number, contract: unknown}} view
 */
export function isUnplayed(view) {
  return view.phase === "dealing" && view.deal > 0 && view.contract === null;
}

/**
 * Where the focus goes from one card by a key, or null if the key is not for us.
 * @param {string} key
 * @param {number} from
 * @param {number} count
 */
export function moveFocus(key, from, count) {
  if (count < 1) return null;
  if (key === "ArrowRight" || key === "ArrowDown") return Math.min(from + 1, count - 1);
  if (key === "ArrowLeft" || key === "ArrowUp") return Math.max(from - 1, 0);
  if (key === "Home") return 0;
  if (key === "End") return count - 1;
  return null;
}

/**
 * The cards with their reasons, whichever way they were given.
 * @param {readonly (string | Reasoned)[]} cards
 * @returns {Reasoned[]}
 */
export function withReasons(cards) {
  return cards.map((one) => (typeof one === "string" ? { card: one, why: null } : one));
}
