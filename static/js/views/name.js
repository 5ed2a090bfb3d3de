// @ts-check
// Who is playing? A name is all one needs.

import { html } from "../vendor/lit.js";
import { saveName } from "../actions.js";
import { t } from "../i18n.js";
import { changed, state } from "../store.js";
import { NAME, fit } from "../text.js";

/** Asks for a name on the first visit; afterwards it stands there to be changed. */
export function nameForm() {
  /** @param {SubmitEvent} event */
  const save = async (event) => {
    event.preventDefault();
    const field = /** @type {HTMLInputElement} */ (/** @type {HTMLFormElement} */ (event.target).elements.namedItem("name"));
    state.problem = await saveName(fit(field.value, NAME));
    if (navigator.cookieEnabled === false) state.problem = t("reason.cookies");
    state.lobby.renaming = false;
    changed();
  };
  return html`<form class="name-form" @submit=${save}>
    <label for="name">${state.me ? t("name.yours") : t("name.ask")}</label>
    <span class="field-row">
      <input id="name" name="name" data-testid="name-input" autocomplete="nickname" dir="auto" spellcheck="false"
        placeholder=${t("name.guest")} .value=${state.me?.name ?? ""}>
      <button class="plain-button" type="submit" data-testid="save-name">${t("name.save")}</button>
    </span>
  </form>`;
}
