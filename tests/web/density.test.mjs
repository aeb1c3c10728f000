// Test of the counts that `npm run bench -- page` makes of a page.
import assert from "node:assert/strict";
import { test } from "node:test";
import { census } from "../../scripts/page.mjs";
import { house } from "./fixture.mjs";

const here = house();

test("visible controls, words and sizes of type are counted, on the first screen and in the whole page", async () => {
  const page = await here.browser.newPage({ viewport: { width: 400, height: 300 } });
  await page.setContent(`
    <style>body { margin: 0; font-size: 14px } h1 { font-size: 28px } button { font-size: 12px } .unseen { font-size: 9px }</style>
    <h1>Two words</h1>
    <button>Go</button> <button hidden>Stay</button> <input aria-label="Number"> <p class="unseen">for readers</p>
    <select style="font-size: 16px"><option>not counted</option></select>
    <p style="margin-top: 400px">three more words <a href="#">link</a></p>`);
  const { screen, page: whole, height } = await page.evaluate(census);
  assert.deepEqual(screen, { controls: 3, words: 3, sizes: [12, 13.3333, 16, 28] });
  assert.deepEqual(whole, { controls: 4, words: 7, sizes: [12, 13.3333, 14, 16, 28] });
  assert.ok(height > 400);
  await page.close();
});
