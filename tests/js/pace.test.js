import assert from "node:assert/strict";
import { test } from "node:test";
import { GLANCE, PACES, Pace, TOO_MANY, framesOf, older } from "../../static/js/pace.js";

const { card, call, lie, gather } = PACES.normal;

const view = (fields = {}) => ({ phase: "playing", turn: 0, trick: null, last_trick: null, moves: null, ...fields });
const step = (seq, events = [], fields = {}) => ({ at: [1, seq], turn: seq, deadline: null, next: [], events, view: view(fields) });
const played = (seq) => step(seq, [{ kind: "card_played", seat: 0, card: "JH" }]);
const taken = (seq) =>
  step(seq, [{ kind: "card_played", seat: 3, card: "7H" }, { kind: "trick_taken", seat: 2, points: 30 }], {
    last_trick: { leader: 0, cards: [{ seat: 0, card: "JH" }], winner: 2, points: 30 },
  });

test("an older step is one of an earlier epoch, or earlier in the same", () => {
  assert.equal(older([1, 9], [2, 1]), true);
  assert.equal(older([2, 1], [1, 9]), false);
  assert.equal(older([1, 4], [1, 5]), true);
  assert.equal(older([1, 5], [1, 5]), false);
});

test("the first card is shown at once and the next when it has lain long enough", () => {
  const pace = new Pace();
  pace.push(played(1));
  pace.push(played(2));
  assert.deepEqual(pace.take(1000)?.step.at, [1, 1]);
  assert.equal(pace.take(1000 + card - 1), null);
  assert.equal(pace.wait(1000 + card - 1), 1);
  assert.deepEqual(pace.take(1000 + card)?.step.at, [1, 2]);
});

test("a call is shorter than a card", () => {
  const pace = new Pace();
  pace.push(step(1, [{ kind: "call_made", seat: 1, call: "pass" }]));
  pace.push(played(2));
  pace.take(0);
  assert.equal(pace.wait(0), call);
});

test("a full trick lies, is gathered, and is gone", () => {
  const frames = framesOf(taken(1), "normal");
  assert.deepEqual(frames.map(({ kind }) => kind), ["lie", "gather", "view"]);
  assert.deepEqual(frames.map(({ hold }) => hold), [card + lie, gather, 0]);
  assert.deepEqual(frames.map(({ tells }) => tells), [true, false, false]);
  const [lying, , gone] = frames;
  assert.equal(lying.view.trick.master, 2);
  assert.equal(lying.view.turn, null);
  assert.equal(gone.view.trick, null);
});

test("the last trick lies on the table before the sheet of the deal is shown", () => {
  const last = taken(1);
  last.view.phase = "dealing";
  const [lying, , sheet] = framesOf(last, "normal");
  assert.equal(lying.view.phase, "playing");
  assert.equal(sheet.view.phase, "dealing");
});

test("too many waiting steps are jumped over", () => {
  const pace = new Pace();
  for (let seq = 1; seq <= TOO_MANY + 1; seq += 1) pace.push(played(seq));
  assert.deepEqual(pace.take(0)?.step.at, [1, TOO_MANY + 1]);
  assert.equal(pace.take(0), null);
  assert.equal(pace.wait(0), null);
});

test("a jump shows the newest and frees the eye at once", () => {
  const pace = new Pace();
  pace.push(taken(1));
  pace.push(taken(2));
  pace.take(0);
  const frame = pace.jump(10);
  assert.equal(frame?.kind, "view");
  assert.deepEqual(frame?.step.at, [1, 2]);
  pace.push(played(3));
  assert.deepEqual(pace.take(10)?.step.at, [1, 3]);
});

test("nothing waiting, nothing to show", () => {
  const pace = new Pace();
  assert.equal(pace.take(0), null);
  assert.equal(pace.jump(0), null);
  assert.equal(pace.wait(0), null);
});

test("who does not want to wait sees each step for a glance, and what comes later at the usual pace", () => {
  const pace = new Pace("calm");
  for (const seq of [1, 2, 3]) pace.push(played(seq));
  pace.take(1000);
  pace.hurry(1010);
  assert.equal(pace.wait(1010), GLANCE);
  assert.deepEqual(pace.take(1010 + GLANCE)?.step.at, [1, 2]);
  pace.push(played(4));
  assert.deepEqual(pace.take(1010 + 2 * GLANCE)?.step.at, [1, 3]);
  assert.deepEqual(pace.take(1010 + 3 * GLANCE)?.step.at, [1, 4]);
  assert.equal(pace.take(1010 + 3 * GLANCE + PACES.calm.card - 1), null);
});

test("hurrying never lengthens what is nearly over", () => {
  const pace = new Pace();
  pace.push(played(1));
  pace.push(played(2));
  pace.take(0);
  pace.hurry(card - 5);
  assert.equal(pace.wait(card - 5), 5);
});
