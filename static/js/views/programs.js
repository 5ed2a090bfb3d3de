// @ts-check
// For programmers: tokens with which programs act in one's own name, and bots, which programs play. Shown over the lobby.

import { html, nothing } from "../vendor/lit.js";
import * as api from "../api.js";
import { copy, wordsFor } from "../actions.js";
import { locale, t } from "../i18n.js";
import { changed, state } from "../store.js";
import { closeButton, dialog, icon } from "./parts.js";

/** @import {Bot, Token} from "../types.js" */

const SCOPES = ["read", "play", "tables"];
const OF_A_BOT = ["read", "play"];
const DAYS = [30, 365];

/** @type {Token[]} */
let tokens = [];
/** @type {Bot[]} */
let bots = [];
/** The secret that has just been made, until the dialog is closed. */
let secret = "";
let copied = false;
let problem = "";

export function openPrograms() {
  state.drawer = "programs";
  changed();
  if (state.me) void ask(async () => {});
}

function close() {
  secret = problem = "";
  if (state.drawer === "programs") state.drawer = null;
  changed();
}

/** Do something, then show how things are now. @param {() => Promise<unknown>} what */
async function ask(what) {
  problem = "";
  try {
    await what();
    [tokens, bots] = await Promise.all([api.tokens(), api.bots()]);
  } catch (no) {
    problem = wordsFor(no);
  }
  changed();
}

/**
 * @param {Promise<{secret: string}>} made
 * @param {HTMLFormElement} [form] where it was asked for
 */
async function show(made, form) {
  ({ secret } = await made);
  copied = false;
  form?.reset();
  changed();
  requestAnimationFrame(() => document.getElementById("secret")?.focus());
}

export function programs() {
  return dialog({ open: state.drawer === "programs", label: t("programs.title"), kind: "programs", close, content: content() });
}

function content() {
  return html`<div class="panel-head"><h2>${t("programs.title")}</h2>${closeButton(close)}</div>
    <p>${t("programs.lead")}</p>
    <p class="problem" role="alert">${state.me ? problem : t("reason.not_signed_in")}</p>
    ${state.me ? html`${secret ? secretPart() : nothing} ${tokensPart()} ${botsPart()}` : nothing}`;
}

function secretPart() {
  /** @param {MouseEvent} event */
  const onCopy = async (event) => {
    const row = /** @type {HTMLElement} */ (event.currentTarget).parentElement;
    copied = await copy(secret, /** @type {HTMLInputElement | null} */ (row?.querySelector("input") ?? null));
    changed();
  };
  return html`<div class="secret" role="status">
    <label for="secret">${t("programs.secret")}</label>
    <span class="field-row">
      <input id="secret" data-testid="secret" readonly .value=${secret}>
      <button class="plain-button" type="button" @click=${onCopy}>${icon("copy")} ${t(copied ? "waiting.copied" : "waiting.copy")}</button>
    </span>
  </div>`;
}

function tokensPart() {
  /** @param {SubmitEvent} event */
  const make = (event) => {
    event.preventDefault();
    const form = /** @type {HTMLFormElement} */ (event.target);
    const wish = new FormData(form);
    const days = Number(wish.get("days"));
    const token = { name: String(wish.get("name")), scopes: wish.getAll("scopes").map(String), expires: days || null };
    void ask(() => show(api.makeToken("/me", token), form));
  };
  return html`<section aria-labelledby="tokens-title">
    <h3 id="tokens-title">${t("programs.tokens")}</h3>
    <ul class="programs-list">${tokens.map(tokenRow)}</ul>
    <form @submit=${make}>
      <label>${t("programs.name")} <input name="name" data-testid="token-name" maxlength="24" autocomplete="off" required></label>
      <fieldset>
        <legend>${t("programs.scopes")}</legend>
        ${SCOPES.map(
          (scope) => html`<label class="check-row"><input type="checkbox" name="scopes" value=${scope} ?checked=${OF_A_BOT.includes(scope)}> ${t(`scope.${scope}`)}</label>`,
        )}
      </fieldset>
      <label>${t("programs.until")}
        <select name="days">
          <option value="0">${t("programs.never")}</option>
          ${DAYS.map((days) => html`<option value=${days}>${t("programs.days", { count: days })}</option>`)}
        </select></label>
      <button class="plain-button" type="submit" data-testid="make-token">${t("programs.make_token")}</button>
    </form>
  </section>`;
}

/** @param {Token} token */
function tokenRow(token) {
  const { id, name, scopes, used, expires } = token;
  return html`<li data-testid="token">
    <span><b>${name}</b> <span class="muted">${scopes.join(", ")}<br>
      ${used === null ? t("programs.unused") : t("programs.used", { day: day(used) })}${expires === null ? "" : ` · ${t("programs.expires", { day: day(expires) })}`}</span></span>
    <button class="plain-button danger" type="button" data-testid="revoke" aria-label="${t("programs.revoke")}: ${name}"
      @click=${() => void ask(() => api.revokeToken(id))}>${t("programs.revoke")}</button>
  </li>`;
}

function botsPart() {
  /** @param {SubmitEvent} event */
  const make = (event) => {
    event.preventDefault();
    const form = /** @type {HTMLFormElement} */ (event.target);
    const name = String(new FormData(form).get("name"));
    void ask(() => show(api.makeBot(name).then(({ token }) => token), form));
  };
  return html`<section aria-labelledby="bots-title">
    <h3 id="bots-title">${t("programs.bots")}</h3>
    <p class="muted">${t("programs.bots_lead")}</p>
    <ul class="programs-list">${bots.map(botRow)}</ul>
    <form @submit=${make}>
      <label>${t("programs.name")} <input name="name" data-testid="bot-name" maxlength="24" autocomplete="off" required></label>
      <button class="plain-button" type="submit" data-testid="make-bot">${t("programs.make_bot")}</button>
    </form>
  </section>`;
}

/** @param {Bot} bot */
function botRow({ id, name }) {
  const further = () => show(api.makeToken(`/me/bots/${id}`, { name, scopes: OF_A_BOT, expires: null }));
  return html`<li data-testid="bot">
    <b>${name}</b>
    <button class="plain-button" type="button" data-testid="further" aria-label="${t("programs.make_token")}: ${name}" @click=${() => void ask(further)}>${t("programs.make_token")}</button>
    <button class="plain-button danger" type="button" data-testid="dismiss" aria-label="${t("programs.dismiss")}: ${name}"
      @click=${() => void ask(() => api.dismissBot(id))}>${t("programs.dismiss")}</button>
  </li>`;
}

/** @param {number} ms */
function day(ms) {
  return new Date(ms).toLocaleDateString(locale(), { day: "numeric", month: "short", year: "numeric" });
}
