// @ts-check
// What stands on the table when no cards do: the sheet of the deal just played, and the end of the game.

import { html, nothing } from "../vendor/lit.js";
import * as api from "../api.js";
import { atTable } from "../actions.js";
import { href } from "../base.js";
import { num, t } from "../i18n.js";
import { other, sideOf } from "../words.js";
import { changed } from "../store.js";
import { dealLines, sheetTable } from "./sheet.js";

/** @import {Session} from "../session.js" */
/** @import {View, Row, Side} from "../types.js" */
/** @import {Reader} from "./sheet.js" */

/**
 * @param {Session} session
 * @param {View} view
 * @returns {Reader}
 */
export function readerOf(session, view) {
  const mine = view.viewer ?? session.seat;
  return {
    name: (seat) => (seat === mine ? t("seat.you") : session.name(seat)),
    side: (side) => session.side(side),
    first: mine === null ? "A" : sideOf(mine),
    rules: session.table?.rules ?? {},
  };
}

/** @type {ReturnType<typeof setTimeout> | undefined} */
let tick;

/** Draw again in a second, for the countdown. */
function soon() {
  clearTimeout(tick);
  tick = setTimeout(changed, 1000);
}

/**
 * The sheet between two deals.
 * @param {Session} session
 * @param {View} view
 * @param {Row} row
 */
export function betweenDeals(session, view, row) {
  const reader = readerOf(session, view);
  return html`<section class="between" aria-labelledby="between-title" data-testid="between">
    <div class="between-in">
      <h2 id="between-title">${t("sheet.deal", { deal: row.deal })}</h2>
      ${dealLines(row, reader)} ${totalsLine(view, reader)}
      ${view.sheet.length > 1
        ? html`<details class="earlier"><summary>${t("sheet.earlier")}</summary>${sheetTable(view.sheet, reader)}</details>`
        : nothing}
    </div>
    <div class="between-foot">${onward(session)}</div>
  </section>`;
}

/**
 * The way to the next deal, or for whom it waits.
 * @param {Session} session
 */
export function onward(session) {
  const { next, deadline } = session.shown;
  const seat = session.seat;
  const hasRead = seat !== null && (next.includes(seat) || session.doing?.kind === "next");
  const left = deadline === null ? null : Math.max(0, Math.ceil((deadline - session.now) / 1000));
  if (left !== null) soon();
  const waitsFor = [0, 1, 2, 3].filter((one) => !next.includes(one) && session.at(one).kind === "person" && one !== seat);
  if (seat === null) return html`<p class="muted">${left === null ? t("sheet.soon") : t("sheet.soon_in", { count: left })}</p>`;
  if (hasRead) {
    return html`<p class="muted" role="status">${waitsFor.length
      ? t("sheet.waits_for", { names: waitsFor.map((one) => session.name(one)).join(", ") })
      : t("sheet.soon")}${left === null ? "" : ` (${num(left)})`}</p>`;
  }
  return html`<button class="brass-button wide" type="button" data-testid="next-deal" @click=${() => session.act({ kind: "next" })}>
    ${t("sheet.next")}${left === null ? "" : ` (${num(left)})`}
  </button>`;
}

/**
 * @param {View} view
 * @param {Reader} reader
 */
function totalsLine(view, reader) {
  const second = other(reader.first);
  return html`<p class="totals-line">
    <span>${reader.side(reader.first)} <b>${num(view.totals[reader.first])}</b></span>
    <span>${reader.side(second)} <b>${num(view.totals[second])}</b></span>
    <span class="muted">${t("score.target", { points: view.target })}</span>
  </p>`;
}

/**
 * The game is over.
 * @param {Session} session
 * @param {View} view
 */
export function gameOver(session, view) {
  const reader = readerOf(session, view);
  const winner = /** @type {Side} */ (view.winner ?? (view.totals.A >= view.totals.B ? "A" : "B"));
  const seat = session.seat;
  const mine = seat === null ? null : sideOf(seat);
  const first = winner === "A" ? 0 : 1;
  const title = mine === null ? t("result.names", { a: session.name(first), b: session.name(first + 2) }) : t(mine === winner ? "result.won" : "result.lost");
  const last = view.sheet[view.sheet.length - 1];
  const ready = seat !== null && session.at(seat).ready && session.table?.status !== "playing";
  const again = () =>
    atTable((id) => {
      const others = session.table?.seats.filter((one) => one.seat !== seat) ?? [];
      const alone = session.isHost && !others.some(({ kind }) => kind === "person");
      return alone ? api.start(id) : api.ready(id, true);
    });
  const waiting = session.table?.seats.filter((one) => one.kind === "person" && !one.ready).map((one) => session.name(one.seat)) ?? [];
  return html`<section class="between result" aria-labelledby="result-title" data-testid="result">
    <div class="between-in">
      <h2 id="result-title">${title}</h2>
      <p class="result-score"><b>${num(view.totals[reader.first])}</b><span> – </span><b>${num(view.totals[other(reader.first)])}</b></p>
      <p class="muted result-sides">${t("result.by", {
        a: session.name(first),
        b: session.name(first + 2),
        count: Math.abs(view.totals.A - view.totals.B),
      })}</p>
      ${sheetTable(view.sheet, reader)}
      ${last ? html`<h3>${t("sheet.deal", { deal: last.deal })}</h3>${dealLines(last, reader)}` : nothing}
    </div>
    <div class="between-foot two">
      ${seat === null
        ? nothing
        : ready
          ? html`<p class="muted" role="status">${t("result.waiting", { names: waiting.join(", ") })}</p>`
          : html`<button class="brass-button wide" type="button" data-testid="play-again" @click=${again}>${t("result.again")}</button>`}
      ${session.table?.games ? html`<a class="plain-button wide" href=${href(`/g/${session.id}/${session.table.games}`)} data-testid="read-game">${t("result.read")}</a>` : nothing}
      <a class="plain-button wide" href=${href("/")} data-testid="back-to-lobby">${t("result.lobby")}</a>
    </div>
  </section>`;
}
