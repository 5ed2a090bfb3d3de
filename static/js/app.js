// @ts-check
// The page begins here: preferences, words, who one is, and which of the two places one is in.

import { html, nothing, render } from "./vendor/lit.js";
import * as api from "./api.js";
import { loadFigures } from "./figures.js";
import { settleFocus, watchFocus } from "./focus.js";
import { language, load, t } from "./i18n.js";
import { followDrawer, onNavigate, placeOf } from "./place.js";
import { Session } from "./session.js";
import { changed, isStill, onChange, state } from "./store.js";
import { nowhere } from "./views/gone.js";
import { lobby, lookAgain, watchLobby } from "./views/lobby.js";
import { table } from "./views/table.js";
import { menu } from "./views/menu.js";
import { readGame } from "./actions.js";
import { gamePage } from "./views/game.js";
import { programs } from "./views/programs.js";

const page = /** @type {HTMLElement} */ (document.getElementById("page"));

/** Classes and language of the document follow the preferences. */
function dress() {
  const { preferences } = state;
  const root = document.documentElement;
  root.lang = language();
  root.classList.toggle("four-colours", preferences.fourColours);
  root.classList.toggle("still", isStill());
  if (preferences.theme === "auto") delete root.dataset.theme;
  else root.dataset.theme = preferences.theme;
}

function title() {
  const view = state.session?.shown.view;
  if (view && view.viewer !== null && view.turn === view.viewer && view.phase !== "over") return `${t("turn.yours")} – Coinche`;
  return "Coinche";
}

function draw() {
  if (state.preferences.language !== language()) {
    void load(state.preferences.language).then(changed);
    return;
  }
  dress();
  document.title = title();
  render(
    html`${place()} ${menu()} ${programs()} ${state.game ? gamePage(state.game) : nothing}`,
    page,
  );
  followDrawer(state.drawer !== null && state.drawer !== "trick");
  void settled().then(settleFocus);
}

/** After the hand, which draws itself some turns later in the same task: nobody finds the focus nowhere. */
async function settled() {
  for (let turn = 0; turn < 8; turn += 1) await null;
}

/** A deal is shown with its figures, not before them. */
function place() {
  if (state.route.name === "nowhere") return nowhere();
  if (state.route.name !== "table") return lobby();
  if (state.session?.shown.view && !state.hasFigures) return html`<main class="gone"><p class="muted">${t("link.connecting")}</p></main>`;
  return table();
}

/** Follow the address: leave the table one was at, sit down at the one it names. */
function arrive() {
  const place = placeOf(location.pathname);
  const here = state.session?.id ?? null;
  const there = place.name === "table" ? place.id : null;
  state.route = place;
  state.drawer = null;
  if (here !== there) {
    state.session?.close();
    state.session = there === null ? null : new Session(there);
    state.problem = "";
  }
  if (place.name === "game") void readGame(place.id);
  else state.game = null;
  watchLobby(place.name === "lobby" || place.name === "game");
  changed();
}

async function begin() {
  await load(state.preferences.language);
  onChange(draw);
  onNavigate(arrive);
  watchFocus();
  arrive();
  void loadFigures().then(() => {
    state.hasFigures = true;
    changed();
  });
  // Who comes for the first time is nobody yet; the server has said so with the page.
  const isGuest = document.documentElement.dataset.guest === "yes";
  const asks = [
    (isGuest ? api.me() : Promise.resolve(null)).then((me) => {
      state.me ??= me;
      if (state.me && state.route.name !== "table") lookAgain();
    }),
    api.rules().then((rules) => {
      state.rules = rules;
    }),
  ];
  const answers = await Promise.allSettled(asks);
  state.known = true;
  if (answers.some((answer) => answer.status === "rejected")) {
    state.lobby.offline = true;
    setTimeout(() => void again(), 3000);
  }
  changed();
}

/** Ask once more for what could not be had, until it is there. */
async function again() {
  try {
    state.rules ??= await api.rules();
    if (document.documentElement.dataset.guest === "yes") state.me ??= await api.me();
    state.lobby.offline = false;
    changed();
  } catch {
    setTimeout(() => void again(), 5000);
  }
}

void begin();
