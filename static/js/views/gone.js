// @ts-check
// Where an address leads to nothing: a word, and a way back.

import { href } from "../base.js";
import { html } from "../vendor/lit.js";
import { t } from "../i18n.js";

/** A table that is not there, or not any more. */
export function gone() {
  return html`<main class="gone" data-testid="gone">
    <h1 data-testid="no-table">${t("gone.title")}</h1>
    <p class="muted">${t("gone.lead")}</p>
    <a class="brass-button" href=${href("/")}>${t("gone.lobby")}</a>
  </main>`;
}

/** An address that names neither a table nor a game. */
export function nowhere() {
  return html`<main class="gone" data-testid="nowhere">
    <h1>${t("nowhere.title")}</h1>
    <p class="muted">${t("nowhere.lead")}</p>
    <a class="brass-button" href=${href("/")}>${t("gone.lobby")}</a>
  </main>`;
}
