// @ts-check
// The middle of the table: the trick, what it is worth so far, and the last one on demand.

import { html, nothing } from "../vendor/lit.js";
import { card } from "../cards.js";
import { language, t } from "../i18n.js";
import { changed, state } from "../store.js";
import { trick } from "../trick.js";
import { cardAloud, coded } from "../words.js";
import { bottom, directionOf, seats } from "./seats.js";

/** @import {Session} from "../session.js" */
/** @import {View, ShownMeld} from "../types.js" */

/** @param {Session} session */
export function felt(session) {
  const { view } = session.shown;
  return html`<div class="felt ${view?.phase === "bidding" ? "is-bidding" : ""}">
    ${seats(session)}
    <div class="felt-middle">${view ? middle(session, view) : nothing}</div>
    ${view ? below(session, view) : nothing}
  </div>`;
}

/**
 * @param {Session} session
 * @param {View} view
 */
function middle(session, view) {
  if (state.drawer === "trick" && view.last_trick) return lastTrick(session, view);
  if (view.phase !== "playing" || !view.trick) return nothing;
  const { kind } = session.shown;
  return trick({
    cards: view.trick.cards,
    viewer: bottom(session),
    direction: directionOf(session),
    next: view.turn,
    master: view.trick.master ?? null,
    gather: kind === "gather" ? (view.trick.master ?? null) : null,
    id: `${view.deal}/${view.trick.cards[0]?.card ?? ""}`,
    lang: language(),
    label: t("trick.label"),
    describe: (played) => `${session.name(played.seat)}: ${cardAloud(played.card)}`,
  });
}

/**
 * @param {Session} session
 * @param {View} view
 */
function lastTrick(session, view) {
  const last = /** @type {NonNullable<View["last_trick"]>} */ (view.last_trick);
  return html`<div class="last-trick">${trick({
    cards: last.cards,
    viewer: bottom(session),
    direction: directionOf(session),
    master: last.winner ?? null,
    id: "last",
    lang: language(),
    label: t("trick.last"),
    describe: (played) => `${session.name(played.seat)}: ${cardAloud(played.card)}`,
  })}</div>`;
}

/**
 * One line under the trick, and what lies beside it.
 * @param {Session} session
 * @param {View} view
 */
function below(session, view) {
  const showsLast = state.drawer === "trick";
  const toggle = () => {
    state.drawer = showsLast ? null : "trick";
    changed();
  };
  return html`<p class="felt-line">${line(session, view, showsLast)}</p>
    ${view.last_trick && view.phase === "playing"
      ? html`<button class="felt-button last-button" type="button" data-testid="last-trick" aria-pressed=${showsLast ? "true" : "false"} @click=${toggle}>${t(showsLast ? "trick.back" : "trick.last")}</button>`
      : nothing}
    ${session.showsMelds && view.melds_shown.length ? melds(session, view.melds_shown) : nothing}`;
}

/**
 * @param {Session} session
 * @param {View} view
 * @param {boolean} showsLast
 */
function line(session, view, showsLast) {
  const name = (/** @type {number} */ seat) => (seat === view.viewer ? t("seat.you") : session.name(seat));
  if (showsLast && view.last_trick) {
    return t("trick.last_line", { name: name(view.last_trick.winner ?? 0), points: view.last_trick.points });
  }
  if (view.turn !== null && view.turn === view.viewer) return html`<b class="yours">${t("turn.yours")}</b>${trickWords(view, name)}`;
  if (view.turn !== null && view.phase === "bidding") return t("turn.speaks", { name: session.name(view.turn) });
  if (view.turn !== null && view.phase === "playing") return html`${t("turn.plays", { name: session.name(view.turn) })}${trickWords(view, name)}`;
  if (view.phase === "playing" && view.trick) {
    const { master, points } = view.trick;
    if (typeof master === "number") return t("trick.taken", { name: name(master), points });
  }
  return nothing;
}

/**
 * @param {View} view
 * @param {(seat: number) => string} name
 */
function trickWords(view, name) {
  const { trick: now } = view;
  if (view.phase !== "playing" || !now || now.cards.length === 0 || typeof now.master !== "number") return nothing;
  return html`<span class="trick-words"> · ${t("trick.points", { count: now.points })} · ${t("trick.master", { name: name(now.master) })}</span>`;
}

/**
 * @param {Session} session
 * @param {ShownMeld[]} shown
 * @param {string} [kind] over the felt for a while, or in a column to stay
 */
export function melds(session, shown, kind = "melds") {
  return html`<div class="${kind}" role="group" aria-label=${t("melds.title")} data-testid="melds">
    ${shown.map(
      (meld) => html`<div class="meld"><span>${session.name(meld.seat)} · ${coded("meld", meld.kind)} ${meld.points}</span>
        <span class="meld-cards">${meld.cards.map((one) => card(one, { lang: language(), label: cardAloud(one) }))}</span></div>`,
    )}
  </div>`;
}
