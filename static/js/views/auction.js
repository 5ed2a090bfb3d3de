// @ts-check
// The auction: what has been said, and the sheet above the hand on which one speaks.

import { html, nothing } from "../vendor/lit.js";
import { t } from "../i18n.js";
import { suit } from "../cards.js";
import { moveFocus } from "../layout.js";
import { changed } from "../store.js";
import { bid, call, callAloud, coded, trump, trumpAloud, value } from "../words.js";
import { rich } from "./parts.js";

/** @import {Session} from "../session.js" */
/** @import {Bids, CallMoves, Suit, Trump, View} from "../types.js" */

/**
 * Everything said in this deal, in order.
 * @param {Session} session
 * @param {View} view
 */
export function calls(session, view) {
  if (view.calls.length === 0) return html`<p class="muted">${t("auction.nothing")}</p>`;
  return html`<ol class="calls">
    ${view.calls.map(
      (one) => html`<li><span class="calls-who">${one.seat === view.viewer ? t("seat.you") : session.name(one.seat)}</span>
        <span class="calls-what">${rich(call(one.call))}</span></li>`,
    )}
  </ol>`;
}

/**
 * The sheet on which one speaks, or who is speaking.
 * @param {Session} session
 * @param {View} view the newest
 */
export function auction(session, view) {
  const moves = view.moves?.kind === "calls" ? view.moves : null;
  const speaks = moves !== null && (moves.pass || moves.bids !== null || moves.surcoinche);
  if (!moves || !speaks) return listening(session, view, moves);
  return html`<section class="auction" aria-label=${t("auction.title")} data-testid="auction">
    ${moves.bids ? bidding(session, view, moves.bids) : nothing}
    <div class="auction-says">
      ${moves.pass
        ? html`<button class="plain-button" type="button" data-testid="call-pass" @click=${() => session.act({ kind: "pass" })}>${t("call.pass")}</button>`
        : nothing}
      ${redeals(session, moves)} ${coinche(session, moves)}
      ${moves.surcoinche
        ? html`<button class="plain-button red" type="button" data-testid="call-surcoinche" @click=${() => session.act({ kind: "surcoinche" })}>${t("call.surcoinche")}</button>`
        : nothing}
      ${moves.bids ? announce(session, view, moves.bids) : nothing}
    </div>
  </section>`;
}

/**
 * @param {Session} session
 * @param {View} view
 * @param {CallMoves | null} moves
 */
function listening(session, view, moves) {
  return html`<section class="auction is-listening" aria-label=${t("auction.title")}>
    <div class="calls-strip">${calls(session, view)}</div>
    ${moves ? html`<div class="auction-says">${redeals(session, moves)} ${coinche(session, moves)}</div>` : nothing}
  </section>`;
}

/**
 * @param {Session} session
 * @param {CallMoves} moves
 */
function redeals(session, moves) {
  return (moves.redeal ?? []).map(
    (right) => html`<button class="plain-button" type="button" data-testid="redeal-${right}" @click=${() => session.act({ kind: "redeal", right })}>${coded("redeal", right)}</button>`,
  );
}

/**
 * @param {Session} session
 * @param {CallMoves} moves
 */
function coinche(session, moves) {
  const { coinche: on } = moves;
  if (!on) return nothing;
  return html`<button class="plain-button red" type="button" data-testid="call-coinche" aria-label=${t("auction.coinche_on", { bid: callAloud(on) })}
    @click=${() => session.act({ kind: "coinche", on })}>${t("call.coinche")}</button>`;
}

/**
 * What is picked: kept as long as it may still be bid, else the lowest.
 * @param {Session} session
 * @param {View} view
 * @param {Bids} bids
 */
function picked(session, view, bids) {
  const { pick } = session;
  const deal = `${session.table?.games}/${view.deal}`;
  if (pick.deal !== deal) Object.assign(pick, { deal, value: null, trump: null });
  const number = typeof pick.value === "number" && bids.lowest !== null && pick.value >= bids.lowest ? pick.value : null;
  const chosenValue = pick.value === "capot" && bids.capot ? "capot" : (number ?? bids.lowest ?? "capot");
  const chosenTrump = pick.trump !== null && bids.trumps.includes(pick.trump) ? pick.trump : bids.trumps.length === 1 ? bids.trumps[0] : null;
  return { value: /** @type {number | "capot"} */ (chosenValue), trump: /** @type {Trump | null} */ (chosenTrump) };
}

/** So many numbers are shown side by side, all of them at once; more are gone through by steps. */
const MOST_CHIPS = 11;

/** By how many steps one button goes on. */
const LEAPS = [-5, -1, 1, 5];

/**
 * A number that goes up and down, where there are too many to show them all.
 * @param {Bids} bids
 * @param {number | "capot"} picked
 * @param {(value: number | "capot") => void} set
 * @param {unknown} capot
 */
