// @ts-check
// The menu: how the page looks and sounds, and the way out.

import { html, nothing } from "../vendor/lit.js";
import { atTable, closeTable, leaveTable } from "../actions.js";
import * as api from "../api.js";
import { href } from "../base.js";
import { LANGUAGES, t } from "../i18n.js";
import { PACES } from "../pace.js";
import { wake } from "../sound.js";
import { changed, isStill, prefer, state } from "../store.js";
import { closeButton, dialog } from "./parts.js";

/** @import {Session} from "../session.js" */

/** What is asked for once more before it is done. @type {"leave" | "close" | null} */
let asked = null;

function close() {
  asked = null;
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
    ${toggle(t("menu.stillness"), isStill(), (stillness) => prefer({ stillness }), "stillness")}
    ${choice(t("menu.pace"), paces, preferences.pace, (one) => t(`pace.${one}`), setPace)}
    ${choice(t("menu.theme"), ["auto", "light", "dark"], preferences.theme, (one) => t(`theme.${one}`), (theme) =>
      prefer({ theme: /** @type {"auto" | "light" | "dark"} */ (theme) }),
    )}
    ${state.session ? ways() : nothing}`;
}

function ways() {
  const { session } = state;
  if (!session) return nothing;
  const { seat, table } = session;
  const playing = table?.status === "playing";
  return html`<div class="menu-ways">
    <a class="plain-button wide" href=${href("/")} data-testid="to-lobby">${t("menu.lobby")}</a>
    ${others(session, playing).map(
      ({ way, name, of }) => html`<button class="plain-button wide" type="button" data-testid="${way}-${of}"
        @click=${() => atTable((id) => (way === "free" ? api.vacateSeat(id, of) : api.standIn(id, of)))}>${t(`menu.${way}`, { name })}</button>`,
    )}
    ${seat === null ? nothing : playing ? twice("leave", leaveTable) : once("leave", leaveTable)}
    ${session.isHost && table?.closable ? twice("close", closeTable) : nothing}
  </div>`;
}

/**
 * Whom one may ask to make way: the host anybody, the others the host. The server says whether it is time.
 * @param {Session} session
 * @param {boolean} playing
 */
function others(session, playing) {
  const { seat, table } = session;
  if (seat === null || !table || (playing && table.clock !== null)) return [];
  const way = /** @type {"free" | "stand_in"} */ (playing ? "stand_in" : "free");
  return table.seats
    .filter((one) => one.kind === "person" && one.seat !== seat && !one.away && (session.isHost || one.player === table.host))
    .map((one) => ({ way, of: one.seat, name: session.name(one.seat) }));
}

/**
 * @param {"leave" | "close"} way
 * @param {() => unknown} go
 */
function once(way, go) {
  return html`<button class="plain-button wide" type="button" data-testid=${way} @click=${go}>${t(`menu.${way}`)}</button>`;
}

/**
 * The same, when it has been asked for once more.
 * @param {"leave" | "close"} way
 * @param {() => unknown} go
 */
function twice(way, go) {
  const ask = () => {
    asked = way;
    changed();
  };
  if (asked !== way) return once(way, ask);
  return html`<p class="muted">${t(`menu.${way}_sure`)}</p>
    <button class="plain-button wide danger" type="button" data-testid="${way}-sure" @click=${go}>${t(`menu.${way}_yes`)}</button>`;
}
