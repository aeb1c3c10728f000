// What a part of `npm test` makes of tests that failed and passed when they ran again.
import assert from "node:assert/strict";
import { test } from "node:test";
import { afterAgain } from "../../scripts/test.mjs";

test("a test that passes only on a second try has failed where no person looks, unless it is on a list", () => {
  const first = { passed: 10, failed: 3, failing: [] };
  const counts = (...rest) => {
    const { passed, failed, unsure } = afterAgain(first, ["a", "b"], ...rest);
    return [passed, failed, unsure.length];
  };
  assert.deepEqual(counts(false, {}), [12, 1, 2]);
  assert.deepEqual(counts(true, {}), [10, 3, 2]);
  assert.deepEqual(counts(true, { a: "the browser's own clock" }), [11, 2, 2]);
});
