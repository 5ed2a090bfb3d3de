// @ts-check
// The four places around the felt: who sits there, whose turn it is, and what was said last.

import { html, keyed, nothing } from "../vendor/lit.js";
import * as api from "../api.js";
import { atTable, sitDown } from "../actions.js";
import { cssVars } from "../cssvars.js";
import { card } from "../cards.js";
import { language, t } from "../i18n.js";
import { isUnplayed, sideOf } from "../layout.js";
import { state } from "../store.js";
import { initial } from "../text.js";
import { call, cardAloud, coded } from "../words.js";
import { icon, rich } from "./parts.js";

/** @import {Session} from "../session.js" */
/** @import {View} from "../types.js" */

/** Who is drawn at the bottom: the viewer; seat 0 for those who only watch. @param {Session} session */
export function bottom(session) {
  return session.shown.view?.viewer ?? session.seat ?? 0;
}

/** @param {Session} session */
export function directionOf(session) {
  return session.shown.view?.direction ?? String(session.table?.rules.direction ?? "clockwise");
}

/** @param {Session} session */
export function seats(session) {
  return [0, 1, 2, 3].map((seat) => place(session, seat));
}

/**
 * @param {Session} session
 * @param {number} seat
 */
function place(session, seat) {
  const { shown } = session;
  const { view } = shown;
  const info = session.at(seat);
  const side = sideOf(seat, bottom(session), directionOf(session));
  const isTurn = view !== null && view.turn === seat && (view.phase === "bidding" || view.phase === "playing");
  const isMine = seat === session.seat;
  const name = isMine ? t("seat.you") : session.name(seat);
  const free = info.kind === "free";
  const mark = info.bot ? t("seat.bot") : info.kind === "house" ? t("seat.house") : "";
  const bubble = session.bubbles.get(seat);
  return html`<div class="seat seat-${side} ${isTurn ? "is-turn" : ""} ${free ? "is-free" : ""} ${info.away ? "is-away" : ""}"
    data-testid="seat-${seat}" data-turn=${isTurn ? "true" : nothing} role="group" aria-label=${free ? t("seat.free") : name}>
    <div class="disc">
      <span class="disc-face" aria-hidden="true">${free ? "" : mark ? icon("house") : initial(session.name(seat))}</span>
      ${isTurn ? ring(session, shown.deadline) : nothing}
      ${view?.phase === "playing" && seat !== view.viewer ? count(view.counts[seat] ?? 0) : nothing}
      ${view && view.dealer === seat && view.phase !== "over" ? html`<span class="dealer" title=${t("seat.dealer")}>${t("seat.dealer_letter")}<span class="aloud">${t("seat.dealer")}</span></span>` : nothing}
    </div>
    ${free
      ? freeSeat(session, seat)
      : html`<div class="seat-lines">
          <span class="seat-name" title=${mark ? `${info.name} (${mark})` : (info.name ?? "")}><bdi>${name}</bdi>${mark ? html`<span class="aloud"> (${mark})</span>` : nothing}</span>
          ${under(session, view, seat)}
        </div>
        <div class="seat-slot">${slot(session, view, seat)}</div>`}
  </div>`;
}

/**
 * Beside or under a seat, in a place kept for it: what was just said there, or the melds laid open.
 * @param {Session} session
 * @param {View | null} view
 * @param {number} seat
 */
function slot(session, view, seat) {
  const bubble = session.bubbles.get(seat);
  if (bubble) return html`<span class="bubble" data-testid="bubble-${seat}" dir="auto">${bubble.text}</span>`;
  const help = view ? substitute(session, seat) : null;
  if (help) return help;
  const shown = session.showsMelds ? (view?.melds_shown.filter((meld) => meld.seat === seat) ?? []) : [];
  if (shown.length === 0) return view ? marks(session, view, seat) : nothing;
  return html`<span class="laid" data-testid="laid-${seat}" role="group" aria-label=${t("melds.title")}>
    ${shown.map(
      (meld) => html`<span class="meld-cards" role="group" aria-label=${`${coded("meld", meld.kind)} ${meld.points}`}>
        ${meld.cards.map((name) => card(name, { lang: language(), label: cardAloud(name) }))}</span>`,
    )}
  </span>`;
}

/** @param {number} cards */
function count(cards) {
  return html`<span class="count"><span aria-hidden="true">${cards}</span><span class="aloud">${t("seat.cards", { count: cards })}</span></span>`;
}

/**
 * The brass ring of the seat whose turn it is; with a clock it empties.
 * @param {Session} session
 * @param {number | null} deadline
 */
function ring(session, deadline) {
  const whole = (session.table?.clock ?? 0) * 1000;
  const circle = html`<svg class="ring ${deadline === null ? "" : "is-timed"}" viewBox="0 0 64 64" aria-hidden="true">
    <circle class="ring-under" cx="32" cy="32" r="29" pathLength="100"></circle>
    <circle class="ring-over" cx="32" cy="32" r="29" pathLength="100"></circle>
  </svg>`;
  if (deadline === null) return circle;
  const left = Math.max(0, deadline - session.now);
  const total = Math.max(whole, left, 1);
  return keyed(deadline, html`<span class="ring-box" ${once(deadline, total, total - left)}>${circle}</span>`);
}

