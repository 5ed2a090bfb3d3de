// @ts-check
// The REST routes of the server, as functions.

/** @import {Bot, FinishedGame, Me, OwnTable, PlayedGame, Ranked, RuleBook, TableInfo, Token, TokenWish} from "./types.js" */

import { href } from "./base.js";

/** The server said no; `why` is one of its reasons, or "offline". */
export class Problem extends Error {
  /**
   * @param {string} why
   * @param {number} status
   * @param {string} [detail]
   */
  constructor(why, status, detail = "") {
    super(why);
    this.why = why;
    this.status = status;
    this.detail = detail;
  }
}

/**
 * @param {string} method
 * @param {string} path
 * @param {unknown} [body]
 * @returns {Promise<any>}
 */
async function call(method, path, body) {
  /** @type {RequestInit} */
  const request = { method, headers: { accept: "application/json" }, credentials: "same-origin" };
  if (method !== "GET" && method !== "DELETE") {
    request.headers = { accept: "application/json", "content-type": "application/json" };
    request.body = JSON.stringify(body ?? {});
  }
  let answer;
  try {
    answer = await fetch(href(`/api/v1${path}`), request);
  } catch {
    throw new Problem("offline", 0);
  }
  const data = await answer.json().catch(() => null);
  if (!answer.ok) throw new Problem(data?.why ?? "internal", answer.status, data?.field ?? data?.detail ?? "");
  return data;
}

/** @param {string} id */
const at = (id) => `/tables/${encodeURIComponent(id)}`;

/** How often a game that has only just ended is asked for: it takes a moment to reach the archive. */
const TRIES = 4;

/** A finished game. Its id is its table and its number, joined by a slash. @type {(id: string) => Promise<FinishedGame>} */
export async function game(id) {
  for (let tries = 1; ; tries += 1) {
    try {
      return await call("GET", `/games/${id.split("/").map(encodeURIComponent).join("/")}`);
    } catch (problem) {
      if (tries === TRIES) throw problem;
      await new Promise((resolve) => setTimeout(resolve, 600 * tries));
    }
  }
}

/** @returns {Promise<Me | null>} */
export async function me() {
  try {
    return await call("GET", "/me");
  } catch (problem) {
    if (problem instanceof Problem && problem.status === 401) return null;
    throw problem;
  }
}

/** @type {(name: string) => Promise<Me>} */
export const sayName = (name) => call("POST", "/me", { name });
/** @type {() => Promise<RuleBook>} */
export const rules = () => call("GET", "/rules");
/** @type {() => Promise<TableInfo[]>} */
export const tables = async () => (await call("GET", "/tables")).tables ?? [];
/** The tables at which one sits. @type {() => Promise<OwnTable[]>} */
export const ownTables = async () => (await call("GET", "/me/tables")).tables ?? [];
/** @type {(wish: {preset: string, options: object, clock: number | null, listed: boolean}) => Promise<TableInfo>} */
export const open = (wish) => call("POST", "/tables", wish);
/** @type {(id: string) => Promise<TableInfo>} */
export const table = (id) => call("GET", at(id));
/** @type {(id: string, seat?: number) => Promise<TableInfo>} */
export const sit = (id, seat) => call("POST", `${at(id)}/sit`, seat === undefined ? {} : { seat });
/** @type {(id: string) => Promise<TableInfo>} */
export const leave = (id) => call("POST", `${at(id)}/leave`);
/** @type {(id: string, ready: boolean) => Promise<TableInfo>} */
export const ready = (id, isReady) => call("POST", `${at(id)}/ready`, { ready: isReady });
/** @type {(id: string) => Promise<TableInfo>} */
export const start = (id) => call("POST", `${at(id)}/start`);
/** @type {(id: string, seat?: number) => Promise<TableInfo>} */
export const addHouse = (id, seat) => call("POST", `${at(id)}/house`, seat === undefined ? {} : { seat });
/** @type {(id: string, seat: number) => Promise<TableInfo>} */
export const removeHouse = (id, seat) => call("DELETE", `${at(id)}/house/${seat}`);
/** @type {(id: string) => Promise<null>} */
export const close = (id) => call("POST", `${at(id)}/close`);
/** @type {(id: string, seat: number) => Promise<TableInfo>} */
export const vacateSeat = (id, seat) => call("DELETE", `${at(id)}/seats/${seat}`);
/** @type {(id: string, seat: number) => Promise<TableInfo>} */
export const standIn = (id, seat) => call("POST", `${at(id)}/stand-in`, { seat });
/** @type {() => Promise<Ranked[]>} */
export const players = async () => (await call("GET", "/players")).players ?? [];
/** @type {(id: string) => Promise<PlayedGame[]>} */
export const gamesOf = async (id) => (await call("GET", `/players/${encodeURIComponent(id)}/games?limit=12`)).games ?? [];
/** @type {() => Promise<Token[]>} */
export const tokens = async () => (await call("GET", "/me/tokens")).tokens;
/** A token of one's own (`/me`) or of a bot (`/me/bots/<id>`). @type {(owner: string, wish: TokenWish) => Promise<Token & {secret: string}>} */
export const makeToken = (owner, wish) => call("POST", `${owner}/tokens`, wish);
/** @type {(id: string) => Promise<void>} */
export const revokeToken = (id) => call("DELETE", `/me/tokens/${id}`);
/** @type {() => Promise<Bot[]>} */
export const bots = async () => (await call("GET", "/me/bots")).bots;
/** @type {(name: string) => Promise<Bot & {token: Token & {secret: string}}>} */
export const makeBot = (name) => call("POST", "/me/bots", { name });
/** @type {(id: string) => Promise<void>} */
export const dismissBot = (id) => call("DELETE", `/me/bots/${id}`);