function stepper(bids, picked, set, capot) {
  const { lowest, highest, step } = bids;
  if (lowest === null) return nothing;
  const number = typeof picked === "number" ? picked : highest;
  /** @param {number} leap */
  const button = (leap) => {
    const by = Math.abs(leap * step);
    const to = Math.min(Math.max(number + leap * step, lowest), highest);
    return html`<button class="bid-chip" type="button" data-testid="bid-step-${leap}" ?disabled=${to === number}
      aria-label=${t(leap < 0 ? "auction.less" : "auction.more", { by })} @click=${() => set(to)}>${leap < 0 ? "−" : "+"}${value(by)}</button>`;
  };
  const chosen = html`<output data-testid="bid-value-now">${value(picked === "capot" ? number : picked)}</output>`;
  return html`<div class="bid-step ${picked === "capot" ? "" : "is-picked"}" role="group" aria-label=${t("auction.values")}>
    ${LEAPS.slice(0, 2).map(button)} ${chosen} ${LEAPS.slice(2).map(button)} ${capot}
  </div>`;
}

/**
 * The numbers to show: all from the opening on, so that each keeps its place in the whole auction.
 * @param {Session} session
 * @param {Bids} bids
 */
function numbers(session, bids) {
  if (bids.lowest === null) return [];
  const from = Number(session.table?.rules.lowest_bid ?? bids.lowest);
  const all = [];
  for (let one = from; one <= bids.highest; one += bids.step) all.push(one);
  return all;
}

/**
 * The tab key goes from one row to the next, the arrows go within a row.
 * @param {KeyboardEvent} event
 */
function onArrow(event) {
  const row = /** @type {HTMLElement} */ (event.currentTarget);
  const buttons = [...row.querySelectorAll("button")].filter((button) => !button.disabled);
  const to = moveFocus(event.key, buttons.findIndex((button) => button === document.activeElement), buttons.length);
  if (to === null || event.altKey || event.ctrlKey || event.metaKey) return;
  event.preventDefault();
  buttons[to]?.focus();
}

/**
 * @param {Session} session
 * @param {View} view
 * @param {Bids} bids
 */
function bidding(session, view, bids) {
  const now = picked(session, view, bids);
  /** @param {number | "capot"} one */
  const setValue = (one) => {
    session.pick.value = one;
    session.pick.trump = now.trump;
    changed();
  };
  /** @param {Trump} one */
  const setTrump = (one) => {
    session.pick.trump = one;
    session.pick.value = now.value;
    changed();
  };
  const choices = numbers(session, bids);
  const isStepped = choices.length > MOST_CHIPS;
  const capot = bids.capot
    ? html`<button class="bid-chip capot" type="button" data-testid="bid-value-capot" tabindex=${now.value === "capot" || isStepped ? 0 : -1} aria-pressed=${now.value === "capot" ? "true" : "false"}
        @click=${() => setValue("capot")}>${t("call.capot")}</button>`
    : nothing;
  return html`${isStepped ? stepper(bids, now.value, setValue, capot) : html`<div class="bid-values" role="group" aria-label=${t("auction.values")} @keydown=${onArrow}>
      ${choices.map((one) => {
        const reachable = bids.lowest !== null && one >= bids.lowest;
        return html`<button class="bid-chip" type="button" data-testid="bid-value-${one}" ?disabled=${!reachable}
          tabindex=${one === now.value ? 0 : -1} aria-pressed=${one === now.value ? "true" : "false"} @click=${() => setValue(one)}>${value(one)}</button>`;
      })}
      ${capot}
    </div>`}
    <div class="bid-trumps" role="group" aria-label=${t("auction.trumps")} @keydown=${onArrow}>
      ${bids.trumps.map(
        (one) => html`<button class="bid-chip" type="button" data-testid="bid-trump-${one}" tabindex=${one === (now.trump ?? bids.trumps[0]) ? 0 : -1} aria-pressed=${one === now.trump ? "true" : "false"}
          @click=${() => setTrump(one)}>${one.length === 1
            ? suit(/** @type {Suit} */ (one), { label: trumpAloud(one) })
            : html`${trump(one)}<span class="aloud">, ${trumpAloud(one)}</span>`}</button>`,
      )}
    </div>`;
}

/**
 * @param {Session} session
 * @param {View} view
 * @param {Bids} bids
 */
function announce(session, view, bids) {
  const now = picked(session, view, bids);
  if (now.trump === null) {
    return html`<button class="brass-button announce" type="button" data-testid="bid-announce" disabled>${t("auction.choose_trump")}</button>`;
  }
  const made = { value: now.value, trump: now.trump };
  return html`<button class="brass-button announce" type="button" data-testid="bid-announce"
    ?disabled=${session.doing !== null} @click=${() => session.act({ kind: "bid", ...made })}>${rich(t("auction.announce", { bid: bid(made) }))}</button>`;
}
