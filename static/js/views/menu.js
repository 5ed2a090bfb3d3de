// @ts-check
// The menu: how the page looks and sounds, and the way out.

import { html, nothing } from "../vendor/lit.js";
import { leaveTable } from "../actions.js";
import { LANGUAGES, t } from "../i18n.js";
import { PACES } from "../pace.js";
import { wake } from "../sound.js";
import { changed, prefer, state } from "../store.js";
import { closeButton, dialog } from "./parts.js";

let leaving = false;

function close() {
  leaving = false;
  if (state.drawer === "menu") state.drawer = null;
  changed();
}

export function menu() {
  return dialog({ open: state.drawer === "menu", label: t("menu.title"), kind: "menu", close, content: content() });
}

/**
 * @param {string} label
 * @param {boolean} on
 * @param {(on: boolean) => void} set
 * @param {string} testid
 */
function toggle(label, on, set, testid) {
  return html`<label class="switch-row">
    <span>${label}</span>
    <input class="switch" type="checkbox" role="switch" data-testid=${testid} .checked=${on}
      @change=${(/** @type {Event} */ event) => set(/** @type {HTMLInputElement} */ (event.target).checked)}>
  </label>`;
}

/**
 * @template {string} T
 * @param {string} label
 * @param {T[]} values
 * @param {T} value
 * @param {(value: T) => string} words
 * @param {(value: T) => void} set
 */
function choice(label, values, value, words, set) {
  return html`<div class="choice-row" role="group" aria-label=${label}>
    <span>${label}</span>
    <div class="chips">
      ${values.map(
        (one) => html`<button class="chip" type="button" aria-pressed=${one === value ? "true" : "false"} @click=${() => set(one)}>${words(one)}</button>`,
      )}
    </div>
  </div>`;
}

function content() {
  const { preferences } = state;
  const languages = /** @type {(keyof typeof LANGUAGES)[]} */ (Object.keys(LANGUAGES));
  const paces = /** @type {(keyof typeof PACES)[]} */ (Object.keys(PACES));
  /** @param {keyof typeof PACES} pace */
  const setPace = (pace) => {
    if (state.session) state.session.pace.pace = pace;
    prefer({ pace });
  };
  return html`<div class="panel-head"><h2>${t("menu.title")}</h2>${closeButton(close)}</div>
    ${choice(t("menu.language"), languages, preferences.language, (one) => LANGUAGES[one], (language) => prefer({ language }))}
    ${toggle(t("menu.four_colours"), preferences.fourColours, (fourColours) => prefer({ fourColours }), "four-colours")}
    ${toggle(
      t("menu.sound"),
      preferences.sound,
      (sound) => {
        prefer({ sound });
        wake();
      },
      "sound",
    )}
    ${toggle(t("menu.stillness"), preferences.stillness, (stillness) => prefer({ stillness }), "stillness")}
    ${choice(t("menu.pace"), paces, preferences.pace, (one) => t(`pace.${one}`), setPace)}
    ${choice(t("menu.theme"), ["auto", "light", "dark"], preferences.theme, (one) => t(`theme.${one}`), (theme) =>
      prefer({ theme: /** @type {"auto" | "light" | "dark"} */ (theme) }),
    )}
    ${state.session ? ways() : nothing}`;
}

function ways() {
  const { session } = state;
  if (!session) return nothing;
  const playing = session.seat !== null && session.table?.status === "playing";
  const ask = () => {
    leaving = true;
    changed();
  };
  return html`<div class="menu-ways">
    <a class="plain-button wide" href="/" data-testid="to-lobby">${t("menu.lobby")}</a>
    ${session.seat === null
      ? nothing
      : leaving && playing
        ? html`<p class="muted">${t("menu.leave_sure")}</p>
            <button class="plain-button wide danger" type="button" data-testid="leave-sure" @click=${leaveTable}>${t("menu.leave_yes")}</button>`
        : html`<button class="plain-button wide" type="button" data-testid="leave" @click=${playing ? ask : leaveTable}>${t("menu.leave")}</button>`}
  </div>`;
}
