// @ts-check
// Text of the world, told apart as people tell it: a letter with its accents, a flag or a family is one sign.

const segmenter = typeof Intl.Segmenter === "function" ? new Intl.Segmenter(undefined, { granularity: "grapheme" }) : null;

/**
 * The signs of a text.
 * @param {string} text
 * @returns {string[]}
 */
export function signs(text) {
  return segmenter ? Array.from(segmenter.segment(text), ({ segment }) => segment) : [...text];
}

/**
 * The first sign of a name, for its disc.
 * @param {string} name
 */
export function initial(name) {
  return signs(name.replace(/[\u2068\u2069]/g, "").trim())[0]?.toUpperCase() ?? "?";
}

/**
 * As much of a text as may be sent, whole signs only.
 * @param {string} text
 * @param {{signs: number, points: number}} most
 */
export function fit(text, most) {
  let points = 0;
  const kept = [];
  for (const sign of signs(text.trim())) {
    points += [...sign].length;
    if (kept.length === most.signs || points > most.points) break;
    kept.push(sign);
  }
  return kept.join("").trim();
}

const RIGHT_TO_LEFT = /^[^\u2068]*[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;

/**
 * A name, or what somebody wrote, to stand in a line of ours: from right to left it keeps to itself, and needs to only once.
 * @param {string} text
 */
export function isolated(text) {
  return RIGHT_TO_LEFT.test(text) ? `\u2068${text}\u2069` : text;
}

/** What the server takes as a name and as a line of talk. */
export const NAME = { signs: 24, points: 64 };
export const LINE = { signs: 200, points: 200 };
