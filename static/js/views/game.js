// @ts-check
// A finished game, read again: each deal with its calls, its tricks and its lines.

import { html, nothing } from "../vendor/lit.js";
import { locale, num, t } from "../i18n.js";
import { go } from "../place.js";
import { state } from "../store.js";
import { call, card, coded, sideOf } from "../words.js";
import { closeButton, dialog, playedAs, presetName, rich } from "./parts.js";
import { dealLines } from "./sheet.js";

/** @import {FinishedGame, PlayedDeal} from "../types.js" */
/** @import {Reader} from "./sheet.js" */

function close() {
  if (state.route.name === "game") go("/");
}

/** @param {{game: FinishedGame | null, problem: string}} opened */
export function gamePage({ game, problem }) {
  const content = game ? body(game) : html`${head(t("games.one"))}<p class="muted">${problem || t("tables.looking")}</p>`;
  return dialog({ open: true, label: t("games.one"), kind: "game", close, content });
}

/** @param {string} title */
function head(title) {
  return html`<div class="panel-head"><h2>${title}</h2>${closeButton(close)}</div>`;
}

/** @param {FinishedGame} game */
function body(game) {
  const mine = game.seats.find(({ player }) => player !== null && player === state.me?.id)?.seat ?? 0;
  const name = (/** @type {number} */ seat) => playedAs(game, seat);
  /** @type {Reader} */
  const reader = {
    name,
    side: (side) => (side === "A" ? `${name(0)} & ${name(2)}` : `${name(1)} & ${name(3)}`),
    first: sideOf(mine),
    rules: game.rules,
  };
  const when = new Date(game.finished).toLocaleString(locale(), { dateStyle: "long", timeStyle: "short" });
  return html`${head(`${reader.side("A")} – ${reader.side("B")}`)}
    <p><b class="result-score">${num(game.totals.A)} – ${num(game.totals.B)}</b></p>
    ${game.ended === "abandoned" ? html`<p data-testid="abandoned">${t("games.abandoned_long")}</p>` : nothing}
    <p class="muted">${presetName(game.preset)} · ${when}</p>
    ${game.deals.map((deal) => dealPart(deal, reader))}`;
}

/**
 * @param {PlayedDeal} deal
 * @param {Reader} reader
 */
function dealPart(deal, reader) {
  return html`<section class="game-deal">
    <h3>${t("sheet.deal", { deal: deal.deal })}</h3>
    <ol class="calls-line">
      ${deal.calls.map((one) => html`<li><span class="muted">${reader.name(one.seat)}</span> ${rich(call(one.call))}</li>`)}
    </ol>
    ${deal.redeal ? html`<p>${reader.name(deal.redeal.seat)}: ${coded("redeal", deal.redeal.right)}</p>` : dealLines(deal, reader)}
    ${deal.tricks?.length ? html`<details class="earlier"><summary>${t("games.tricks")}</summary>${tricks(deal, reader)}</details>` : nothing}
  </section>`;
}

/**
 * @param {PlayedDeal} deal
 * @param {Reader} reader
 */
function tricks(deal, reader) {
  return html`<table class="tricks">
    <thead><tr>${[0, 1, 2, 3].map((seat) => html`<th>${reader.name(seat)}</th>`)}<th class="n">${t("games.points")}</th></tr></thead>
    <tbody>
      ${(deal.tricks ?? []).map(
        (trick) => html`<tr>
          ${[0, 1, 2, 3].map((seat) => {
            const laid = trick.cards.find((one) => one.seat === seat);
            const marks = `${seat === trick.winner ? "took" : ""} ${seat === trick.leader ? "led" : ""}`;
            return html`<td class=${marks}>${laid ? rich(card(laid.card)) : nothing}</td>`;
          })}
          <td class="n">${num(trick.points)}</td>
        </tr>`,
      )}
    </tbody>
  </table>`;
}
