// `npm run screenshots` takes README's pictures, one per room and colour scheme, into docs/pictures/. Then it takes a picture of each tab
// and section of every room on four widths, light and dark, into test-results/pages/. `-- --readme` takes README's pictures only.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { everywhere, launch, returning } from "./browser.mjs";
import { build } from "./build.mjs";
import { ROOMS } from "./rooms.mjs";
import { main, options, root, step } from "./sh.mjs";
import { serve } from "./serve.mjs";

const README_SCREEN = { width: 1280, height: 800 };
const SCREENS = [
  { width: 390, height: 844 },
  { width: 1024, height: 768 },
  { width: 1440, height: 900 },
  { width: 1920, height: 1080 },
];
const SCHEMES = ["light", "dark"];
const SETTLE_MS = 500;
/** Training time before the pictures of a room. */
const TRAINED_MS = 40_000;
/** JPEG quality of README's pictures. All of them together are smaller than 1 MB. */
const QUALITY = 62;

const named = (...words) =>
  words
    .join("-")
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-");

/** Opens a room and trains for `TRAINED_MS`. */
async function trained(browser, server, room) {
  const page = await browser.newPage({ viewport: README_SCREEN });
  await page.addInitScript(returning);
  await page.goto(`${server.url}#/${room}`);
  await page.waitForFunction(() => globalThis.hothouse);
  await page.waitForTimeout(TRAINED_MS);
  return page;
}

async function readme(page, room) {
  for (const colorScheme of SCHEMES) {
    await page.emulateMedia({ colorScheme });
    await page.waitForTimeout(SETTLE_MS);
    await page.screenshot({ path: join(root, "docs/pictures", `${room}-${colorScheme}.jpg`), type: "jpeg", quality: QUALITY });
  }
}

/** Takes the pictures of all tabs of a room. */
async function tabs(page, room) {
  const folder = join(root, "test-results/pages", room);
  mkdirSync(folder, { recursive: true });
  await everywhere(page, async (...titles) => {
    for (const viewport of SCREENS) {
      await page.setViewportSize(viewport);
      for (const colorScheme of SCHEMES) {
        await page.emulateMedia({ colorScheme });
        await page.waitForTimeout(SETTLE_MS);
        await page.screenshot({ path: join(folder, `${named(...titles, String(viewport.width), colorScheme)}.png`), fullPage: true });
      }
    }
  });
}

await main(import.meta.url, async () => {
  const given = options({ readme: "README's pictures only" });
  const { dist } = await build();
  const server = await serve(dist);
  const browser = await launch();
  for (const room of ROOMS)
    await step(room, async () => {
      const page = await trained(browser, server, room);
      await readme(page, room);
      if (!given.readme) await tabs(page, room);
      await page.close();
    });
  await browser.close();
  await server.close();
});
