// @ts-check
// The talk at the table: phrases at a touch, or a line of text. Only those who sit may speak.

import { html, nothing } from "../vendor/lit.js";
import { t } from "../i18n.js";
import { state } from "../store.js";
import { coded } from "../words.js";

/** @import {Session} from "../session.js" */

/** @param {Session} session */
export function chat(session) {
  const phrases = state.rules?.phrases ?? [];
  /** @param {SubmitEvent} event */
  const send = (event) => {
    event.preventDefault();
    const form = /** @type {HTMLFormElement} */ (event.target);
    const field = /** @type {HTMLInputElement} */ (form.elements.namedItem("text"));
    const text = field.value.trim();
    if (!text) return;
    session.say({ text });
    form.reset();
  };
  return html`<section class="talk" aria-labelledby="talk-title">
    <h2 id="talk-title">${t("chat.title")}</h2>
    <div class="talk-lines">
      <ol data-testid="talk">
        ${session.talk.length === 0 ? html`<li class="muted">${t("chat.none")}</li>` : nothing}
        ${session.talk.map((said) => html`<li><b><bdi>${said.name}</bdi></b> <bdi>${said.text ?? coded("phrase", said.phrase ?? "")}</bdi></li>`)}
      </ol>
    </div>
    ${session.seat === null
      ? html`<p class="muted">${t("chat.seated_only")}</p>`
      : html`<div class="chips phrases">
            ${phrases.map((phrase) => html`<button class="chip" type="button" data-testid="phrase-${phrase}" @click=${() => session.say({ phrase })}>${coded("phrase", phrase)}</button>`)}
          </div>
          <form class="field-row" @submit=${send}>
            <input name="text" data-testid="talk-input" maxlength="200" autocomplete="off" aria-label=${t("chat.write")} placeholder=${t("chat.write")}>
            <button class="plain-button" type="submit">${t("chat.send")}</button>
          </form>`}
  </section>`;
}
