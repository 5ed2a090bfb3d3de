// @ts-check
// When does the eye see a step? Steps arrive faster than one can follow; this queue spreads them out in time.
// Pure: it is told what time it is and never sets a timer.

/** @import {At, Step, View, Trick} from "./types.js" */

/**
 * What is drawn for a while. A step becomes one frame, or three where a trick is taken: it lies, it is gathered, it is gone.
 * @typedef {{kind: "view" | "lie" | "gather", step: Step, view: View | null, hold: number, tells: boolean}} Frame
 */

/** How long each thing stays before the next may follow, in milliseconds. */
export const PACES = {
  calm: { card: 650, call: 550, lie: 1200, gather: 320 },
  normal: { card: 450, call: 350, lie: 700, gather: 250 },
  quick: { card: 180, call: 140, lie: 350, gather: 140 },
};

/** @typedef {keyof typeof PACES} PaceName */

/** How long each thing stays where somebody has done something meanwhile, in milliseconds. */
export const GLANCE = 90;

/** More steps waiting than this, and the queue jumps to the newest. */
export const TOO_MANY = 12;

/**
 * Whether `a` is older than `b`: [epoch, seq], compared in this order.
 * @param {At} a
 * @param {At} b
 */
export function older(a, b) {
  return a[0] < b[0] || (a[0] === b[0] && a[1] < b[1]);
}

/**
 * The view as it looked while the full trick still lay on the table.
 * @param {View} view
 * @param {{seat: number, points: number}} taken
 * @returns {View}
 */
function withTrickLying(view, taken) {
  const last = view.last_trick;
  if (!last) return view;
  /** @type {Trick} */
  const trick = { leader: last.leader, cards: last.cards, master: taken.seat, points: last.points };
  return { ...view, trick, phase: "playing", turn: null, moves: null };
}

/**
 * @param {Step} step
 * @param {PaceName} pace
 * @returns {Frame[]}
 */
export function framesOf(step, pace) {
  const time = PACES[pace];
  const kinds = step.events.map((event) => event.kind);
  const taken = /** @type {any} */ (step.events.find((event) => event.kind === "trick_taken"));
  if (taken && step.view?.last_trick) {
    const lying = withTrickLying(step.view, taken);
    return [
      { kind: "lie", step, view: lying, hold: time.card + time.lie, tells: true },
      { kind: "gather", step, view: lying, hold: time.gather, tells: false },
      { kind: "view", step, view: step.view, hold: 0, tells: false },
    ];
  }
  let hold = 0;
  if (kinds.includes("card_played")) hold = time.card;
  else if (kinds.includes("call_made") || kinds.includes("redeal_claimed")) hold = time.call;
  return [{ kind: "view", step, view: step.view, hold, tells: true }];
}

/** Frames waiting to be drawn, and how long the one being drawn must stay. */
export class Pace {
  /** @param {PaceName} [pace] */
  constructor(pace = "normal") {
    /** @type {PaceName} */
    this.pace = pace;
    /** @type {Frame[]} */
    this.waiting = [];
    this.busyUntil = 0;
  }

  /** @param {Step} step */
  push(step) {
    this.waiting.push(...framesOf(step, this.pace));
  }

  /** How many steps have frames waiting. */
  get steps() {
    return new Set(this.waiting.map((frame) => frame.step)).size;
  }

  /**
   * The frame to draw at `now`, or null if the one on the screen must stay or nothing waits.
   * @param {number} now
   * @returns {Frame | null}
   */
  take(now) {
    if (this.steps > TOO_MANY) return this.jump(now);
    if (now < this.busyUntil) return null;
    const frame = this.waiting.shift();
    if (!frame) return null;
    this.busyUntil = now + frame.hold;
    return frame;
  }

  /**
   * Milliseconds until `take` may have something, or null if nothing waits.
   * @param {number} now
   */
  wait(now) {
    return this.waiting.length ? Math.max(0, this.busyUntil - now) : null;
  }

  /**
   * Somebody does not want to wait: what is on the screen and what waits stays no longer than it takes to see it.
   * @param {number} now
   */
  hurry(now) {
    this.waiting = this.waiting.map((frame) => ({ ...frame, hold: Math.min(frame.hold, GLANCE) }));
    this.busyUntil = Math.min(this.busyUntil, now + GLANCE);
  }

  /**
   * The newest frame at once, all before it forgotten; null if nothing waits.
   * @param {number} now
   * @returns {Frame | null}
   */
  jump(now) {
    const newest = this.waiting.at(-1) ?? null;
    this.waiting = [];
    this.busyUntil = now;
    return newest && { ...newest, kind: "view", view: newest.step.view, tells: true, hold: 0 };
  }

  /** Forget everything: a whole new view has come. */
  clear() {
    this.waiting = [];
    this.busyUntil = 0;
  }
}
