// @ts-check
// The lobby: play at once, open a table, find one, see who plays well and what one has played.

import { html, nothing, repeat } from "../vendor/lit.js";
import * as api from "../api.js";
import { joinTable, playHouse } from "../actions.js";
import { href } from "../base.js";
import { locale, num, t } from "../i18n.js";
import { pathOf, tableIn } from "../place.js";
import { changed, prefer, state } from "../store.js";
import { coded } from "../words.js";
import { nameForm } from "./name.js";
import { openForm } from "./opening.js";
import { icon, playedAs, rulesLine } from "./parts.js";
import { openPrograms } from "./programs.js";

/** @import {PlayedGame, TableInfo} from "../types.js" */

const EVERY = 4000;
const EVERY_HIDDEN = 60_000;

/** @type {ReturnType<typeof setTimeout> | undefined} */
let timer;
let watching = false;

/** @param {boolean} on */
export function watchLobby(on) {
  if (on === watching) return;
  watching = on;
  clearTimeout(timer);
  document.removeEventListener("visibilitychange", onVisible);
  if (!on) return;
  document.addEventListener("visibilitychange", onVisible);
  state.lobby.games = null;
  void look();
  void lookAround();
}

function onVisible() {
  if (document.visibilityState === "visible") void look();
}

/** What is shown may be old: somebody has become known. */
export function lookAgain() {
  if (watching) void look();
}

/** The open tables, again and again while somebody looks. */
async function look() {
  clearTimeout(timer);
  let wait = EVERY;
  try {
    state.lobby.tables = await api.tables();
    await lookAtOwn();
    state.lobby.offline = false;
  } catch {
    state.lobby.offline = true;
    wait = EVERY * 2;
  }
  if (!watching) return;
  timer = setTimeout(() => void look(), document.visibilityState === "hidden" ? EVERY_HIDDEN : wait);
  changed();
}

/** The tables at which one sits; few, so each is asked for what is played there. */
async function lookAtOwn() {
  const own = state.me ? await api.ownTables() : [];
  const found = await Promise.allSettled(own.map(({ id }) => api.table(id)));
  state.lobby.own = found.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
  state.lobby.due = own.filter((one) => one.your_turn).map(({ id }) => id);
}

/** The leaderboard and one's own games, once. */
async function lookAround() {
  await Promise.allSettled([
    api.players().then((players) => {
      state.lobby.players = players;
    }),
    ownGames(),
  ]);
  changed();
}

async function ownGames() {
  if (state.lobby.games !== null || !state.me) return;
  state.lobby.games = [];
  try {
    state.lobby.games = await api.gamesOf(state.me.id);
  } catch {
    return; // The history is late or away; the lobby does without.
  }
  changed();
}

export function lobby() {
  if (state.me && state.lobby.games === null && watching) void ownGames();
  return html`<div class="lobby">
    <header class="lobby-top">
      <a class="wordmark" href=${href("/")}>Coinche</a>
      <span class="grow"></span>
      ${languageSwitch()}
      <button class="icon-button" type="button" aria-label=${t("menu.title")} data-testid="menu" @click=${openMenu}>${icon("menu")}</button>
    </header>
    <main>
      ${hero()}
      <div class="lobby-columns">
        <div>${ownPart()} ${tablesPart()} ${gamesPart()}</div>
        <div>${state.lobby.opening ? openForm() : openPart()} ${joinPart()} ${boardPart()}</div>
      </div>
    </main>
    <footer class="lobby-foot">${t("lobby.foot")}
      <button class="quiet-button" type="button" data-testid="programs" @click=${openPrograms}>${t("programs.title")}</button></footer>
  </div>`;
}

function openMenu() {
  state.drawer = "menu";
  changed();
}

export function languageSwitch() {
  const other = state.preferences.language === "fr" ? "en" : "fr";
  const say = { fr: "Français", en: "English" };
  return html`<button class="quiet-button" type="button" lang=${other} data-testid="language"
    @click=${() => prefer({ language: other })}>${say[other]}</button>`;
}

function hero() {
  return html`<section class="hero">
    <div class="hero-in">
      <h1>${t("lobby.title")}</h1>
      <p class="hero-lead">${t("lobby.lead")}</p>
      ${state.me && !state.lobby.renaming ? playingAs(state.me.name) : nameForm()}
      <button class="brass-button big" type="button" data-testid="play-house" ?disabled=${state.lobby.busy} @click=${playHouse}>
        ${t("lobby.play_house")}
      </button>
      <p class="hero-rules">${presetPick()}</p>
      <p class="problem on-felt" role="alert">${state.problem || (state.lobby.offline ? t("lobby.offline") : "")}</p>
    </div>
  </section>`;
}

/** @param {string} name */
function playingAs(name) {
  const rename = () => {
    state.lobby.renaming = true;
    changed();
  };
  return html`<p class="playing-as">${t("name.playing_as")} <b><bdi data-testid="my-name">${name}</bdi></b>
    <button type="button" data-testid="rename" @click=${rename}>${t("name.change")}</button></p>`;
}

function presetPick() {
  const presets = Object.keys(state.rules?.presets ?? { [state.lobby.preset]: {} });
  /** @param {Event} event */
  const pick = (event) => {
    state.lobby.preset = /** @type {HTMLSelectElement} */ (event.target).value;
    state.lobby.overrides = {};
    changed();
  };
  return html`<label class="select-line"><span>${t("lobby.rules")}</span>
    <select @change=${pick}>
      ${presets.map((id) => html`<option value=${id} ?selected=${id === state.lobby.preset}>${coded("preset", id)}</option>`)}
    </select></label>`;
}

