import assert from "node:assert/strict";
import { test } from "node:test";
import { backOff } from "../../static/js/socket.js";

test("the ceiling doubles from a quarter of a second to eight seconds", () => {
  const ceilings = [0, 1, 2, 3, 4, 5, 6, 20].map((attempt) => backOff(attempt, () => 1));
  assert.deepEqual(ceilings, [250, 500, 1000, 2000, 4000, 8000, 8000, 8000]);
});

test("the wait is anywhere under the ceiling", () => {
  assert.equal(backOff(3, () => 0), 0);
  assert.equal(backOff(3, () => 0.5), 1000);
});
