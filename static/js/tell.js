// @ts-check
// What happened, for the ear: sentences in the live region for those who listen, and small sounds.

import { t } from "./i18n.js";
import * as sound from "./sound.js";
import * as words from "./words.js";

/** @import {GameEvent, Side, View} from "./types.js" */

/** @type {string[]} */
let lines = [];

/**
 * Lines that come together, each ended as a sentence.
 * @param {string[]} said
 */
export function sentences(said) {
  return said.map((line) => (/[.!?…]$/.test(line) ? line : `${line}.`)).join(" ");
}

/**
 * Put a line into the live region; lines that come together are read together.
 * @param {string} line
 */
export function aloud(line) {
  if (!line) return;
  const region = document.getElementById("live");
  if (!region) return;
  if (lines.length === 0) {
    setTimeout(() => {
      region.textContent = sentences(lines);
      lines = [];
    }, 60);
  }
  lines.push(line);
}

/**
 * @param {GameEvent[]} events
 * @param {{name: (seat: number) => string, side: (side: Side) => string}} who
 */
export function events(events, who) {
  for (const event of events) {
    aloud(words.event(event, who));
    if (event.kind === "card_played") sound.play("card");
    else if (event.kind === "call_made") sound.play(event.call === "pass" ? "pass" : "call");
    else if (event.kind === "deal_scored") {
      const totals = event.row?.totals ?? event.totals;
      if (totals) aloud(t("event.totals", { us: who.side("A"), them: who.side("B"), a: totals.A, b: totals.B }));
    }
  }
}

/**
 * Say that it is one's turn, once the table shows it.
 * @param {View | null} before
 * @param {View | null} shown
 * @param {View | null} newest
 */
export function turn(before, shown, newest) {
  if (!shown || shown.viewer === null || shown !== newest) return;
  const mine = shown.turn === shown.viewer;
  if (!mine || before === shown) return;
  if (before?.turn === before?.viewer && before?.phase === shown.phase && before?.hand?.length === shown.hand?.length) return;
  sound.play("turn");
  aloud(t("turn.yours"));
}
