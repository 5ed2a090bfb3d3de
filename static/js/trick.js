// @ts-check
// The trick as a cross in the middle of the felt. Styled by css/trick.css; fills the box it stands in.

import { card } from "./cards.js";
import { sideOf } from "./layout.js";
import { html, nothing, repeat } from "./vendor/lit.js";

export { sideOf } from "./layout.js";

/** @typedef {import("./vendor/lit.js").TemplateResult} TemplateResult */
/**
 * @typedef {object} TrickOptions
 * @property {readonly {seat: number, card: string}[]} cards in the order of play
 * @property {number | null} viewer the seat at the bottom
 * @property {string} [direction] `view.direction`
 * @property {number | null} [next] the seat whose card is awaited: a dashed place
 * @property {number | null} [master] the seat that wins so far: a brass ring
 * @property {number | null} [gather] the trick is over and slides to this seat
 * @property {string | number} [id] of the trick, so that a new one never reuses the cards of the last
 * @property {string} [lang] letters of the cards
 * @property {string} [label] spoken name of the whole ("trick 4")
 * @property {(played: {seat: number, card: string}) => string} [describe] spoken words for one card ("Nina: jack of spades")
 */

/**
 * The trick on the table.
 * @param {TrickOptions} opts
 * @returns {TemplateResult}
 */
export function trick(opts) {
  const { cards, viewer, direction, next = null, master = null, gather = null, lang } = opts;
  const side = (/** @type {number} */ seat) => sideOf(seat, viewer, direction);
  const awaited = next !== null && gather === null && !cards.some((one) => one.seat === next) ? side(next) : null;
  return html`<div class="trick ${gather === null ? "" : `is-gathered to-${side(gather)}`}">
    ${awaited ? html`<span class="trick__place at-${awaited}" aria-hidden="true"></span>` : nothing}
    <ol class="trick__cards" role="list" aria-label=${opts.label ?? nothing}>
      ${repeat(
        cards,
        (one) => `${opts.id ?? ""}/${one.card}`,
        (one) => html`<li class="trick__card at-${side(one.seat)}">${card(one.card, {
          lang,
          master: one.seat === master,
          label: opts.describe?.(one),
        })}</li>`,
      )}
    </ol>
  </div>`;
}
