// @ts-check
// The form that opens a table. House rules are drawn from what the server says may be set; nothing here knows a rule.

import { html, live, nothing } from "../vendor/lit.js";
import { openTable } from "../actions.js";
import { t } from "../i18n.js";
import { changed, state } from "../store.js";
import { chosen, coded } from "../words.js";
import { clockShort, closeButton } from "./parts.js";

/** @import {Option} from "../types.js" */

/**
 * @param {string} name
 * @param {string | number | boolean} value
 */
function set(name, value) {
  const { lobby, rules } = state;
  const preset = rules?.presets[lobby.preset];
  if (preset && preset[name] === value) delete lobby.overrides[name];
  else lobby.overrides[name] = value;
  changed();
}

/** @param {string} preset */
function pickPreset(preset) {
  state.lobby.preset = preset;
  state.lobby.overrides = {};
  state.lobby.refusal = "";
  changed();
}

/** @param {Event} event */
function submit(event) {
  event.preventDefault();
  void openTable();
}

function close() {
  state.lobby.opening = false;
  changed();
}

export function openForm() {
  const { lobby, rules } = state;
  return html`<section class="panel opening" aria-labelledby="opening-title">
    <div class="panel-head"><h2 id="opening-title">${t("opening.title")}</h2>${closeButton(close)}</div>
    <form @submit=${submit}>
      <fieldset class="presets">
        <legend>${t("opening.preset")}</legend>
        ${Object.keys(rules?.presets ?? {}).map(
          (id) => html`<label class="preset ${id === lobby.preset ? "is-on" : ""}">
            <input type="radio" name="preset" value=${id} .checked=${live(id === lobby.preset)} @change=${() => pickPreset(id)}>
            <span><b>${coded("preset", id)}</b><span class="muted">${coded("preset_about", id)}</span></span>
          </label>`,
        )}
      </fieldset>
      <fieldset>
        <legend>${t("opening.clock")}</legend>
        <div class="chips">
          ${(rules?.clocks ?? [null]).map(
            (clock) => html`<button type="button" class="chip" aria-pressed=${clock === lobby.clock ? "true" : "false"}
              @click=${() => {
                lobby.clock = clock;
                changed();
              }}>${clockShort(clock)}</button>`,
          )}
        </div>
      </fieldset>
      <label class="switch-row">
        <span><b>${t("opening.listed")}</b><span class="muted">${t(lobby.listed ? "opening.listed_yes" : "opening.listed_no")}</span></span>
        <input class="switch" type="checkbox" role="switch" .checked=${live(lobby.listed)}
          @change=${(/** @type {Event} */ event) => {
            lobby.listed = /** @type {HTMLInputElement} */ (event.target).checked;
            changed();
          }}>
      </label>
      ${houseRules()}
      <p class="problem" role="alert">${lobby.refusal}</p>
      <button class="brass-button wide" type="submit" data-testid="open-table-submit" ?disabled=${lobby.busy}>${t("opening.open")}</button>
    </form>
  </section>`;
}

function houseRules() {
  const { lobby, rules } = state;
  if (!rules) return nothing;
  const count = Object.keys(lobby.overrides).length;
  const groups = [...new Set(rules.options.map(({ group }) => group))];
  return html`<details class="house-rules">
    <summary>${t("opening.house_rules")} <span class="muted">${count ? t("opening.changed", { count }) : t("opening.as_preset")}</span></summary>
    ${groups.map(
      (group) => html`<fieldset>
        <legend>${coded("group", group)}</legend>
        ${rules.options.filter((option) => option.group === group).map(optionRow)}
      </fieldset>`,
    )}
    ${count
      ? html`<button class="quiet-button" type="button" @click=${() => pickPreset(lobby.preset)}>${t("opening.reset")}</button>`
      : nothing}
  </details>`;
}

/** @param {Option} option */
function optionRow(option) {
  const { lobby, rules } = state;
  const value = lobby.overrides[option.name] ?? rules?.presets[lobby.preset]?.[option.name];
  const id = `option-${option.name}`;
  const isChanged = option.name in lobby.overrides;
  return html`<div class="option ${isChanged ? "is-changed" : ""}">
    <label for=${id}>${coded("option", option.name)}</label>
    ${field(option, id, value)}
  </div>`;
}

/**
 * @param {Option} option
 * @param {string} id
 * @param {string | number | boolean | undefined} value
 */
function field(option, id, value) {
  /** @param {Event} event */
  const target = (event) => /** @type {HTMLInputElement} */ (event.target);
  if (option.kind === "bool") {
    return html`<input class="switch" type="checkbox" role="switch" id=${id} .checked=${live(value === true)}
      @change=${(/** @type {Event} */ event) => set(option.name, target(event).checked)}>`;
  }
  if (option.kind === "int") {
    return html`<input type="number" inputmode="numeric" id=${id} .value=${live(String(value ?? ""))} required
      min=${option.least ?? nothing} max=${option.most ?? nothing} step=${option.step ?? 1}
      @change=${(/** @type {Event} */ event) => target(event).validity.valid && set(option.name, target(event).valueAsNumber)}>`;
  }
  return html`<select id=${id} @change=${(/** @type {Event} */ event) => set(option.name, target(event).value)}>
    ${(option.choices ?? []).map(
      (choice) => html`<option value=${choice} .selected=${choice === value}>${chosen(option.name, choice)}</option>`,
    )}
  </select>`;
}
