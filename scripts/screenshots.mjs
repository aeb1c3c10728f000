// `npm run screenshots` takes README's pictures into docs/pictures/: one per room and colour scheme, and a moving one of all rooms. Then it
// takes a picture of each tab and section of every room on four widths, light and dark, into test-results/pages/. `-- --readme` takes
// README's pictures only.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { everywhere, launch, returning } from "./browser.mjs";
import { build } from "./build.mjs";
import { ROOMS } from "./rooms.mjs";
import { main, options, root, step } from "./sh.mjs";
import { serve } from "./serve.mjs";
import { animation, recording, sampled } from "./webp.mjs";

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
/** The moving picture: its size, its pictures a second, and the quality of a picture. It is smaller than 1.5 MB. */
const MOVING = { width: 800, height: 500, fps: 8, quality: 0.5 };
/** Time that the moving picture shows a room that begins to learn, and one that has learned. */
const [BEGINNING_MS, LEARNED_MS] = [8000, 2000];

const named = (...words) =>
  words
    .join("-")
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-");

/** Opens a room, which begins to train. */
async function opened(browser, server, room) {
  const page = await browser.newPage({ viewport: README_SCREEN });
  await page.addInitScript(returning);
  await page.goto(`${server.url}#/${room}`);
  await page.waitForFunction(() => globalThis.hothouse && !document.querySelector(".unready"));
  return page;
}

/** Records the first room from its beginning. */
async function beginning(browser, server) {
  const page = await opened(browser, server, ROOMS[0]);
  const shown = await recording(page, BEGINNING_MS, MOVING);
  await page.close();
  return shown;
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

/** Takes all pictures of the page in the folder `dist`. */
export async function screenshots(dist, only) {
  const server = await serve(dist);
  const browser = await launch();
  const clips = [sampled(await beginning(browser, server), MOVING.fps)];
  for (const room of ROOMS)
    await step(room, async () => {
      const page = await opened(browser, server, room);
      await page.waitForTimeout(TRAINED_MS);
      await readme(page, room);
      await page.emulateMedia({ colorScheme: SCHEMES[0] });
      await page.waitForTimeout(SETTLE_MS);
      if (room !== ROOMS[0]) clips.push(sampled(await recording(page, LEARNED_MS, MOVING), MOVING.fps));
      if (!only.readme) await tabs(page, room);
      await page.close();
    });
  await step("moving picture", async () => {
    const moving = await animation(browser, clips.flat(), MOVING);
    writeFileSync(join(root, "docs/pictures/learning.webp"), moving);
    return `${Math.ceil(moving.length / 1000)} kB`;
  });
  await browser.close();
  await server.close();
}

await main(import.meta.url, async () => {
  const only = options({ readme: "README's pictures only" });
  const { dist } = await build();
  await screenshots(dist, only);
});
