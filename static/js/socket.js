// @ts-check
// The live line to one table: joins, comes back by itself, and never gives up.

/** @import {At} from "./types.js" */

import { href } from "./base.js";

const LEAST = 250;
const MOST = 8000;
const PING_EVERY = 20_000;
const SILENT_FOR = 30_000;
const UNANSWERED_FOR = 10_000;
const HASTE = 2_000;

/**
 * How long to wait before trying again: full jitter under a ceiling that doubles from 0.25 to 8 seconds.
 * @param {number} attempt 0 for the first try again
 * @param {() => number} [random] a number from 0 up to 1
 */
export function backOff(attempt, random = Math.random) {
  return Math.round(random() * Math.min(MOST, LEAST * 2 ** attempt));
}

/** So often another process is looked for that can read the table, before it is said that there is none. */
export const TRIED_ELSEWHERE = 3;

/** Milliseconds after which it is then tried again. */
const NEWER_EVERY = 5000;

/** Close codes after which coming back would not help. */
export const FINAL = new Set([4404]);

/** So many dials in a row that were never taken, while the server answers otherwise, and something on the way takes none. */
const BLOCKED_AFTER = 3;

/**
 * `answers`: whether the server answers what is asked in the plain way.
 * @typedef {{
 *   message: (message: any) => void,
 *   state: (state: "connecting" | "live" | "lost" | "blocked" | "newer" | "gone") => void,
 *   answers: () => Promise<boolean>,
 *   newest: () => At | null,
 * }} Listener
 */

export class Line {
  /**
   * @param {string} table
   * @param {Listener} listener
   */
  constructor(table, listener) {
    this.table = table;
    this.listener = listener;
    this.attempt = 0;
    /** How many dials in a row were never taken. */
    this.untaken = 0;
    this.isBlocked = false;
    this.heard = 0;
    this.closed = false;
    /** How often in a row somebody could not read the table because a newer release has written it. */
    this.unread = 0;
    this.after = 0;
    /** @type {WebSocket | null} */
    this.socket = null;
    /** @type {WebSocket | null} the line to a server that goes, held until there is another */
    this.leaving = null;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.retry = undefined;
    this.beat = setInterval(() => this.#check(), PING_EVERY / 4);
    this.lastPing = 0;
    this.onOnline = () => this.now();
    this.onVisible = () => document.visibilityState === "visible" && this.now();
    addEventListener("online", this.onOnline);
    document.addEventListener("visibilitychange", this.onVisible);
    this.#open();
  }

  /**
   * @param {object} message
   * @returns {boolean} whether it went out
   */
  send(message) {
    if (this.socket?.readyState !== WebSocket.OPEN) return false;
    this.socket.send(JSON.stringify(message));
    return true;
  }

  join() {
    this.send({ type: "join", table: this.table, as: "player" });
  }

  /** Dial at once if the line is down or has been silent too long, and soon again; else ask for a sign of life. */
  now() {
    if (this.closed) return;
    this.attempt = 0;
    if (this.#isSilentFor(HASTE)) this.#open();
    else if (this.socket?.readyState === WebSocket.OPEN) this.#ping();
  }

  /**
   * Whether nobody is there: no line, or one that is silent too long, or has not been answered for so many ms.
   * @param {number} unanswered
   */
  #isSilentFor(unanswered) {
    const since = performance.now() - this.heard;
    if (this.socket?.readyState === WebSocket.CONNECTING) return since > unanswered;
    return this.socket?.readyState !== WebSocket.OPEN || since > SILENT_FOR;
  }

  /** Hang up and dial again: who one is has changed. */
  again() {
    this.#drop();
    this.#open();
  }

  close() {
    this.closed = true;
    clearInterval(this.beat);
    clearTimeout(this.retry);
    removeEventListener("online", this.onOnline);
    document.removeEventListener("visibilitychange", this.onVisible);
    this.#drop();
  }

  #drop() {
    const old = this.socket;
    this.socket = null;
    if (old) old.close();
    this.leaving?.close();
    this.leaving = null;
  }

  /** The server goes: be welcome elsewhere first, and leave then, so that nobody sees one go. */
  #move() {
    if (this.closed || !this.socket) return;
    this.leaving?.close();
    this.leaving = this.socket;
    this.#open();
  }

  #open() {
    clearTimeout(this.retry);
    if (!this.leaving && !this.isBlocked) this.listener.state("connecting");
    const scheme = location.protocol === "https:" ? "wss" : "ws";
    if (this.socket !== this.leaving) this.socket?.close();
    const socket = new WebSocket(`${scheme}://${location.host}${href("/ws?v=1")}`);
    this.socket = socket;
    this.heard = performance.now();
    let taken = false;
    socket.onopen = () => {
      taken = true;
      this.untaken = 0;
      if (socket === this.socket) this.join();
    };
    socket.onmessage = ({ data }) => socket === this.socket && this.#hear(data);
    socket.onclose = ({ code }) => {
      if (socket !== this.socket) return;
      if (!taken) this.untaken += 1;
      this.#lost(code);
    };
  }

  /** @param {string} data */
  #hear(data) {
    this.heard = performance.now();
    const message = JSON.parse(data);
    if (message.type === "welcome") {
      this.attempt = 0;
      this.unread = 0;
      this.isBlocked = false;
      this.leaving?.close();
      this.leaving = null;
      this.listener.state("live");
    } else if (message.type === "bye") {
      this.after = message.after ?? 0;
      this.unread = message.why === "newer_release" ? this.unread + 1 : 0;
      if (this.unread > TRIED_ELSEWHERE) {
        this.after += NEWER_EVERY;
        this.listener.state("newer");
      }
      clearTimeout(this.retry);
      this.retry = setTimeout(() => this.#move(), this.after);
      return;
    } else if (message.type === "probe") {
      this.send(message);
      return;
    } else if (message.type === "pong") {
      const newest = this.listener.newest();
      if (newest && message.at && (message.at[0] !== newest[0] || message.at[1] > newest[1])) this.join();
    }
    this.listener.message(message);
  }

  /** @param {number} code */
  #lost(code) {
    this.socket = null;
    if (this.closed) return;
    if (FINAL.has(code)) {
      this.listener.state("gone");
      return;
    }
    this.listener.state(this.isBlocked ? "blocked" : "lost");
    if (this.untaken >= BLOCKED_AFTER) void this.#findOut();
    clearTimeout(this.retry);
    const slower = code === 4429 || code === 1008 ? 1000 : 0;
    this.retry = setTimeout(() => this.#open(), slower + (this.after || backOff(this.attempt)));
    this.after = 0;
    this.attempt += 1;
  }

  /** Is it the server that is away, or does something on the way let no such line through? */
  async #findOut() {
    const answers = await this.listener.answers();
    if (this.closed || this.untaken < BLOCKED_AFTER) return;
    this.isBlocked = answers;
    this.listener.state(answers ? "blocked" : "lost");
  }

  #ping() {
    this.lastPing = performance.now();
    this.send({ type: "ping" });
  }

  #check() {
    if (!this.socket) return;
    if (this.#isSilentFor(UNANSWERED_FOR)) {
      this.#drop();
      this.#lost(1006);
    } else if (performance.now() - this.lastPing >= PING_EVERY) this.#ping();
  }
}
