// @ts-check
// A finished game, read again: each deal with its calls and its lines.

import { html, nothing } from "../vendor/lit.js";
import * as api from "../api.js";
import { wordsFor } from "../actions.js";
import { num, t } from "../i18n.js";
import { changed, state } from "../store.js";
import { call } from "../words.js";
import { closeButton, dialog, presetName, rich } from "./parts.js";
import { dealLines } from "./sheet.js";

/** @param {string} id */
export async function openGame(id) {
  state.game = { game: null, problem: "" };
  changed();
  try {
    const game = await api.game(id);
    state.game = { game, problem: "" };
  } catch (problem) {
    state.game = { game: null, problem: wordsFor(problem) };
  }
  changed();
}

function close() {
  state.game = null;
  changed();
}

/** @param {{game: any, problem: string}} opened */
export function gamePage({ game, problem }) {
  return dialog({ open: true, label: t("games.one"), kind: "game", close, content: game ? gameBody(game) : loading(problem) });
}

/** @param {string} problem */
function loading(problem) {
  return html`<div class="panel-head"><h2>${t("games.one")}</h2>${closeButton(close)}</div>
    <p class="muted">${problem || t("tables.looking")}</p>`;
}

/** @param {any} game */
function gameBody(game) {
  const names = namesOf(game);
  const name = (/** @type {number} */ seat) => names[seat] ?? t("seat.unnamed", { number: seat + 1 });
  const rows = game.deals ?? game.sheet ?? [];
  const me = state.me ? (game.players ?? game.seats ?? []).findIndex((/** @type {any} */ one) => one?.id === state.me?.id || one?.player === state.me?.id) : -1;
  /** @type {import("./sheet.js").Reader} */
  const reader = {
    name,
    side: (side) => (side === "A" ? `${name(0)} & ${name(2)}` : `${name(1)} & ${name(3)}`),
    first: me % 2 === 1 ? "B" : "A",
    rules: game.rules ?? {},
  };
  const totals = game.totals ?? rows.at(-1)?.totals;
  return html`<div class="panel-head"><h2>${reader.side("A")} – ${reader.side("B")}</h2>${closeButton(close)}</div>
    <p class="muted">${presetName(game.preset ?? null)}${totals ? html` · <b>${num(totals.A)} – ${num(totals.B)}</b>` : nothing}</p>
    ${rows.map(
      (/** @type {any} */ row) => html`<section class="game-deal">
        <h3>${t("sheet.deal", { deal: row.deal })}</h3>
        ${row.calls?.length
          ? html`<ol class="calls-line">
              ${row.calls.map((/** @type {any} */ one) => html`<li><span class="muted">${name(one.seat)}</span> ${rich(call(one.call))}</li>`)}
            </ol>`
          : nothing}
        ${Array.isArray(row.lines) ? dealLines(row, reader) : nothing}
      </section>`,
    )}`;
}

/**
 * @param {any} game
 * @returns {string[]}
 */
function namesOf(game) {
  return (game.players ?? game.seats ?? []).map((/** @type {any} */ one) => (typeof one === "string" ? one : (one?.name ?? "")));
}
