// @ts-check
// Whoever plays by keyboard must not fall off the page when what had the focus goes: the next thing one would reach for gets it.

/** The natural next control, best first. */
const NEXT = [
  "[data-testid=next-deal]",
  "[data-testid=play-again]",
  "[data-testid=start]",
  "[data-testid=ready]",
  ".waiting [data-testid=sit]",
  ".auction [data-testid^=bid-value][tabindex='0']",
  ".auction button:not(:disabled)",
  "coinche-hand [tabindex='0']",
  ".stage",
];

/** What had the focus last. @type {Element | null} */
let last = null;
/** What that stood in, from the inside out. @type {Element[]} */
let around = [];
/** Where the focus only waits, in the hand or on the felt, for something to do. @type {Element | null} */
let parked = null;

/** @param {Element} element */
const isUsable = (element) => element.isConnected && !element.matches(":disabled");

/** The element that should have the focus now, among those that are shown. */
function next() {
  for (const selector of NEXT) {
    const found = document.querySelector(selector);
    if (found instanceof HTMLElement && found.offsetParent !== null) return found;
  }
  return beside();
}

/** Where nothing is that one would reach for next: the first of what has come in the place of what had the focus. */
function beside() {
  const box = around.find((each) => each.isConnected);
  const all = [...(box?.querySelectorAll("input, select, button, a[href]") ?? [])];
  return /** @type {HTMLElement | undefined} */ (all.find((each) => isUsable(each) && /** @type {HTMLElement} */ (each).offsetParent !== null)) ?? null;
}

/** The drawer that is open, and what had the focus before. @type {{drawer: Element, before: Element | null} | null} */
let drawn = null;

/** A drawer that opens takes the focus, and gives it back as it closes. */
function followDrawers() {
  const drawer = document.querySelector(".aside.is-open");
  if (drawer === (drawn?.drawer ?? null)) return;
  const before = drawn?.before ?? document.activeElement;
  drawn = drawer && { drawer, before };
  const to = drawer ? drawer.querySelector(".close") : before;
  if (to instanceof HTMLElement && to.isConnected) to.focus({ preventScroll: true });
}

/** Remember where the focus is. */
export function watchFocus() {
  document.addEventListener("focusin", ({ target }) => {
    last = target instanceof Element ? target : null;
    around = [];
    for (let each = last?.parentElement; each; each = each.parentElement) around.push(each);
    if (last !== parked) parked = null;
  });
}

/** After a drawing: give the focus to something, if what had it has gone. */
export function settleFocus() {
  followDrawers();
  const now = document.activeElement;
  const dialog = document.querySelector("dialog[open]");
  if (dialog) {
    if (now === document.body && last && !last.isConnected && around.includes(dialog)) beside()?.focus({ preventScroll: true });
    return;
  }
  const waits = now !== null && now === parked;
  if (!waits && (now !== document.body || !last)) return;
  if (!waits && last && isUsable(last)) {
    last = null; // it was taken off by a click beside everything
    return;
  }
  const found = next();
  if (!found || found === now) return;
  const onlyWaits = found.matches(".stage, coinche-hand *");
  if (waits && onlyWaits && !now.matches(".stage")) return;
  parked = onlyWaits ? found : null;
  found.focus({ preventScroll: true });
}
