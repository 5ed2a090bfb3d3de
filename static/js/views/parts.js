// @ts-check
// Small things that several views draw.

import { Directive, directive, html, noChange, nothing } from "../vendor/lit.js";
import { suit } from "../cards.js";
import { num, t } from "../i18n.js";
import { isolated } from "../text.js";
import { coded, chosen } from "../words.js";

/** @import {PlayedGame, TableInfo, Rules, Option, Suit} from "../types.js" */

/** @type {Record<string, Suit>} */
const SUIT_OF = { "♠": "S", "♥": "H", "♦": "D", "♣": "C" };

/**
 * A text with the suits in it drawn, in their colours.
 * @param {string} text
 */
export function rich(text) {
  return text.split(/((?:\S+\u00a0)?[♠♥♦♣]\uFE0E?)/).map((part) => {
    const [, number, sign] = /^(.*)([♠♥♦♣])\uFE0E?$/u.exec(part) ?? [];
    const of = sign && SUIT_OF[sign];
    if (!of) return part;
    const drawn = suit(of, { label: t(`suit.${of}`) });
    return number ? html`<span class="bid">${number}${drawn}</span>` : drawn;
  });
}

class OpenIf extends Directive {
  /** @param {boolean} open */
  render(open) {
    void open;
    return noChange;
  }

  /**
   * @param {{element: Element}} part
   * @param {[boolean]} values
   */
  update({ element }, [open]) {
    const dialog = /** @type {HTMLDialogElement} */ (element);
    queueMicrotask(() => {
      if (open && !dialog.open && dialog.isConnected) dialog.showModal();
      else if (!open && dialog.open) dialog.close();
    });
    return noChange;
  }
}

/** On a dialog: it is shown as a modal one while the value is true. */
export const openIf = directive(OpenIf);

/**
 * @param {{open: boolean, label: string, kind?: string, close: () => void, content: unknown}} what
 */
export function dialog({ open, label, kind = "", close, content }) {
  /** @param {MouseEvent} event */
  const outside = (event) => event.target === event.currentTarget && close();
  return html`<dialog class="dialog ${kind}" aria-label=${label} @close=${close} @click=${outside} ${openIf(open)}>
    ${open ? html`<div class="dialog-body">${content}</div>` : nothing}
  </dialog>`;
}

/** @param {() => void} close */
export function closeButton(close) {
  return html`<button class="icon-button close" type="button" aria-label=${t("dialog.close")} @click=${close}>${icon("close")}</button>`;
}

/** @type {Record<string, string>} */
const ICONS = {
  menu: "M4 7h16M4 12h16M4 17h16",
  close: "M6 6l12 12M18 6L6 18",
  talk: "M4 5h16v11H10l-5 4v-4H4z",
  back: "M15 5l-7 7 7 7",
  cards: "M4 8l9-4 6 12-9 4zM16 20h5V8",
  house: "M4 11l8-7 8 7M6 10v10h12V10",
  copy: "M8 8h11v12H8zM5 16V4h11",
};

/** @param {string} name */
export function icon(name) {
  return html`<svg class="icon" viewBox="0 0 24 24" aria-hidden="true"><path d=${ICONS[name]}></path></svg>`;
}

const HOUR = 3600;

/** @param {number | null} clock */
export function clockShort(clock) {
  if (!clock) return t("clock.none");
  return clock < HOUR ? t("clock.short", { count: clock }) : t("clock.short_hours", { count: clock / HOUR });
}

/** @param {number | null} clock */
export function clockWords(clock) {
  if (!clock) return t("clock.none");
  return clock < HOUR ? t("clock.seconds", { count: clock }) : t("clock.hours", { count: clock / HOUR });
}

/**
 * The name under which somebody played; a bot is called one.
 * @param {PlayedGame} game
 * @param {number} seat
 */
export function playedAs(game, seat) {
  const one = game.seats.find((other) => other.seat === seat);
  return `${isolated(one?.name ?? "")}${one?.bot ? ` (${t("seat.bot")})` : ""}`;
}

/** @param {string | null} preset */
export function presetName(preset) {
  return preset === null ? t("preset.own") : coded("preset", preset);
}

/**
 * What differs from the preset a table began with, or all that matters of its rules.
 * @param {TableInfo} table
 */
export function rulesLine(table) {
  const target = table.rules.target;
  const parts = [presetName(table.preset)];
  if (table.preset === null && typeof target === "number") parts.push(t("rules.target", { points: target }));
  parts.push(clockWords(table.clock));
  return parts.join(" · ");
}

/**
 * Every option of the table's rules with what was chosen, group by group.
 * @param {Rules} rules
 * @param {Option[]} options
 * @param {Rules | undefined} preset what to compare with: what differs is marked
 */
export function rulesList(rules, options, preset) {
  const groups = [...new Set(options.map(({ group }) => group))];
  return groups.map(
    (group) => html`<h4 class="rules-group">${coded("group", group)}</h4>
      <dl class="rules-list">
        ${options
          .filter((option) => option.group === group && option.name in rules)
          .map(
            ({ name }) => html`<div class=${preset && preset[name] !== rules[name] ? "differs" : ""}>
              <dt>${coded("option", name)}</dt>
              <dd>${chosen(name, rules[name])}</dd>
            </div>`,
          )}
      </dl>`,
  );
}

/** @param {number} value */
export function signed(value) {
  return value > 0 ? `+${num(value)}` : num(value);
}
