// @ts-check
// Where one is: the lobby at "/", a table at "/t/<id>", a finished game at "/g/<table>/<number>". Links inside the page change the address without loading it anew.

import { href, within } from "./base.js";

/** @type {() => void} */
let arrived = () => {};

/** @typedef {{name: "lobby"} | {name: "table", id: string} | {name: "game", id: string} | {name: "nowhere"}} Place */

/** What a chat program takes along with a link, or leaves of it. */
const TAIL = /[^\w-]*$/;

/**
 * What was escaped in an address, or as much of it as can be read.
 * @param {string} text
 */
function unescaped(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text.replace(/%.*$/, "");
  }
}

/**
 * @param {string} path
 * @returns {Place}
 */
export function placeOf(path) {
  const clean = unescaped(within(path)).replace(TAIL, "");
  const game = /^\/g\/([\w-]+\/\d+)$/.exec(clean);
  if (game?.[1]) return { name: "game", id: game[1] };
  const found = /^\/t\/([\w-]+)$/.exec(clean);
  if (found?.[1]) return { name: "table", id: found[1] };
  return { name: clean === "" ? "lobby" : "nowhere" };
}

/** @param {string} id */
export function pathOf(id) {
  return `/t/${encodeURIComponent(id)}`;
}

/**
 * The table in what somebody pasted: a link or a bare code; null if there is none.
 * @param {string} text
 */
export function tableIn(text) {
  const link = /\/t\/([^/?#\s]+)/.exec(text);
  const code = (link?.[1] ? unescaped(link[1]) : text.trim()).replace(TAIL, "");
  return /^[\w-]{4,64}$/.test(code) ? code : null;
}

/** @param {string} path */
export function go(path) {
  if (path !== within(location.pathname)) history.pushState(null, "", href(path));
  scrollTo(0, 0);
  arrived();
}

/** Whether the browser is on its way back from a drawer that was closed. */
let isReturning = false;

/**
 * A drawer is a step of its own in the history, so that Back closes it and does not leave the table.
 * @param {boolean} isOpen
 */
export function followDrawer(isOpen) {
  const isStep = history.state?.drawer === true;
  if (isOpen && !isStep) history.pushState({ drawer: true }, "");
  else if (!isOpen && isStep && !isReturning) {
    isReturning = true;
    history.back();
  }
}

/** @param {() => void} listener */
export function onNavigate(listener) {
  arrived = listener;
  addEventListener("popstate", () => {
    isReturning = false;
    listener();
  });
  document.addEventListener("click", (event) => {
    const link = event.target instanceof Element ? event.target.closest("a[href]") : null;
    if (!(link instanceof HTMLAnchorElement) || link.origin !== location.origin || link.target) return;
    if (event.defaultPrevented || event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    const path = within(link.pathname);
    if (path !== "/" && !/^\/[tg]\//.test(path)) return;
    event.preventDefault();
    go(path);
  });
}