/** @type {{key: number, vars: ReturnType<typeof cssVars>} | null} */
let timing = null;

/**
 * The same timing for the same deadline: setting it anew at each drawing would make the ring jump.
 * @param {number} key
 * @param {number} total
 * @param {number} gone
 */
function once(key, total, gone) {
  if (timing?.key !== key) {
    timing = { key, vars: cssVars({ "--whole": `${total}ms`, "--gone": `${-gone}ms`, "--last": `${Math.max(0, total - gone - 5000)}ms` }) };
  }
  return timing.vars;
}

/**
 * Where a bot plays for oneself, the way back. Where somebody is gone and there is no clock, a bot may be asked in: by the host, or by
 * anybody where the host is the one who is gone.
 * @param {Session} session
 * @param {number} seat
 */
function substitute(session, seat) {
  const { table } = session;
  const info = session.at(seat);
  if (session.seat === null || !table) return null;
  if (seat === session.seat) {
    return info.away
      ? html`<button class="brass-button slot-button" type="button" data-testid="take-back" @click=${() => session.act({ kind: "return" })}>${t("stand_in.return")}</button>`
      : null;
  }
  if (table.clock !== null || table.status !== "playing" || info.kind !== "person" || info.present || info.away) return null;
  const host = table.seats.find((other) => other.player === table.host);
  if (!session.isHost && host && !host.away && host !== info) return null;
  return html`<button class="felt-button slot-button" type="button" data-testid="stand-in-${seat}" aria-label=${`${t("stand_in.absent", { name: session.name(seat) })} ${t("stand_in.call")}`}
    @click=${() => atTable((id) => api.standIn(id, seat))}>${t("stand_in.call")}</button>`;
}

/**
 * What stands under the name: the last call, or the contract; before the game, whether one is ready.
 * @param {Session} session
 * @param {View | null} view
 * @param {number} seat
 */
function under(session, view, seat) {
  if (view) return html`<span class="seat-under">${told(view, seat)}</span>`;
  const info = session.at(seat);
  return html`<span class="seat-under">
    ${absence(session, seat)}
    <span class="tag ${info.ready ? "is-ready" : ""}">${t(info.ready ? "seat.ready" : "seat.not_ready")}</span>
    ${hostDoes(session, seat)}
  </span>`;
}

/**
 * Whether somebody is not there, in a word.
 * @param {Session} session
 * @param {number} seat
 */
function absence(session, seat) {
  const info = session.at(seat);
  const word = info.away ? t("seat.away") : info.kind === "person" && !info.present ? t("seat.absent") : "";
  return word ? html`<span class="tag">${word}</span>` : nothing;
}

/**
 * @param {View} view
 * @param {number} seat
 */
function told(view, seat) {
  if (view.phase === "bidding" || isUnplayed(view)) {
    const last = view.calls.filter((one) => one.seat === seat).at(-1);
    if (!last) return nothing;
    const kind = typeof last.call === "string" ? last.call : "bid";
    return html`<span class="said said-${kind}">${rich(call(last.call))}</span>`;
  }
  if (view.phase !== "playing" || view.contract?.declarer !== seat) return nothing;
  return html`<span class="said said-bid">${rich(call(view.contract))}</span>`;
}

/**
 * Whether somebody is gone, and the melds and the belote that the seat has announced.
 * @param {Session} session
 * @param {View} view
 * @param {number} seat
 */
function marks(session, view, seat) {
  const melds = view.melds.filter((meld) => meld.seat === seat).map((meld) => coded("meld", meld.kind));
  const belote = view.belotes.filter((heard) => heard.seat === seat).at(-1);
  const all = view.phase === "playing" ? [...melds, ...(belote ? [coded("belote", belote.word)] : [])] : [];
  return html`<span class="marks">${absence(session, seat)}${all.length ? html`<span class="tag">${all.join(" · ")}</span>` : nothing}</span>`;
}

/**
 * @param {Session} session
 * @param {number} seat
 */
function hostDoes(session, seat) {
  const info = session.at(seat);
  const { table } = session;
  if (!session.isHost || !table) return nothing;
  if (table.status === "playing" || info.kind !== "house" || session.shown.view) return nothing;
  return html`<button class="felt-button" type="button" data-testid="remove-house-${seat}" @click=${() => atTable((id) => api.removeHouse(id, seat))}>${t("seat.remove_house")}</button>`;
}

/**
 * @param {Session} session
 * @param {number} seat
 */
function freeSeat(session, seat) {
  const running = session.table?.status === "playing";
  return html`<span class="seat-offer">
    ${session.seat === null || !running
      ? html`<button class="felt-button" type="button" data-testid="sit-${seat}" @click=${() => sitDown(seat)}>${t(session.seat === null ? "seat.sit" : "seat.move")}</button>`
      : html`<span class="tag">${t("seat.free")}</span>`}
    ${session.isHost && !running && state.me
      ? html`<button class="felt-button" type="button" data-testid="house-${seat}" @click=${() => atTable((id) => api.addHouse(id, seat))}>${t("seat.add_house")}</button>`
      : nothing}
  </span>`;
}