function openPart() {
  const open = () => {
    state.lobby.opening = true;
    changed();
  };
  return html`<section class="panel">
    <h2>${t("opening.title")}</h2>
    <p class="muted">${t("opening.lead")}</p>
    <button class="plain-button wide" type="button" data-testid="open-table" @click=${open}>${t("opening.begin")}</button>
  </section>`;
}

function joinPart() {
  /** @param {SubmitEvent} event */
  const join = (event) => {
    event.preventDefault();
    const field = /** @type {HTMLInputElement} */ (/** @type {HTMLFormElement} */ (event.target).elements.namedItem("code"));
    const id = tableIn(field.value);
    if (id) void joinTable(id);
    else {
      state.problem = t("join.unreadable");
      changed();
    }
  };
  return html`<section class="panel">
    <h2>${t("join.title")}</h2>
    <form @submit=${join}>
      <label for="code" class="muted">${t("join.ask")}</label>
      <span class="field-row">
        <input id="code" name="code" data-testid="join-code" autocomplete="off" autocapitalize="off" spellcheck="false" required>
        <button class="plain-button" type="submit" data-testid="join-by-code">${t("join.go")}</button>
      </span>
    </form>
  </section>`;
}

function ownPart() {
  const { own } = state.lobby;
  if (own.length === 0) return nothing;
  return html`<section class="panel" aria-labelledby="own-title" data-testid="own-tables">
    <h2 id="own-title">${t("own.title")}</h2>
    <ul class="tables">${repeat(own, ({ id }) => id, tableRow)}</ul>
  </section>`;
}

function tablesPart() {
  const own = new Set(state.lobby.own.map(({ id }) => id));
  const tables = state.lobby.tables?.filter(({ id }) => !own.has(id)) ?? null;
  return html`<section class="panel" aria-labelledby="tables-title">
    <h2 id="tables-title">${t("tables.title")}</h2>
    ${tables === null
      ? html`<p class="muted">${t("tables.looking")}</p>`
      : tables.length === 0
        ? html`<div class="empty"><p>${t("tables.none")}</p><p class="muted">${t("tables.none_lead")}</p></div>`
        : html`<ul class="tables">
            ${repeat(tables, ({ id }) => id, tableRow)}
          </ul>`}
  </section>`;
}

/** @param {TableInfo} table */
function tableRow(table) {
  const free = table.seats.filter(({ kind }) => kind === "free").length;
  const mine = table.seats.some(({ player }) => player !== null && player === state.me?.id);
  const running = table.status === "playing";
  const stands = state.lobby.due.includes(table.id) ? t("own.your_turn") : running ? t("tables.running") : free === 0 ? t("tables.full") : t("tables.free", { count: free });
  return html`<li class="table-row" data-testid="table-row">
    <div class="table-who">
      ${[0, 1, 2, 3].map((seat) => {
        const info = table.seats.find((one) => one.seat === seat);
        return html`<span class="who ${info?.name ? "" : "is-free"}">${info?.kind === "house" || info?.bot ? icon("house") : nothing}<bdi>${info?.name ?? t("seat.free")}</bdi></span>`;
      })}
    </div>
    <div class="table-what">
      <span>${rulesLine(table)}</span>
      <span class="muted">${stands}${table.spectators
        ? ` · ${t("tables.watching", { count: table.spectators })}`
        : ""}</span>
    </div>
    <div class="table-do">
      ${mine
        ? html`<a class="brass-button" href=${href(pathOf(table.id))}>${t("tables.back")}</a>`
        : free > 0
          ? html`<button class="plain-button" type="button" data-testid="join" @click=${() => joinTable(table.id)}>${t("tables.join")}</button>`
          : nothing}
      ${mine ? nothing : html`<a class="quiet-button" href=${href(pathOf(table.id))} data-testid="watch">${t("tables.watch")}</a>`}
    </div>
  </li>`;
}

function boardPart() {
  const { players } = state.lobby;
  if (!players) return nothing;
  return html`<section class="panel">
    <h2>${t("board.title")}</h2>
    ${players.length === 0
      ? html`<p class="muted">${t("board.none")}</p>`
      : html`<table class="board">
          <thead><tr><th>${t("board.name")}</th><th class="n">${t("board.rating")}</th><th class="n">${t("board.games")}</th><th class="n">${t("board.won")}</th></tr></thead>
          <tbody>
            ${players.slice(0, 10).map(
              (one) => html`<tr class=${one.id === state.me?.id ? "is-me" : ""}>
                <td class="name">${one.name}</td><td class="n">${num(Math.round(one.rating))}</td>
                <td class="n">${num(one.games)}</td><td class="n">${num(one.won)}</td>
              </tr>`,
            )}
          </tbody>
        </table>`}
  </section>`;
}

function gamesPart() {
  const { games } = state.lobby;
  if (!games || games.length === 0) return nothing;
  return html`<section class="panel">
    <h2>${t("games.title")}</h2>
    <ul class="games">
      ${games.slice(0, 12).map(
        (game) => html`<li><a class="row-button" href=${href(`/g/${game.id}`)} data-testid="game-row">${gameLine(game)}</a></li>`,
      )}
    </ul>
  </section>`;
}

/** @param {PlayedGame} game */
function gameLine(game) {
  const name = (/** @type {number} */ seat) => playedAs(game, seat);
  const when = new Date(game.finished).toLocaleDateString(locale(), { day: "numeric", month: "short" });
  const word = game.ended === "abandoned" ? "abandoned" : game.won === null ? "" : game.won ? "won" : "lost";
  const result = word && ` · ${t(`games.${word}`)}`;
  return html`<span class="game-pairs">${name(0)} & ${name(2)} – ${name(1)} & ${name(3)}</span>
    <span class="game-totals">${num(game.totals.A)} – ${num(game.totals.B)}</span>
    <span class="muted">${when}${result}</span>`;
}
