// @ts-check
// A card that was chosen before one could play it: what becomes of it, judged by the view that is drawn. Pure.

/** @import {View} from "./types.js" */

/**
 * "wait": it is not one's turn yet. "play": now it may be played. "barred": now it may not, and `why`. "drop": it has no meaning any more.
 * @param {string} card
 * @param {View | null} view
 * @returns {{verdict: "wait" | "play" | "drop", why: null} | {verdict: "barred", why: string}}
 */
export function judge(card, view) {
  if (view?.phase !== "playing" || !view.hand?.includes(card)) return { verdict: "drop", why: null };
  if (view.moves?.kind !== "cards") return { verdict: "wait", why: null };
  const move = view.moves.cards.find((entry) => entry.card === card);
  if (!move) return { verdict: "drop", why: null };
  return move.why === null ? { verdict: "play", why: null } : { verdict: "barred", why: move.why };
}
