// @ts-check
// The line above the felt: the score, the contract, and the ways to the rest.

import { html, nothing } from "../vendor/lit.js";
import { href } from "../base.js";
import { num, t } from "../i18n.js";
import { changed, prefer, state } from "../store.js";
import { bid, factor, other, sideOf } from "../words.js";
import { icon, rich } from "./parts.js";

/** @import {Session} from "../session.js" */
/** @import {View} from "../types.js" */

const WIDE = "(min-width: 1180px)";

/**
 * Open a drawer; where there is room for columns, show or hide the column.
 * @param {"left" | "right"} which
 */
export function toggle(which) {
  if (matchMedia(WIDE).matches) prefer(which === "left" ? { left: !state.preferences.left } : { right: !state.preferences.right });
  else state.drawer = state.drawer === which ? null : which;
  if (which === "right" && state.session) state.session.unread = 0;
  changed();
}

/** @param {Session} session */
export function topline(session) {
  const { view } = session.shown;
  const openMenu = () => {
    state.drawer = "menu";
    changed();
  };
  return html`<header class="topline">
    ${view ? score(session, view) : html`<a class="wordmark small" href=${href("/")}>Coinche</a>`}
    <span class="grow"></span>
    ${view
      ? html`<button class="contract-chip" type="button" data-testid="contract" @click=${() => toggle("left")}>${contractWords(session, view)}<span class="aloud">, ${t("auction.show")}</span></button>`
      : html`<button class="contract-chip" type="button" @click=${() => toggle("left")}><span class="chip-text">${t("rules.title")}</span></button>`}
    <button class="icon-button ${session.unread ? "has-news" : ""}" type="button" data-testid="open-talk"
      aria-label=${session.unread ? t("chat.unread", { count: session.unread }) : t("chat.open")} @click=${() => toggle("right")}>${icon("talk")}</button>
    <button class="icon-button" type="button" data-testid="menu" aria-label=${t("menu.title")} @click=${openMenu}>${icon("menu")}</button>
  </header>`;
}

/**
 * @param {Session} session
 * @param {View} view
 */
function score(session, view) {
  const mine = view.viewer ?? session.seat;
  const first = mine === null ? "A" : sideOf(mine);
  const second = other(first);
  return html`<button class="score" type="button" data-testid="score" @click=${() => toggle("right")}>
    <span class="score-side"><span class="score-name" title=${session.side(first)}>${session.sideShort(first)}</span> <b data-testid="score-us">${num(view.totals[first])}</b></span>
    <span aria-hidden="true">–</span>
    <span class="score-side"><span class="score-name" title=${session.side(second)}>${session.sideShort(second)}</span> <b data-testid="score-them">${num(view.totals[second])}</b></span>
    <span class="score-target">/ ${num(view.target)}</span>
    <span class="aloud">, ${t("score.show")}</span>
  </button>`;
}

/**
 * @param {Session} session
 * @param {View} view
 */
function contractWords(session, view) {
  const { contract } = view;
  if (!contract) return html`<span class="chip-text">${t("auction.title")}</span>`;
  const name = contract.declarer === view.viewer ? t("seat.you") : session.name(contract.declarer);
  return html`<b>${rich(bid(contract))}</b>
    ${contract.factor > 1 ? html`<b class="factor">${factor(contract)}</b>` : nothing}<span class="contract-who">${name}</span>`;
}
