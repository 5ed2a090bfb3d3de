// @ts-check
// One's own hand, fanned along the bottom. Styled by css/hand.css; as wide as the box it stands in.

import { card, parse, suit } from "./cards.js";
import { moveFocus, withReasons } from "./layout.js";
import { LitElement, html, nothing, repeat } from "./vendor/lit.js";

/** @typedef {import("./vendor/lit.js").TemplateResult} TemplateResult */
/** @typedef {import("./types.js").Trump} Trump */

/**
 * @typedef {object} HandOptions
 * @property {readonly (string | {card: string, why: string | null})[]} cards as they should be shown, trumps first; `why` null: legal
 * @property {boolean} [turn] one is to play: legal cards rise, the others dim
 * @property {Trump | null} [trump] a suit gets its tab over the trumps
 * @property {string | null} [selected] the card that was played and is not confirmed yet
 * @property {string | null} [ahead] the card that is chosen for one's turn to come
 * @property {string} [lang] letters of the cards
 * @property {string} [label] spoken name of the hand
 * @property {(card: string, why: string | null) => string} [describe] spoken words for a card ("jack of spades", "king of hearts, not now")
 * @property {(card: string, why: string | null) => void} [onCard] a card was chosen, legal or not
 */

/**
 * The hand.
 * @param {HandOptions} opts
 * @returns {TemplateResult}
 */
export function hand(opts) {
  return html`<coinche-hand .hand=${opts}></coinche-hand>`;
}

export class Hand extends LitElement {
  static properties = { hand: { attribute: false }, at: { state: true } };

  constructor() {
    super();
    /** @type {HandOptions} */
    this.hand = { cards: [] };
    /** The card the tab key reaches. @type {string | null} */
    this.at = null;
  }

  createRenderRoot() {
    return this;
  }

  /** @returns {HTMLButtonElement[]} */
  get buttons() {
    return [...this.querySelectorAll("button")];
  }

  /** @param {import("./vendor/lit.js").PropertyValues} changed */
  willUpdate(changed) {
    this.refocus = this.contains(document.activeElement); // also a card that is only moved loses the focus
    const names = withReasons(this.hand.cards).map((one) => one.card);
    if (this.at !== null && names.includes(this.at)) return;
    // The card that had the focus has gone: its neighbour takes it over.
    const old = /** @type {HandOptions | undefined} */ (changed.get("hand"));
    const was = old && this.at !== null ? withReasons(old.cards).findIndex((one) => one.card === this.at) : 0;
    this.at = names[Math.min(Math.max(was, 0), names.length - 1)] ?? null;
  }

  updated() {
    if (!this.refocus || this.contains(document.activeElement)) return;
    this.buttons.find((one) => one.dataset.card === this.at)?.focus({ preventScroll: true });
  }

  /** @param {KeyboardEvent} event */
  onKey(event) {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const buttons = this.buttons;
    const from = buttons.findIndex((one) => one === document.activeElement);
    const to = moveFocus(event.key, from, buttons.length);
    if (to === null) return;
    event.preventDefault();
    buttons[to]?.focus({ preventScroll: true });
  }

  /** @param {FocusEvent} event */
  onFocus(event) {
    const name = /** @type {HTMLElement} */ (event.target).dataset.card;
    if (name) this.at = name;
  }

  render() {
    const { turn = false, trump = null, selected = null, ahead = null, lang, label, describe, onCard } = this.hand;
    const cards = withReasons(this.hand.cards);
    const firstTrump = cards.find((one) => parse(one.card).suit === trump)?.card;
    return html`<div class="hand ${turn ? "is-turn" : ""}" data-count=${cards.length} role="group" aria-label=${label ?? nothing}
      @keydown=${this.onKey} @focusin=${this.onFocus}>
      ${repeat(
        cards,
        (one) => one.card,
        ({ card: name, why }) => html`<button type="button"
          class="hand__card ${turn ? (why === null ? "is-legal" : "is-barred") : ""} ${name === selected ? "is-selected" : ""} ${name === ahead ? "is-ahead" : ""}"
          data-card=${name} data-testid="card-${name}" tabindex=${name === this.at ? 0 : -1} aria-pressed=${name === ahead ? "true" : nothing} aria-disabled=${turn && why !== null ? "true" : nothing}
          aria-label=${describe?.(name, turn ? why : null) ?? name} @click=${() => onCard?.(name, why)}>
          ${name === firstTrump ? html`<span class="hand__tab">${suit(parse(name).suit)}</span>` : nothing}
          ${card(name, { lang, legal: turn && why === null, dimmed: turn && why !== null, selected: name === selected })}
        </button>`,
      )}
    </div>`;
  }
}

customElements.define("coinche-hand", Hand);
