// @ts-check
// What lies before one at the bottom: why not, the sheet on which one speaks, and one's hand.

import { html, nothing } from "../vendor/lit.js";
import { hand } from "../hand.js";
import { language, t } from "../i18n.js";
import { changed } from "../store.js";
import { wake } from "../sound.js";
import { cardAloud, reason } from "../words.js";
import { auction } from "./auction.js";
import { waiting } from "./waiting.js";
import { rich } from "./parts.js";
import * as api from "../api.js";
import { atTable, sitDown } from "../actions.js";

/** @import {Session} from "../session.js" */
/** @import {View, Trump} from "../types.js" */

/** @param {Session} session */
export function dock(session) {
  const view = session.view;
  if (!view) return html`<div class="dock">${waiting(session)}</div>`;
  if (view.viewer === null) return html`<div class="dock">${watching(session)}</div>`;
  const speaking = view.phase === "bidding";
  return html`<div class="dock">
    ${standIn(session)} ${absent(session)}
    <p class="notice ${session.notice ? "is-on" : ""}" role="status" data-testid="notice">${rich(session.notice)}</p>
    ${speaking ? auction(session, view) : nothing} ${belote(session, view)} ${ownHand(session, view)}
  </div>`;
}

/** @param {Session} session */
function watching(session) {
  const free = session.table?.seats.some(({ kind }) => kind === "free") ?? false;
  return html`<div class="watching">
    <p>${t("watch.line")}</p>
    ${free && session.seat === null
      ? html`<button class="brass-button" type="button" data-testid="sit" @click=${() => sitDown()}>${t("watch.sit")}</button>`
      : nothing}
    ${session.notice ? html`<p class="problem" role="alert">${session.notice}</p>` : nothing}
  </div>`;
}

/** @param {Session} session */
function standIn(session) {
  if (session.seat === null || !session.at(session.seat).away) return nothing;
  return html`<div class="banner" role="alert" data-testid="stand-in-banner">
    <span>${t("stand_in.plays")}</span>
    <button class="brass-button" type="button" data-testid="take-back" @click=${() => session.act({ kind: "return" })}>${t("stand_in.return")}</button>
  </div>`;
}

/**
 * Without a clock an absent person's cards may be played: the host asks for that, or anybody where the host is the one who is gone.
 * @param {Session} session
 */
function absent(session) {
  const { table } = session;
  if (session.seat === null || !table || table.clock !== null || table.status !== "playing") return nothing;
  const host = table.seats.find((one) => one.player === table.host);
  const asks = session.isHost || !host || host.away;
  return table.seats
    .filter((one) => one.kind === "person" && !one.present && !one.away && one.seat !== session.seat && (asks || one === host))
    .map(
      ({ seat }) => html`<div class="banner">
        <span>${t("stand_in.absent", { name: session.name(seat) })}</span>
        <button class="plain-button" type="button" data-testid="stand-in-${seat}" @click=${() => atTable((id) => api.standIn(id, seat))}>${t("stand_in.call")}</button>
      </div>`,
    );
}

/**
 * With the rules that have it declared: a switch above the hand, heard in the same gesture as the card.
 * @param {Session} session
 * @param {View} view
 */
function belote(session, view) {
  if (view.moves?.kind !== "cards" || view.moves.belote.length === 0) return nothing;
  return html`<label class="switch-row belote" data-testid="belote">
    <span>${t("belote.declare")}</span>
    <input class="switch" type="checkbox" role="switch" .checked=${session.declares} @change=${(/** @type {Event} */ event) => {
      session.declares = /** @type {HTMLInputElement} */ (event.target).checked;
      changed();
    }}>
  </label>`;
}

/**
 * @param {Session} session
 * @param {View} view
 */
function ownHand(session, view) {
  const moves = view.moves?.kind === "cards" ? view.moves : null;
  const pending = session.pending?.action.kind === "play" ? session.pending.action.card : null;
  const trump = view.contract?.trump.length === 1 ? view.contract.trump : null;
  /**
   * @param {string} card
   * @param {string | null} why
   */
  const onCard = (card, why) => {
    wake();
    if (!moves) return;
    if (why !== null) return session.note(reason(why));
    const declares = moves.belote.includes(card) && session.declares;
    session.act(declares ? { kind: "play", card, belote: true } : { kind: "play", card });
  };
  return hand({
    cards: moves ? moves.cards : (view.hand ?? []),
    turn: moves !== null && pending === null,
    trump: view.phase === "playing" ? /** @type {Trump | null} */ (trump) : null,
    selected: pending,
    lang: language(),
    label: t("hand.label"),
    describe: (card, why) => (why === null ? cardAloud(card) : `${cardAloud(card)}, ${reason(why)}`),
    onCard,
  });
}
