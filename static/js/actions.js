// @ts-check
// What a click does beyond the game itself: names, tables, seats. Each tells in words what went wrong.

import * as api from "./api.js";
import { t } from "./i18n.js";
import { go, pathOf } from "./place.js";
import { changed, state } from "./store.js";
import * as words from "./words.js";

/** @import {TableInfo} from "./types.js" */

/**
 * Words for whatever went wrong.
 * @param {unknown} problem
 */
export function wordsFor(problem) {
  if (!(problem instanceof api.Problem)) throw problem;
  return words.reason(isForgotten(problem) ? "cookies" : problem.why);
}

/**
 * Whether the server does not know whom it has just given a name: the browser has kept no cookie.
 * @param {unknown} problem
 */
function isForgotten(problem) {
  return problem instanceof api.Problem && problem.why === "not_signed_in" && (state.me !== null || navigator.cookieEnabled === false);
}

/** Open a finished game. @param {string} id */
export async function readGame(id) {
  /** @type {NonNullable<typeof state.game>} */
  const opened = { game: null, problem: "" };
  state.game = opened;
  // What is drawn by then may be another game, or none.
  try {
    opened.game = await api.game(id);
  } catch (problem) {
    opened.problem = wordsFor(problem);
  }
  changed();
}

/** The last who has begun to sign in: two under way at once would make two guests. @type {Promise<unknown>} */
let signing = Promise.resolve();

/** @param {string} name */
export function signIn(name) {
  const done = signing.then(() => enter(name));
  signing = done.catch(() => undefined);
  return done;
}

/** Make sure to be somebody, by the name in the lobby's field if need be. */
async function beSomebody() {
  await signing;
  if (!state.me) await signIn(typedName());
}

/** @param {string} name */
async function enter(name) {
  const wished = name.trim() || state.me?.name || t("name.guest");
  const wasNobody = state.me === null;
  state.me = await api.sayName(wished);
  if (wasNobody) state.session?.socket.again();
  changed();
}

/**
 * Save a name and say what the server thought of it.
 * @param {string} name
 * @returns {Promise<string>} "" or what was wrong
 */
export async function saveName(name) {
  try {
    await signIn(name);
    return "";
  } catch (problem) {
    return wordsFor(problem);
  }
}

/** The name in the lobby's field, as it stands. */
function typedName() {
  const field = document.getElementById("name");
  return field instanceof HTMLInputElement ? field.value : "";
}

/** @param {() => Promise<void>} what */
async function busy(what) {
  if (state.lobby.busy) return;
  state.lobby.busy = true;
  state.problem = "";
  changed();
  try {
    await beSomebody();
    await what();
  } catch (problem) {
    // That nobody answers is said for as long as it is so.
    if (problem instanceof api.Problem && problem.why === "offline") state.lobby.offline = true;
    else state.problem = wordsFor(problem);
  }
  state.lobby.busy = false;
  changed();
}

/** Three house players and a table nobody need know of. */
export function playHouse() {
  return busy(async () => {
    const { preset } = state.lobby;
    const table = await api.open({ preset, options: {}, clock: null, listed: false });
    await api.start(table.id);
    go(pathOf(table.id));
  });
}

/** Open the table that the form describes. */
export function openTable() {
  const { preset, clock, listed, overrides } = state.lobby;
  return busy(async () => {
    state.lobby.refusal = "";
    try {
      const table = await api.open({ preset, options: overrides, clock, listed });
      go(pathOf(table.id));
    } catch (problem) {
      if (problem instanceof api.Problem && problem.why === "offline") throw problem;
      state.lobby.refusal = wordsFor(problem);
      if (problem instanceof api.Problem && problem.detail) state.lobby.refusal += ` (${optionNamed(problem.detail)})`;
    }
  });
}

/**
 * The server names the option at fault; say it in the form's words.
 * @param {string} detail
 */
function optionNamed(detail) {
  const option = state.rules?.options.find(({ name }) => detail === name || detail.includes(name));
  return option ? t(`option.${option.name}`) : detail;
}

/** @param {string} id */
export function joinTable(id) {
  return busy(async () => {
    try {
      await api.sit(id);
    } catch (problem) {
      if (problem instanceof api.Problem && (problem.status === 404 || problem.status === 401 || problem.why === "offline")) throw problem;
    }
    go(pathOf(id));
  });
}

/**
 * Do something about the table one is at, and draw what the server made of it.
 * @param {(id: string) => Promise<TableInfo>} what
 */
export async function atTable(what) {
  const { session } = state;
  if (!session) return;
  try {
    session.take(await what(session.id));
  } catch (problem) {
    session.note(wordsFor(problem));
  }
}

/**
 * Sit down; whoever has no name yet is asked for one first.
 * @param {number} [seat]
 */
export async function sitDown(seat) {
  if (!state.me) await saveName(typedName());
  await atTable((id) => api.sit(id, seat));
}

/** Leave one's seat and go back to the lobby. */
export async function leaveTable() {
  const { session } = state;
  if (session && session.seat !== null) await atTable((id) => api.leave(id));
  go("/");
}

/** Close the table for everybody and go back to the lobby. */
export async function closeTable() {
  const { session } = state;
  if (!session) return;
  try {
    await api.close(session.id);
    go("/");
  } catch (problem) {
    session.note(wordsFor(problem));
  }
}

/**
 * Copy a text, also where the page is not in a secure context.
 * @param {string} text
 * @param {HTMLInputElement | null} field that shows the text
 */
export async function copy(text, field) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    field?.select();
    return document.execCommand("copy");
  }
}
