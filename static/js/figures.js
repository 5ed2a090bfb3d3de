// @ts-check
// The figures of the court cards: fetched before they are needed, and once more where one has not come.

import { SUITS } from "./deck.js";

const AGAIN_MS = 3000;
const PATIENCE_MS = 2000;

/** Where the figure of a court card lies. @param {string} name */
export function figureUrl(name) {
  return new URL(`../cards/${name}.svg`, import.meta.url).href;
}

/** @type {Map<string, HTMLImageElement>} kept, so that a card that is drawn anew shows its figure at once */
const figures = new Map();
/** @type {Promise<unknown> | null} */
let fetched = null;

/** Resolves when all figures are there, or will not come soon: no deal waits longer for its pictures. */
export function loadFigures() {
  fetched ??= Promise.race([
    Promise.all(["K", "Q", "J"].flatMap((rank) => SUITS.map((suit) => fetchFigure(rank + suit)))),
    new Promise((resolve) => setTimeout(resolve, PATIENCE_MS)),
  ]);
  return fetched;
}

/** @param {string} name */
function fetchFigure(name) {
  const image = new Image();
  figures.set(name, image);
  return new Promise((resolve) => {
    image.onload = () => resolve(image.decode().catch(() => undefined));
    image.onerror = resolve;
    image.src = figureUrl(name);
  });
}

/** For an image whose picture has not come: it is asked for again until it does. @param {Event} event */
export function lost({ currentTarget }) {
  const image = /** @type {HTMLImageElement} */ (currentTarget);
  setTimeout(() => {
    if (image.isConnected) image.src = image.src;
  }, AGAIN_MS);
}
