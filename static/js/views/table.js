// @ts-check
// The table: the line on top, the felt, what lies before one, and a column on either side.

import { html, nothing } from "../vendor/lit.js";
import { t } from "../i18n.js";
import { isUnplayed } from "../layout.js";
import { changed, state } from "../store.js";
import { betweenDeals, gameOver, readerOf } from "./between.js";
import { calls } from "./auction.js";
import { chat } from "./chat.js";
import { dock } from "./dock.js";
import { felt, melds } from "./felt.js";
import { gone } from "./gone.js";
import { closeButton, presetName, rulesLine, rulesList } from "./parts.js";
import { sheetTable } from "./sheet.js";
import { topline } from "./topline.js";

/** @import {Session} from "../session.js" */
/** @import {View} from "../types.js" */

export function table() {
  const { session, preferences } = state;
  if (!session) return nothing;
  if (session.line === "gone") return gone();
  const view = session.shown.view;
  return html`<div class="table ${preferences.left ? "with-left" : ""} ${preferences.right ? "with-right" : ""}" data-phase=${view?.phase ?? "waiting"}
    @keydown=${onKey}>
    ${topline(session)} ${left(session, view)}
    <main class="stage" tabindex="-1" aria-label=${t("table.label")}>
      <h1 class="aloud">${t("table.label")}</h1>
      ${felt(session)} ${between(session, view)} ${dock(session)}
    </main>
    ${right(session, view)}
    ${state.drawer === "left" || state.drawer === "right" ? html`<div class="veil" @click=${close}></div>` : nothing}
  </div>`;
}

function close() {
  state.drawer = null;
  changed();
}

/** @param {KeyboardEvent} event */
function onKey(event) {
  if (event.key === "Escape" && state.drawer !== null && state.drawer !== "menu") close();
}

/**
 * The sheet of a deal or the end of the game, once the cards have been gathered.
 * @param {Session} session
 * @param {View | null} view
 */
function between(session, view) {
  if (!view) return nothing;
  if (view.phase === "over") return gameOver(session, view);
  const row = view.sheet[view.sheet.length - 1];
  if (view.phase !== "dealing" || !row || isUnplayed(view)) return nothing;
  return betweenDeals(session, view, row);
}

/**
 * @param {Session} session
 * @param {View | null} view
 */
function left(session, view) {
  return html`<aside class="aside aside-left ${state.drawer === "left" ? "is-open" : ""}" aria-label=${t("auction.title")}>
    ${closeButton(close)}
    ${view ? html`<h2>${t("auction.title")}</h2>${calls(session, view)}` : nothing}
    ${view?.melds_shown.length ? html`<h2>${t("melds.title")}</h2>${melds(session, view.melds_shown)}` : nothing}
    <h2>${t("rules.title")}</h2>
    ${session.table ? rulesPart(session) : nothing}
  </aside>`;
}

/** @param {Session} session */
function rulesPart(session) {
  const { table } = session;
  if (!table) return nothing;
  const book = state.rules;
  return html`<p class="rules-name">${rulesLine(table)}</p>
    ${book
      ? html`<details class="all-rules"><summary>${t("rules.all", { name: presetName(table.preset) })}</summary>
          ${rulesList(table.rules, book.options, table.preset ? book.presets[table.preset] : undefined)}</details>`
      : nothing}
    ${table.spectators ? html`<p class="muted">${t("tables.watching", { count: table.spectators })}</p>` : nothing}`;
}

/**
 * @param {Session} session
 * @param {View | null} view
 */
function right(session, view) {
  return html`<aside class="aside aside-right ${state.drawer === "right" ? "is-open" : ""}" aria-label=${t("sheet.title")}>
    ${closeButton(close)}
    ${view ? html`<h2>${t("sheet.title")}</h2>${sheetTable(view.sheet, readerOf(session, view))}` : nothing} ${chat(session)}
  </aside>`;
}
