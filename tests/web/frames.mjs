// Pages of another origin with `<hothouse-room>`, for tests.
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after } from "node:test";
import { returning } from "../../scripts/browser.mjs";
import { serve } from "../../scripts/serve.mjs";
import { fewFrames, WAIT_MS } from "./fixture.mjs";

const sites = new Set();
/** Closes the servers of the outer pages that a failed test has left open. */
after(() => Promise.all([...sites].map((site) => site.close())));

/** Runs in each document: records the events of the elements in `noted`. */
function note() {
  globalThis.noted = [];
  for (const name of ["began", "progress", "solved", "error"])
    document.addEventListener(name, ({ detail }) => detail && noted.push({ name, detail }), true);
}

/**
 * Opens a page of another origin with the markup `body`. In `body`, `PAGE/` is replaced by the address of the built page, and `SCRIPT` by
 * the address of the element's script. `isolated` is true if the outer page is cross-origin isolated. `extra` contains further files of the
 * outer page. `init` runs in all documents. A document draws at most ten frames a second. `page.frame()` waits for the frame of the built
 * page, and `page.next` for an event of an element.
 */
export async function outer(here, body, { server = here.server, isolated = false, extra, init, context: settings } = {}) {
  const markup = body.replaceAll("SCRIPT", `${here.server.url}hothouse-room.js`).replaceAll("PAGE/", server.url);
  const text = markup.startsWith("<!doctype") ? markup : `<!doctype html><html lang="en"><title>Outer page</title>${markup}</html>`;
  const site = await serve(mkdtempSync(join(tmpdir(), "outer-")), { isolated, extra: { "/outer.html": text, ...extra } });
  sites.add(site);
  const context = await here.browser.newContext({ viewport: { width: 800, height: 700 }, ...settings });
  context.setDefaultTimeout(WAIT_MS);
  await context.addInitScript(returning);
  await context.addInitScript(note);
  await context.addInitScript(fewFrames);
  if (init) await context.addInitScript(init);
  const page = await context.newPage();
  page.said = [];
  page.on("console", (message) => message.type() === "error" && page.said.push(message.text()));
  page.on("pageerror", (error) => page.said.push(String(error)));
  // The host name `localhost` makes the outer page another site than the built page at 127.0.0.1.
  await page.goto(`http://localhost:${site.port}/outer.html`);
  page.frame = () => until(() => page.frames().find((frame) => frame.url().startsWith(`${server.url}embed.html`)));
  page.next = (name, holds = () => true, after = 0) =>
    until(async () => (await page.evaluate(() => noted)).slice(after).find((event) => event.name === name && holds(event.detail))?.detail);
  page.close = async () => {
    await context.close();
    await site.close();
    sites.delete(site);
  };
  return page;
}

async function until(find) {
  for (const began = performance.now(); performance.now() - began < WAIT_MS; ) {
    const found = await find();
    if (found) return found;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`never so: ${find}`);
}

export const element = (attributes = "") => `<script type="module" src="SCRIPT"></script><hothouse-room ${attributes}></hothouse-room>`;
