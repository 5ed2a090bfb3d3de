// @ts-check
// Where one is: the lobby at "/", a table at "/t/<id>", a finished game at "/g/<table>/<number>". Links inside the page change the address without loading it anew.

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
  const clean = unescaped(path).replace(TAIL, "");
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
  if (path !== location.pathname) history.pushState(null, "", path);
  scrollTo(0, 0);
  arrived();
}

/** @param {() => void} listener */
export function onNavigate(listener) {
  arrived = listener;
  addEventListener("popstate", listener);
  document.addEventListener("click", (event) => {
    const link = event.target instanceof Element ? event.target.closest("a[href]") : null;
    if (!(link instanceof HTMLAnchorElement) || link.origin !== location.origin || link.target) return;
    if (event.defaultPrevented || event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    if (link.pathname !== "/" && !/^\/[tg]\//.test(link.pathname)) return;
    event.preventDefault();
    go(link.pathname);
  });
}
