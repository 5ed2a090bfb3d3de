// @ts-check
// Before the game: the link to share, who is still missing, and what this table plays.

import { html, nothing } from "../vendor/lit.js";
import * as api from "../api.js";
import { atTable, copy, sitDown } from "../actions.js";
import { link } from "../base.js";
import { t } from "../i18n.js";
import { changed, state } from "../store.js";
import { pathOf } from "../place.js";
import { nameForm } from "./name.js";
import { icon, rulesLine } from "./parts.js";

/** @import {Session} from "../session.js" */

let copied = false;

/** @param {Session} session */
export function waiting(session) {
  const { table, seat } = session;
  if (!table) return html`<div class="waiting"><p class="muted">${t("link.connecting")}</p></div>`;
  const free = table.seats.filter(({ kind }) => kind === "free").length;
  const ready = seat !== null && session.at(seat).ready;
  const missing = table.seats.filter((one) => one.kind === "person" && !one.ready && one.seat !== seat).map((one) => session.name(one.seat));
  return html`<section class="waiting" aria-label=${t("waiting.title")}>
    <p class="waiting-rules muted">${rulesLine(table)}</p>
    ${share(table.id)}
    <p class="waiting-line" role="status">${free > 0
      ? t("waiting.free", { count: free })
      : missing.length
        ? t("waiting.for", { names: missing.join(", ") })
        : t("waiting.almost")}</p>
    ${state.known && !state.me ? nameForm() : nothing}
    <div class="waiting-do">
      ${seat === null
        ? free > 0
          ? html`<button class="brass-button wide" type="button" data-testid="sit" @click=${() => sitDown()}>${t("seat.sit")}</button>`
          : nothing
        : html`${session.isHost && free > 0
              ? html`<button class="brass-button wide" type="button" data-testid="start" @click=${() => atTable(api.start)}>${t("waiting.start")}</button>`
              : nothing}
            <button class="${ready || (session.isHost && free > 0) ? "plain-button" : "brass-button"} wide" type="button" data-testid="ready"
              aria-pressed=${ready ? "true" : "false"} @click=${() => atTable((id) => api.ready(id, !ready))}>${t(ready ? "waiting.not_ready" : "waiting.ready")}</button>`}
    </div>
    ${session.notice ? html`<p class="problem" role="alert">${session.notice}</p>` : nothing}
  </section>`;
}

/** @param {string} table */
function share(table) {
  const address = link(pathOf(table));
  /** @param {Event} event */
  const onCopy = async (event) => {
    const row = /** @type {HTMLElement} */ (event.currentTarget).closest(".share");
    copied = await copy(address, /** @type {HTMLInputElement | null} */ (row?.querySelector("input") ?? null));
    changed();
    setTimeout(() => {
      copied = false;
      changed();
    }, 2000);
  };
  return html`<div class="share">
    <label for="share" class="aloud">${t("waiting.link")}</label>
    <input id="share" readonly data-testid="share-link" .value=${address} @focus=${(/** @type {FocusEvent} */ event) => /** @type {HTMLInputElement} */ (event.target).select()}>
    <button class="plain-button" type="button" data-testid="copy-link" @click=${onCopy}>${icon("copy")} ${t(copied ? "waiting.copied" : "waiting.copy")}</button>
  </div>`;
}
