// `npm run gallery` opens each entry of the gallery on the page, waits until the page has compared the run with the entry, and fails if an
// entry is not reproduced. `-- --pictures` also takes the pictures of the entries, into gallery/pictures/. `-- --only ID,ID` opens only
// these entries.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { launch, returning } from "./browser.mjs";
import { build } from "./build.mjs";
import { main, options, root, step, Trouble } from "./sh.mjs";
import { serve } from "./serve.mjs";
import { FIRST_FLAVOUR, MODULES } from "./wasm.mjs";

const folder = join(root, "gallery");
const SCREEN = { width: 1280, height: 800 };
/** Device pixels per CSS pixel of the pictures. The gallery shows a picture at about a third of the stage's width. */
const SCALE = 0.5;
const SCHEMES = ["light", "dark"];
const SETTLE_MS = 1000;
const QUALITY = 60;
/** Time limit of a run and its comparison with the entry. */
const PATIENCE_MS = 7_200_000;

/** Returns the entries that the gallery of the page lists, each with the link that opens its run. */
async function entriesOf(browser, server) {
  const page = await browser.newPage();
  await page.goto(`${server.url}#/gallery`);
  await page.locator(".entry").first().waitFor();
  const entries = await page
    .locator(".entry")
    .evaluateAll((all) => all.map((one) => ({ id: one.dataset.entry, link: one.querySelector("a").getAttribute("href") })));
  await page.close();
  return entries;
}

async function picture(page, id) {
  for (const colorScheme of SCHEMES) {
    await page.emulateMedia({ colorScheme });
    await page.waitForTimeout(SETTLE_MS);
    const path = join(folder, "pictures", `${id}-${colorScheme}.jpg`);
    await page.locator(".live-panel").screenshot({ path, type: "jpeg", quality: QUALITY });
  }
}

await main(import.meta.url, async () => {
  const given = options({
    pictures: "also takes the pictures of the entries",
    only: "<ids>: open only these entries, with commas between",
  });
  const only = given.only?.split(",");
  const { dist } = await build({ only: MODULES.filter((name) => name.endsWith(`/${FIRST_FLAVOUR}`)) });
  const [server, browser] = [await serve(dist), await launch()];
  mkdirSync(join(folder, "pictures"), { recursive: true });
  const failed = [];
  const entries = await entriesOf(browser, server);
  const unknown = only?.filter((id) => entries.every((entry) => entry.id !== id)) ?? [];
  if (unknown.length) throw new Trouble(`no entry ${unknown.join(", ")}`, `choose from ${entries.map(({ id }) => id).join(", ")}`);
  for (const { id, link } of entries.filter((entry) => only?.includes(entry.id) ?? true))
    await step(id, async () => {
      const page = await browser.newPage({ viewport: SCREEN, deviceScaleFactor: SCALE });
      await page.addInitScript(returning);
      await page.goto(server.url + link);
      const badge = page.locator(".claim:not([data-state=checking])");
      await badge.waitFor({ timeout: PATIENCE_MS });
      const state = await badge.textContent();
      if (state !== "Reproduced") failed.push(id);
      if (given.pictures) await picture(page, id);
      await page.close();
      return state.toLowerCase();
    });
  await browser.close();
  await server.close();
  if (failed.length) throw new Trouble(`${failed.join(", ")} differ on the page`, "run `hothouse verify` on these files to see the place");
});
