// @ts-check
// The middle of the table: the trick, what it is worth so far, and the last one on demand.

import { html, nothing } from "../vendor/lit.js";
import { card } from "../cards.js";
import { language, t } from "../i18n.js";
import { isUnplayed } from "../layout.js";
import { changed, state } from "../store.js";
import { trick } from "../trick.js";
import { card as cardShort, cardAloud, coded } from "../words.js";
import { icon, rich } from "./parts.js";
import { bottom, directionOf, seats } from "./seats.js";

/** @import {Session} from "../session.js" */
/** @import {View, ShownMeld} from "../types.js" */

/** @param {Session} session */
export function felt(session) {
  const { view } = session.shown;
  const phase = view && isUnplayed(view) ? "bidding" : (view?.phase ?? "waiting");
  return html`<div class="felt is-${phase}">
    ${seats(session)}
    <div class="felt-middle">${view ? middle(session, view) : nothing}</div>
    ${sentence(session, view)}
    ${view?.phase === "playing" ? html`${lastButton(view)} ${belote(session, view)}` : nothing}
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
 * The one line under the trick: what is wrong, or why not, or whose turn it is.
 * @param {Session} session
 * @param {View | null} view
 */
function sentence(session, view) {
  const lost = session.line !== "live" && !(session.line === "connecting" && session.table === null);
  const notice = session.notice || (view && session.seat !== null && session.at(session.seat).away ? t("stand_in.plays") : "");
  return html`<div class="felt-lines">
    ${lost ? html`<p class="felt-line reconnecting" role="status" data-testid="reconnecting">${t(offLine(session))}</p>` : nothing}
    <p class="felt-line notice" role="status" data-testid="notice" ?hidden=${lost}>${view ? rich(notice) : nothing}</p>
    ${view && !lost && !notice ? html`<p class="felt-line" data-testid="line">${line(session, view, state.drawer === "trick")}</p>` : nothing}
  </div>`;
}

/** @param {Session} session */
function offLine(session) {
  if (session.line === "newer" || session.line === "blocked") return `link.${session.line}`;
  if (session.pending) return "notice.kept";
  return navigator.onLine ? "link.lost" : "link.offline";
}

/** @param {View} view */
function lastButton(view) {
  if (!view.last_trick) return nothing;
  const isOpen = state.drawer === "trick";
  const toggle = () => {
    state.drawer = isOpen ? null : "trick";
    changed();
  };
  const label = t(isOpen ? "trick.back" : "trick.last");
  return html`<button class="felt-button last-button" type="button" data-testid="last-trick" aria-pressed=${isOpen ? "true" : "false"}
    aria-label=${label} title=${label} @click=${toggle}>${icon(isOpen ? "back" : "cards")}<span class="last-words">${label}</span></button>`;
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
 * @param {boolean} showsLast
 */
function line(session, view, showsLast) {
  const name = (/** @type {number} */ seat) => (seat === view.viewer ? t("seat.you") : session.name(seat));
  if (showsLast && view.last_trick) {
    return t("trick.last_line", { name: name(view.last_trick.winner ?? 0), points: view.last_trick.points });
  }
  if (isUnplayed(view)) return view.redeal ? `${name(view.redeal.seat)} · ${coded("redeal", view.redeal.right)}` : t("event.passed_out");
  if (view.turn !== null && view.turn === view.viewer) return html`<b class="yours">${t("turn.yours")}</b>${trickWords(view, name)}`;
  if (session.ahead !== null) return rich(t("hand.ahead", { card: cardShort(session.ahead) }));
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
 * The melds that were laid open, for the column where they stay.
 * @param {Session} session
 * @param {ShownMeld[]} shown
 */
export function melds(session, shown) {
  return html`<div class="melds-list" role="group" aria-label=${t("melds.title")} data-testid="melds">
    ${shown.map(
      (meld) => html`<div class="meld"><span><bdi>${session.name(meld.seat)}</bdi> · ${coded("meld", meld.kind)} ${meld.points}</span>
        <span class="meld-cards">${meld.cards.map((name) => card(name, { lang: language(), label: cardAloud(name) }))}</span></div>`,
    )}
  </div>`;
}
