// The element `<hothouse-room>` in a page of another origin, in Firefox and WebKitGTK. These browsers do not isolate a frame in a page that
// is not isolated, so the frame trains on one thread.
import assert from "node:assert/strict";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { serve } from "../../scripts/serve.mjs";
import { engines } from "../../scripts/setup.mjs";
import { firefox, tab, webkit } from "../../scripts/webdriver.mjs";
import { dist } from "../web/fixture.mjs";

const LIMIT_MS = 60_000;
const found = await engines();
const ENGINES = { Firefox: { ...found.firefox, open: firefox }, WebKit: { ...found.webkit, open: webkit } };

let page;
let site;
before(async () => {
  page = await serve(dist);
  const script = `${page.url}hothouse-room.js`;
  const element = `<hothouse-room room="control" link="#/control?envs=64&amp;v=2" src="${page.url}"></hothouse-room>`;
  const note = `globalThis.noted = [];
    for (const name of ["began", "progress", "error"])
      addEventListener(name, ({ detail }) => detail && noted.push({ name, detail }), true);`;
  const text = `<!doctype html><html lang="en"><title>Outer page</title><script>${note}</script>
    <script type="module" src="${script}"></script>${element}</html>`;
  site = await serve(mkdtempSync(join(tmpdir(), "outer-")), { isolated: false, extra: { "/outer.html": text } });
});
after(() => Promise.all([page?.close(), site?.close()]));

for (const [name, { missing, open, ...paths }] of Object.entries(ENGINES))
  test(`${name}: the element trains in a page of another origin, and reports its progress`, { skip: missing }, async () => {
    const outer = await tab(await open(paths), LIMIT_MS);
    try {
      // With another host name, this machine counts as another site.
      await outer.go(`http://localhost:${site.port}/outer.html`);
      const next = (name) => outer.until((name) => noted.find((event) => event.name === name)?.detail, name);
      const began = await next("began");
      assert.deepEqual([began.isolated, began.threads], [false, 1]);
      const { iteration } = await next("progress");
      await outer.until((iteration) => noted.some(({ name, detail }) => name === "progress" && detail.iteration > iteration), iteration);
      assert.deepEqual(await outer.run(() => noted.filter(({ name }) => name === "error")), []);
    } finally {
      await outer.close();
    }
  });
