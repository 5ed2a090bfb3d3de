// @ts-check
// What stands before all paths of this coinche, as in "/coinche"; empty where it has a host for itself.

export const BASE = new URL(import.meta.url).pathname.replace(/^(.*)\/static\/.*$/, "$1");

/**
 * The address of a path of this coinche, to link to.
 * @param {string} path
 */
export const href = (path) => BASE + path;

/**
 * The address of a path for others to come by: the public one, where the server knows it.
 * @param {string} path
 */
export const link = (path) =>
  (document.querySelector('meta[name="coinche-url"]')?.getAttribute("content") || location.origin + BASE) + path;

/**
 * The path of this coinche in that of an address.
 * @param {string} pathname
 */
export const within = (pathname) => (`${pathname}/`.startsWith(`${BASE}/`) ? pathname.slice(BASE.length) || "/" : pathname);
