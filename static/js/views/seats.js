// @ts-check
// The four places around the felt: who sits there, whose turn it is, and what was said last.

import { html, keyed, nothing } from "../vendor/lit.js";
import * as api from "../api.js";
import { atTable, sitDown } from "../actions.js";
import { cssVars } from "../cssvars.js";
import { t } from "../i18n.js";
import { sideOf } from "../layout.js";
import { state } from "../store.js";
import { call, coded } from "../words.js";
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
      : html`<span class="seat-name" title=${mark ? `${info.name} (${mark})` : (info.name ?? "")}>${name}${mark ? html`<span class="aloud"> (${mark})</span>` : nothing}</span>`}
    ${free ? nothing : under(session, view, seat)}
    ${bubble ? html`<span class="bubble">${bubble.text}</span>` : nothing}
  </div>`;
}

/** @param {number} cards */
function count(cards) {
  return html`<span class="count"><span aria-hidden="true">${cards}</span><span class="aloud">${t("seat.cards", { count: cards })}</span></span>`;
}

/** @param {string} name */
function initial(name) {
  return [...name.trim()][0]?.toUpperCase() ?? "?";
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
 * What stands under the name: state of the person, last call, belote and melds.
 * @param {Session} session
 * @param {View | null} view
 * @param {number} seat
 */
function under(session, view, seat) {
  const info = session.at(seat);
  const waiting = view === null || session.table?.status !== "playing";
  return html`<span class="seat-under">
    ${info.away && seat !== session.seat
      ? html`<span class="tag">${t("seat.away")}</span>`
      : info.kind === "person" && !info.present
        ? html`<span class="tag">${t("seat.absent")}</span>`
        : nothing}
    ${waiting && !view ? html`<span class="tag ${info.ready ? "is-ready" : ""}">${t(info.ready ? "seat.ready" : "seat.not_ready")}</span>` : nothing}
    ${view ? told(view, seat) : nothing} ${hostDoes(session, seat)}
  </span>`;
}

/**
 * @param {View} view
 * @param {number} seat
 */
function told(view, seat) {
  if (view.phase === "bidding") {
    const last = view.calls.filter((one) => one.seat === seat).at(-1);
    if (!last) return nothing;
    const kind = typeof last.call === "string" ? last.call : "bid";
    return html`<span class="said said-${kind}">${rich(call(last.call))}</span>`;
  }
  if (view.phase !== "playing") return nothing;
  const declarer = view.contract?.declarer === seat;
  const melds = view.melds.filter((one) => one.seat === seat).map((one) => coded("meld", one.kind));
  const belote = view.belotes.filter((one) => one.seat === seat).at(-1);
  const marks = [...melds, ...(belote ? [coded("belote", belote.word)] : [])];
  return html`${declarer && view.contract ? html`<span class="said said-bid">${rich(call(view.contract))}</span>` : nothing}
    ${marks.length ? html`<span class="tag">${marks.join(" · ")}</span>` : nothing}`;
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
