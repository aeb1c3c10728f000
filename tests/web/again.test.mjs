// Tests of `afterAgain`, which counts the results of `npm test` after a second run of failed tests.
import assert from "node:assert/strict";
import { test } from "node:test";
import { afterAgain } from "../../scripts/node-tests.mjs";

test("a test that passes only in its second run fails under strict, unless it is listed", () => {
  const first = { passed: 10, failed: 3, failing: [] };
  const counts = (...rest) => {
    const { passed, failed, unsure } = afterAgain(first, ["a", "b"], ...rest);
    return [passed, failed, unsure.length];
  };
  assert.deepEqual(counts(false, {}), [12, 1, 2]);
  assert.deepEqual(counts(true, {}), [10, 3, 2]);
  assert.deepEqual(counts(true, { a: "the browser's own clock" }), [11, 2, 2]);
});
