// @ts-check
// A playing card, drawn from its name ("JH", "10S"). Styled by css/cards.css.

import { isCourt, letter, parse } from "./deck.js";
import { figureUrl, lost } from "./figures.js";
import { html, nothing, svg } from "./vendor/lit.js";

export { RANKS, SUITS, cardName, cardShort, isCourt, letter, parse } from "./deck.js";

/** @typedef {import("./types.js").Suit} Suit */
/** @typedef {import("./vendor/lit.js").TemplateResult} TemplateResult */

// ---------------------------------------------------------------------------------------------------- shapes

/** Suits in a box of 100 by 100. @type {Record<Suit, string>} */
const SUIT_PATHS = {
  S: "M50 2C57 21 95 42 95 66C95 79 85.5 87 75 87C67 87 60 83 56 76C56.5 86 60 92 67 98H33C40 92 43.5 86 44 76C40 83 33 87 25 87C14.5 87 5 79 5 66C5 42 43 21 50 2z",
  H: "M50 96C31 77 4 57 4 31C4 15 15 5 28 5C38 5 46 11 50 21C54 11 62 5 72 5C85 5 96 15 96 31C96 57 69 77 50 96z",
  D: "M50 1C58 20 71 37 87 50C71 63 58 80 50 99C42 80 29 63 13 50C29 37 42 20 50 1z",
  C: "M50 3A22 22 0 0 1 66.5 39.5A22 22 0 1 1 56.5 73.5C57 85 60 92 67 98H33C40 92 43 85 43.5 73.5A22 22 0 1 1 33.5 39.5A22 22 0 0 1 50 3z",
};

/**
 * Letters and figures as strokes in a box 100 high, cut off at its edges: width of the box, path, thickness.
 * @type {Record<string, [number, string, number?]>}
 */
const GLYPHS = {
  A: [72, "M8.6 106L34.4-6M63.4 106L37.6-6M17 69H55"],
  K: [67, "M10 0V100M14 66L58-8M31 40L59 108"],
  Q: [70, "M10 36a24 26 0 0 1 48 0v28a24 26 0 0 1-48 0zM37 64L64 106"],
  J: [58, "M20 10H48V66a18.5 24 0 0 1-37 0v-6"],
  V: [72, "M8.6-6L34.4 106M63.4-6L37.6 106"],
  D: [67, "M10 10H30a27 27 0 0 1 27 27v26a27 27 0 0 1-27 27H10z"],
  R: [68, "M10 100V10H35a22 22 0 0 1 0 45H10M34 55L59 108"],
  W: [80, "M7.5-6L22.3 106M39-6L24.3 106M41-6L55.7 106M72.5-6L57.7 106", 15.5],
  10: [84, "M20 100V0M22 4L0 22M44.5 35a14.75 26 0 0 1 29.5 0v30a14.75 26 0 0 1-29.5 0z", 18.5],
  9: [66, "M56 35a23 25 0 1 0-46 0a23 25 0 0 0 46 0V62a23 28 0 0 1-43.5 13"],
  8: [66, "M33 10a20.5 20 0 0 1 0 40a20.5 20 0 0 1 0-40zM33 50a23 20 0 0 1 0 40a23 20 0 0 1 0-40z"],
  7: [60, "M3 10H48L23 106"],
};

/** On a court card: the corner kept free for the index, and the line around the figure. */
const CORNER = "M5 5H35.5V73a5 5 0 0 1-5 5H5z";
const FRAME = "M35.5 6.3H90a4 4 0 0 1 4 4V137.7a4 4 0 0 1-4 4H10a4 4 0 0 1-4-4V78H30.5a5 5 0 0 0 5-5z";

/**
 * A suit's sign, to stand in a line of text: as high as a capital, in the suit's colour.
 * @param {Suit} of
 * @param {{label?: string}} [opts] `label`: spoken; without it the sign is decoration
 * @returns {TemplateResult}
 */
export function suit(of, { label } = {}) {
  return html`<svg class="suit suit--${of}" viewBox="0 0 100 100" role=${label ? "img" : nothing} aria-label=${label ?? nothing}
    aria-hidden=${label ? nothing : "true"}><path d=${SUIT_PATHS[of]}></path></svg>`;
}

// ---------------------------------------------------------------------------------------------------- cards

/**
 * @typedef {object} CardOptions
 * @property {string} [lang] letters of this language
 * @property {string} [label] spoken name (`cardName`); without it the card is hidden from assistive technology, because
 *   the button or the list around it says it
 * @property {boolean} [legal] may be played: brass ring
 * @property {boolean} [dimmed] may not be played
 * @property {boolean} [master] wins the trick: brass ring
 * @property {boolean} [selected] picked, waiting for the server
 * @property {string} [class] further classes
 */

/** @param {CardOptions} opts */
function classes(opts) {
  return [
    opts.legal && "is-legal",
    opts.dimmed && "is-dimmed",
    opts.master && "is-master",
    opts.selected && "is-selected",
    opts.class,
  ].filter(Boolean).join(" ");
}

/**
 * The face of a card. Its width is `--card-w`.
 * @param {string} name
 * @param {CardOptions} [opts]
 * @returns {TemplateResult}
 */
export function card(name, opts = {}) {
  const { rank, suit } = parse(name);
  const [width, path, thick = 20] = GLYPHS[letter(rank, opts.lang)] ?? [0, ""];
  const wide = width * 0.36;
  const left = 7 + Math.min(0, 24 - wide) / 4 + Math.max(0, 24 - wide) / 2;
  const court = isCourt(name);
  return html`<span class="pcard pcard--${suit} ${classes(opts)}" data-card=${name} role=${opts.label ? "img" : nothing}
    aria-label=${opts.label ?? nothing} aria-hidden=${opts.label ? nothing : "true"}>
    ${court ? html`<img class="pcard__figure" src=${figureUrl(name)} alt="" draggable="false" @error=${lost}>` : nothing}
    <svg class="pcard__print" viewBox="0 0 100 148" aria-hidden="true">
      ${court ? svg`<path class="pcard__corner" d=${CORNER}></path><path class="pcard__frame" d=${FRAME}></path>` : nothing}
      <svg x=${left} y="8" width=${wide} height="36" viewBox="0 0 ${width} 100"><path class="pcard__rank" stroke-width=${thick}
        d=${path}></path></svg>
      <svg x="7" y="49" width="24" height="24" viewBox="0 0 100 100"><path d=${SUIT_PATHS[suit]}></path></svg>
      ${court ? nothing : svg`<svg x="44" y="89" width="48" height="48" viewBox="0 0 100 100"><path d=${SUIT_PATHS[suit]}></path></svg>`}
    </svg></span>`;
}

/**
 * The back of a card.
 * @param {CardOptions} [opts]
 * @returns {TemplateResult}
 */
export function back(opts = {}) {
  return html`<span class="pcard pcard--back ${classes(opts)}" role=${opts.label ? "img" : nothing}
    aria-label=${opts.label ?? nothing} aria-hidden=${opts.label ? nothing : "true"}></span>`;
}
