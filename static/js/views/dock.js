// @ts-check
// What lies before one at the bottom: why not, the sheet on which one speaks, and one's hand.

import { html, nothing } from "../vendor/lit.js";
import { hand } from "../hand.js";
import { card } from "../cards.js";
import { language, t } from "../i18n.js";
import { isUnplayed } from "../layout.js";
import { wake } from "../sound.js";
import { cardAloud, coded, reason } from "../words.js";
import { auction } from "./auction.js";
import { onward } from "./between.js";
import { waiting } from "./waiting.js";
import { sitDown } from "../actions.js";

/** @import {Session} from "../session.js" */
/** @import {View, Trump} from "../types.js" */

/** @param {Session} session */
export function dock(session) {
  const { view } = session.shown;
  if (!view) return html`<div class="dock">${waiting(session)}</div>`;
  if (view.viewer === null) return html`<div class="dock">${isUnplayed(view) ? unplayed(session, view) : watching(session)}</div>`;
  if (isUnplayed(view)) return html`<div class="dock">${unplayed(session, view)} ${ownHand(session, view)}</div>`;
  // Under the sheet of a deal there is nothing to hold.
  if (view.phase !== "bidding" && view.phase !== "playing") return nothing;
  return html`<div class="dock">
    ${view.phase === "bidding" ? auction(session, view) : nothing} ${ownHand(session, view)}
  </div>`;
}

/**
 * After a deal that came to no contract, in the place of the auction: the hand that was shown to have it dealt again, and the way on.
 * @param {Session} session
 * @param {View} view
 */
function unplayed(session, view) {
  const { redeal } = view;
  return html`<section class="auction is-listening unplayed" aria-label=${t("auction.title")}>
    ${redeal
      ? html`<p class="shown-hand" role="group" aria-label=${`${session.name(redeal.seat)} · ${coded("redeal", redeal.right)}`} data-testid="shown-hand">
          ${redeal.hand.map((one) => card(one, { lang: language(), label: cardAloud(one) }))}</p>`
      : nothing}
    ${onward(session)}
  </section>`;
}

/** @param {Session} session */
function watching(session) {
  const free = session.table?.seats.some(({ kind }) => kind === "free") ?? false;
  return html`<div class="watching">
    <p>${t("watch.line")}</p>
    ${free && session.seat === null
      ? html`<button class="brass-button" type="button" data-testid="sit" @click=${() => sitDown()}>${t("watch.sit")}</button>`
      : nothing}
  </div>`;
}

/**
 * @param {Session} session
 * @param {View} view
 */
function ownHand(session, view) {
  const moves = view.moves?.kind === "cards" ? view.moves : null;
  const played = session.doing?.kind === "play" ? session.doing.card : null;
  const trump = view.contract?.trump.length === 1 ? view.contract.trump : null;
  return hand({
    cards: moves ? moves.cards : (view.hand ?? []),
    turn: moves !== null && played === null,
    trump: view.phase === "playing" ? /** @type {Trump | null} */ (trump) : null,
    selected: played,
    ahead: session.ahead,
    lang: language(),
    label: t("hand.label"),
    describe: (card, why) => (why === null ? cardAloud(card) : `${cardAloud(card)}, ${reason(why)}`),
    onCard: (card) => {
      wake();
      session.choose(card);
    },
  });
}
