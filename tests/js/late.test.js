import assert from "node:assert/strict";
import { test } from "node:test";

globalThis.navigator ??= { languages: ["en"] };
globalThis.document = { documentElement: { dataset: {} } };
const { readGame, wordsFor } = await import("../../static/js/actions.js");
const { Problem } = await import("../../static/js/api.js");
const { use } = await import("../../static/js/i18n.js");
const { state } = await import("../../static/js/store.js");

const answer = (game) => ({ ok: true, status: 200, json: async () => game });

test("a game that answers late is not shown in the place of another", async () => {
  const waiting = {};
  globalThis.fetch = (address) => new Promise((resolve) => (waiting[address.split("/").at(-1)] = () => resolve(answer({ id: address }))));
  const first = readGame("3f-k2m7q9x4wz/1");
  const second = readGame("3f-k2m7q9x4wz/2");
  waiting[2]();
  await second;
  waiting[1]();
  await first;
  assert.match(state.game.game.id, /2$/);
});

test("a game that answers when its page has been left is not shown", async () => {
  let come;
  globalThis.fetch = () => new Promise((resolve) => (come = () => resolve(answer({ id: "x" }))));
  const opened = readGame("3f-k2m7q9x4wz/1");
  state.game = null;
  come();
  await opened;
  assert.equal(state.game, null);
});

test("who has given a name and is not known all the same is told of cookies", () => {
  use("en", { "reason.cookies": "Allow cookies.", "reason.not_signed_in": "Choose a name first." });
  state.me = null;
  assert.equal(wordsFor(new Problem("not_signed_in", 401)), "Choose a name first.");
  state.me = { id: "g_1", name: "Nina" };
  assert.equal(wordsFor(new Problem("not_signed_in", 401)), "Allow cookies.");
});
