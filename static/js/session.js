// @ts-check
// One table as this page follows it: the newest state of affairs, the one being shown, and the one action under way.

import * as api from "./api.js";
import { Line } from "./socket.js";
import { judge } from "./ahead.js";
import { Pace, older } from "./pace.js";
import { changed, state } from "./store.js";
import { t } from "./i18n.js";
import { initial, isolated } from "./text.js";
import * as words from "./words.js";
import * as tell from "./tell.js";

/** @import {Action, At, GameEvent, Pending, Said, SeatInfo, Step, TableInfo, View} from "./types.js" */
/** @import {Frame} from "./pace.js" */

/**
 * What is drawn. Everything on the page is drawn from this and never from the newest step, so that it shows one moment.
 * @typedef {{step: Step | null, view: View | null, turn: number | null, deadline: number | null, next: number[], kind: Frame["kind"]}} Shown
 */

/** How soon after one's last action these are taken for a second tap that hit what came in its place. */
const SECOND_TAP = /** @type {Record<string, number>} */ ({ coinche: 600, next: 600, play: 250 });

/** A name for a command that nobody else will think of. */
function newCid() {
  return Array.from(crypto.getRandomValues(new Uint8Array(9)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

export class Session {
  /** @param {string} id */
  constructor(id) {
    this.id = id;
    /** @type {"connecting" | "live" | "lost" | "blocked" | "newer" | "gone"} */
    this.line = "connecting";
    /** @type {TableInfo | null} */
    this.table = null;
    /** @type {(string | null)[] | null} who played the game that is over, by seat */
    this.players = null;
    /** @type {number | null} */
    this.seat = null;
    /** Server time minus ours. */
    this.offset = 0;
    /** @type {Step | null} */
    this.newest = null;
    /** @type {Shown} */
    this.shown = { step: null, view: null, turn: null, deadline: null, next: [], kind: "view" };
    /** @type {Said[]} */
    this.talk = [];
    this.unread = 0;
    /** @type {Map<number, {text: string, until: number}>} what a seat just said, over its place */
    this.bubbles = new Map();
    /** One line about the last refusal or a card that may not be played. */
    this.notice = "";
    /** What has been picked in the auction, for one deal. */
    this.pick = { deal: "", value: /** @type {number | "capot" | null} */ (null), trump: /** @type {any} */ (null) };
    this.declares = true;
    /** A card chosen before its time: played when one's turn is drawn, if it may be. @type {string | null} */
    this.ahead = null;
    /** What the server has taken and the page has not drawn yet. @type {Pending | null} */
    this.taken = null;
    this.showsMelds = false;
    /** Whether one's seat has just become another's or nobody's. */
    this.isFreed = false;
    /** When one last did something: a second tap must not hit what came in its place. */
    this.lastAct = -Infinity;
    /** @type {Map<string, number>} resends of a command the server was too busy for */
    this.tries = new Map();
    this.pace = new Pace(state.preferences.pace);
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.timer = undefined;
    /** @type {Pending | null} */
    this.pending = this.#recall();
    this.socket = new Line(id, {
      message: (message) => this.#hear(message),
      state: (line) => {
        this.line = line;
        if (line === "gone") this.#forget();
        changed();
      },
      newest: () => this.newest?.at ?? null,
      answers: () => api.table(id).then(() => true, (problem) => problem instanceof api.Problem && problem.why !== "offline"),
    });
  }

  close() {
    clearTimeout(this.timer);
    this.socket.close();
  }

  /** The server's time now. */
  get now() {
    return performance.now() + this.offset;
  }

  /** Whether what is drawn is the newest there is. */
  get isSettled() {
    return this.shown.step === this.newest && this.shown.kind === "view";
  }

  /** What one has done and does not see yet. @returns {Action | null} */
  get doing() {
    return (this.pending ?? this.taken)?.action ?? null;
  }

  get isHost() {
    return this.table !== null && state.me !== null && this.table.host === state.me.id;
  }

  /**
   * @param {number} seat
   * @returns {SeatInfo}
   */
  at(seat) {
    const found = this.table?.seats.find((info) => info.seat === seat);
    return found ?? { seat, kind: "free", player: null, name: null, bot: false, ready: false, away: false, present: false };
  }

  /**
   * What a seat is called: two of one name are told apart, and a name written from right to left turns nothing round it.
   * @param {number} seat
   * @returns {string}
   */
  name(seat) {
    const name = this.players?.[seat] ?? this.at(seat).name;
    if (name === null) return t("seat.unnamed", { number: seat + 1 });
    const same = this.table?.seats.filter((other) => other.name === name) ?? [];
    const shown = isolated(name);
    return same.length < 2 ? shown : `${shown} (${same.findIndex((other) => other.seat === seat) + 1})`;
  }

  /**
   * "Us", "Them", or the two names for those who only watch.
   * @param {"A" | "B"} side
   */
  side(side) {
    const mine = this.shown.view?.viewer ?? this.seat;
    if (mine !== null) return t(words.sideOf(mine) === side ? "side.us" : "side.them");
    const first = side === "A" ? 0 : 1;
    return `${isolated(this.name(first))} & ${isolated(this.name(first + 2))}`;
  }

  /**
   * The same where there is little room: the initials of those who are only watched.
   * @param {"A" | "B"} side
   */
  sideShort(side) {
    if ((this.shown.view?.viewer ?? this.seat) !== null) return this.side(side);
    const first = side === "A" ? 0 : 1;
    return [first, first + 2].map((seat) => initial(this.name(seat))).join("·");
  }

  /**
   * Do something in the game. One thing at a time: a second click on the way changes nothing.
   * @param {Action} action
   */
  act(action) {
    if (this.isSecondTap(action.kind)) return;
    this.lastAct = performance.now();
    this.#act(action);
  }

  /** @param {Action} action */
  #act(action) {
    const withoutTurn = action.kind === "coinche" || action.kind === "return";
    if (this.pending || (this.taken && !withoutTurn)) return;
    // The turn is the one that was seen: what has happened since must not turn it into another action.
    const { turn } = this.shown;
    this.ahead = null;
    this.#catchUp();
    this.pending = { cid: newCid(), turn: withoutTurn ? null : turn, action };
    this.notice = "";
    this.#remember();
    this.#send();
    changed();
  }

  /** @param {string} kind of the action */
  isSecondTap(kind) {
    return performance.now() - this.lastAct < (SECOND_TAP[kind] ?? 0);
  }

  /**
   * A card was touched. In one's turn it is played, or it is said why not. Before, it is chosen ahead, or put back, and the pause is cut short
   * if it is one's turn in truth.
   * @param {string} card
   */
  choose(card) {
    if (this.doing || this.isSecondTap("play")) return;
    const { verdict, why } = judge(card, this.shown.view);
    if (verdict === "drop") return;
    if (this.isSettled && verdict !== "wait") {
      if (why !== null) this.note(words.reason(why));
      else this.act(this.#playing(card));
      return;
    }
    this.lastAct = performance.now();
    this.ahead = this.ahead === card ? null : card;
    if (this.ahead) tell.aloud(t("hand.ahead_said", { card: words.cardAloud(card) }));
    if (this.ahead && this.newest?.view?.moves) {
      this.pace.hurry(performance.now());
      this.#pump();
    }
    changed();
  }

  /**
   * @param {string} card
   * @returns {Action}
   */
  #playing(card) {
    const moves = this.shown.view?.moves;
    const declares = this.declares && moves?.kind === "cards" && moves.belote.includes(card);
    return declares ? { kind: "play", card, belote: true } : { kind: "play", card };
  }

  /** What becomes of the card chosen ahead, once the newest is drawn. */
  #judgeAhead() {
    if (this.ahead === null || !this.isSettled) return;
    const card = this.ahead;
    const { verdict, why } = judge(card, this.shown.view);
    if (verdict === "wait") return;
    this.ahead = null;
    if (verdict === "play") this.#act(this.#playing(card));
    else if (why !== null) this.note(words.reason(why));
  }

  /** @param {{phrase: string} | {text: string}} what */
  say(what) {
    if (!this.socket.send({ type: "chat", ...what })) this.notice = t("reason.offline");
    changed();
  }

  /** @param {string} line */
  note(line) {
    this.notice = line;
    tell.aloud(line);
    changed();
  }

  /**
   * The table as a REST route answered it.
   * @param {any} table
   */
  take(table) {
    if (!table || !Array.isArray(table.seats)) return;
    this.table = table;
    const mine = this.table?.seats.find((info) => info.player !== null && info.player === state.me?.id);
    const seat = mine ? mine.seat : null;
    if (seat !== this.seat) {
      this.isFreed = seat === null;
      this.seat = seat;
      this.socket.join();
    }
    changed();
  }

  /** Seats may be left and taken after a game; its result is that of those who played it. */
  #notePlayers() {
    if (this.newest?.view?.phase !== "over") this.players = null;
    else this.players ??= [0, 1, 2, 3].map((seat) => this.at(seat).name);
  }

  /** Who comes when the game is over asks who has played it. */
  async #recallPlayers() {
    const games = this.table?.games;
    if (!games) return;
    try {
      const { seats } = await api.game(`${this.id}/${games}`);
      if (this.newest?.view?.phase === "over") this.players = [0, 1, 2, 3].map((seat) => seats.find((one) => one.seat === seat)?.name ?? null);
    } catch (problem) {
      if (!(problem instanceof api.Problem)) throw problem; // else the history is late or away, and who sits there now is named
    }
    changed();
  }

  #send() {
    if (!this.pending) return;
    const { cid, turn, action } = this.pending;
    if (!this.socket.send({ type: "act", cid, ...(turn === null ? {} : { turn }), action })) this.note(t("notice.kept"));
  }

  /** @param {any} message */
  #hear(message) {
    switch (message.type) {
      case "welcome":
        return this.#welcome(message);
      case "step":
        return this.#step(message);
      case "table":
        return this.take(message.table);
      case "chat":
        return this.#said(message);
      case "ack":
        if (message.cid === this.pending?.cid) this.#acknowledged();
        return changed();
      case "refused":
        return this.#refused(message);
      case "pong":
        this.offset = message.now - performance.now();
        return undefined;
      default:
        return undefined;
    }
  }

  /** @param {any} message */
  #welcome(message) {
    this.offset = message.now - performance.now();
    this.table = message.table;
    this.seat = message.you?.seat ?? null;
    const { at, turn, deadline, view } = message;
    this.newest = { at, turn, deadline, next: message.next ?? [], view, events: [] };
    this.players = null;
    this.talk = message.chat ?? [];
    this.pace.clear();
    this.ahead = null;
    this.taken = null;
    this.#show({ kind: "view", step: this.newest, view, hold: 0, tells: false });
    this.notice = this.isFreed && this.seat === null ? t("notice.freed") : "";
    this.isFreed = false;
    if (view?.phase === "over") void this.#recallPlayers();
    if (!this.pending) return;
    if (this.pending.turn === null || this.pending.turn === turn) this.#send();
    else {
      this.#forget();
      this.note(t("notice.moved_on"));
    }
  }

  /** @param {any} message */
  #step(message) {
    if (this.newest && !older(this.newest.at, message.at)) return;
    this.offset = message.now - performance.now();
    /** @type {Step} */
    const step = {
      at: message.at,
      turn: message.turn ?? null,
      deadline: message.deadline ?? null,
      next: message.next ?? [],
      view: message.view ?? this.newest?.view ?? null,
      events: message.events ?? [],
    };
    // During a deal the sheet is not sent again, for it does not change.
    if (step.view && !step.view.sheet) step.view.sheet = this.newest?.view?.sheet ?? [];
    this.newest = step;
    this.#notePlayers();
    if (this.pending && this.pending.turn !== null && step.turn !== null && step.turn > this.pending.turn) this.#acknowledged();
    this.pace.push(step);
    if (document.visibilityState === "hidden") this.#catchUp();
    this.#pump();
  }

  /** Show frames as their time comes. */
  #pump() {
    clearTimeout(this.timer);
    for (;;) {
      const frame = this.pace.take(performance.now());
      if (!frame) break;
      this.#show(frame);
    }
    this.#judgeAhead();
    const wait = this.pace.wait(performance.now());
    if (wait !== null) this.timer = setTimeout(() => this.#pump(), wait);
  }

  #catchUp() {
    clearTimeout(this.timer);
    const frame = this.pace.jump(performance.now());
    if (frame) this.#show(frame);
    this.#judgeAhead();
  }

  /** @param {Frame} frame */
  #show(frame) {
    const { step, view, kind } = frame;
    const { turn, deadline, next } = step;
    const before = this.shown.view;
    if (turn !== this.shown.turn || view?.deal !== before?.deal) this.notice = "";
    if (turn !== this.taken?.turn) this.taken = null;
    this.shown = { step, view, turn, deadline, next, kind };
    if (frame.tells) this.#tells(frame.step.events);
    tell.turn(before, this.shown.view, this.newest?.view ?? null);
    changed();
  }

  /** @param {GameEvent[]} events */
  #tells(events) {
    tell.events(events, { name: (seat) => this.name(seat), side: (side) => this.side(side) });
    for (const event of events) {
      if (event.kind === "belote_said") this.bubble(event.seat, words.coded("belote", event.word));
      else if (event.kind === "melds_announced") {
        this.bubble(event.seat, event.kinds.map((/** @type {string} */ kind) => words.coded("meld", kind)).join(" · "));
      } else if (event.kind === "redeal_claimed") this.bubble(event.seat, words.coded("redeal", event.right));
      else if (event.kind === "melds_shown") this.#layMelds();
    }
  }

  /** The melds laid open are seen for some seconds; afterwards they stand in the column. */
  #layMelds() {
    this.showsMelds = true;
    setTimeout(() => {
      this.showsMelds = false;
      changed();
    }, 5000);
  }

  /**
   * @param {number} seat
   * @param {string} text
   */
  bubble(seat, text) {
    const until = performance.now() + 3500;
    this.bubbles.set(seat, { text, until });
    setTimeout(() => {
      if (this.bubbles.get(seat)?.until === until) this.bubbles.delete(seat);
      changed();
    }, 3500);
  }

  /**
   * Who said something; by the seat's name while it is the same person.
   * @param {Said} said
   */
  speaker(said) {
    return said.seat !== null && this.at(said.seat).name === said.name ? this.name(said.seat) : isolated(said.name);
  }

  /** @param {Said} said */
  #said(said) {
    this.talk = [...this.talk, said].slice(-100);
    const text = said.text ?? words.coded("phrase", said.phrase ?? "");
    if (said.seat !== null && said.seat !== undefined) this.bubble(said.seat, text);
    if (state.drawer !== "right") this.unread += 1;
    tell.aloud(`${this.speaker(said)}: ${isolated(text)}`);
    changed();
  }

  /** @param {{cid: string, why: string}} message */
  #refused(message) {
    if (message.cid !== this.pending?.cid) {
      if (!message.cid) this.note(words.reason(message.why));
      return;
    }
    const tries = this.tries.get(message.cid) ?? 0;
    if (message.why === "busy" && tries < 5) {
      this.tries.set(message.cid, tries + 1);
      setTimeout(() => this.#send(), 400 * (tries + 1));
      return;
    }
    this.#forget();
    this.note(words.reason(message.why));
  }

  #key() {
    return `coinche.pending.${this.id}`;
  }

  #remember() {
    try {
      sessionStorage.setItem(this.#key(), JSON.stringify(this.pending));
    } catch {
      // Then it is only kept until a reload.
    }
  }

  /** The server has what one did; it stays marked as done until it is drawn. */
  #acknowledged() {
    if (this.pending?.turn != null && this.pending.turn === this.shown.turn) this.taken = this.pending;
    this.#forget();
  }

  #forget() {
    this.pending = null;
    try {
      sessionStorage.removeItem(this.#key());
    } catch {
      // Nothing was kept.
    }
  }

  /** @returns {Pending | null} */
  #recall() {
    try {
      return JSON.parse(sessionStorage.getItem(this.#key()) ?? "null");
    } catch {
      return null;
    }
  }
}
