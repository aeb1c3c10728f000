// Tests of the editor for environments in Firefox and WebKitGTK: style sheets in its shadow tree, typing, problems, completion, and stored
// files.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { samples } from "../../scripts/samples.mjs";
import { serve } from "../../scripts/serve.mjs";
import { engines } from "../../scripts/setup.mjs";
import { firefox, tab, webkit } from "../../scripts/webdriver.mjs";

const LIMIT_MS = 60_000;
const ENTER = "\ue007";
/** Wait before Enter, because CodeMirror does not accept a completion directly after it has appeared. */
const ACCEPTS_MS = 150;
const found = await engines();
const ENGINES = { Firefox: { ...found.firefox, open: firefox }, WebKit: { ...found.webkit, open: webkit } };

let server;
before(async () => (server = await serve(await samples())));
after(() => server?.close());

/** Types a text into the focused element. */
async function type(page, text) {
  for (const key of text) await page.hold(key, async () => {});
}

for (const [name, { missing, open, ...paths }] of Object.entries(ENGINES))
  test(`${name}: the editor is styled, completes, marks problems, and keeps its text over a reload`, { skip: missing }, async () => {
    const page = await tab(await open(paths), LIMIT_MS);
    try {
      await page.go(`${server.url}own.html`);
      await page.until(() => globalThis.sample);
      await page.run(() => sample.pane.editor.set(""));
      await page.run(() => sample.pane.editor.focus());
      await type(page, "x = cl");
      // While completions are computed, the list is disabled and contains the completions of an earlier text.
      const label = await page.until(() => {
        const list = document.querySelector(".own-code").shadowRoot.querySelector(".cm-tooltip-autocomplete");
        const isCurrent = sample.pane.editor.text === "x = cl" && !list?.classList.contains("cm-tooltip-autocomplete-disabled");
        return isCurrent && list?.querySelector(".cm-completionLabel")?.textContent;
      });
      assert.equal(label, "clip(x, low, high)");
      await new Promise((resolve) => setTimeout(resolve, ACCEPTS_MS));
      await type(page, `${ENTER}lambda`);
      await page.until(() => document.querySelector(".own-code").shadowRoot.querySelector(".cm-lintRange-error"));
      assert.equal(await page.run(() => sample.pane.editor.text), "x = clip(lambda)");
      await page.until(() => /Line 1: lambda is not part of the language/.test(document.querySelector(".own-problems").textContent));
      const [colour, size, display] = await page.run(() => {
        const shadow = document.querySelector(".own-code").shadowRoot;
        const { backgroundColor, fontSize } = getComputedStyle(shadow.querySelector(".cm-editor"));
        return [backgroundColor, fontSize, getComputedStyle(shadow.querySelector(".cm-scroller")).display];
      });
      assert.match(colour, /^rgb\((255, 255, 255|27, 33, 29)\)$/);
      assert.deepEqual([size, display], ["14px", "flex"]);
      await page.until(() => document.querySelector(".own-bar [role=status]").textContent === "Saved in this browser");
      await page.reload();
      await page.until(() => globalThis.sample?.pane.editor.text === "x = clip(lambda)");
      const drawn = await page.until(() => {
        const canvas = document.querySelector(".own-picture");
        const { data } = canvas.getContext("2d").getImageData(1, canvas.height - 2, 1, 1);
        return data[3] && [...data];
      });
      assert.deepEqual(drawn, [190, 216, 176, 255]);
    } finally {
      await page.close();
    }
  });
