// `npm run screenshots` takes README's pictures, one per room and colour scheme, into docs/pictures/. Then it takes pictures into
// test-results/, on a desktop and a phone, light and dark: the page early in a run and after the run is solved, the device switch, and the
// pictures of each room. `-- --readme` takes README's pictures only.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { GPU_ARGS, launch, returning } from "./browser.mjs";
import { build } from "./build.mjs";
import { own, ROOMS } from "./rooms.mjs";
import { main, options, root, step } from "./sh.mjs";
import { serve } from "./serve.mjs";

const SCREENS = { desktop: { width: 1280, height: 800 }, phone: { width: 390, height: 844 } };
const EARLY_MS = 1500;
const PATIENCE_MS = 60_000;
/** Training time before a picture for README. */
const README_MS = 40_000;
/** JPEG quality of README's pictures. All of them together are smaller than 1 MB. */
const QUALITY = 62;

await main(import.meta.url, async () => {
  const given = options({ readme: "README's pictures only" });
  const { dist } = await build();
  const server = await serve(dist);
  const browser = await launch();
  const [pictures, results] = ["docs/pictures", "test-results"].map((name) => join(root, name));
  for (const folder of [pictures, results]) mkdirSync(folder, { recursive: true });
  const open = async (viewport, colorScheme, at = "", deviceScaleFactor = 2) => {
    const page = await browser.newPage({ viewport, colorScheme, deviceScaleFactor });
    await page.addInitScript(returning);
    await page.goto(server.url + at);
    await page.waitForFunction(() => globalThis.hothouse);
    return page;
  };
  const shoot = (page, folder, name, fullPage = false) => page.screenshot({ path: join(folder, `${name}.png`), fullPage });
  for (const room of ROOMS)
    for (const colorScheme of ["light", "dark"])
      await step(`README, ${room}, ${colorScheme}`, async () => {
        const page = await open(SCREENS.desktop, colorScheme, `#/${room}`, 1);
        await page.waitForTimeout(README_MS);
        await page.screenshot({ path: join(pictures, `${room}-${colorScheme}.jpg`), type: "jpeg", quality: QUALITY });
        await page.close();
      });
  if (given.readme) {
    await browser.close();
    return server.close();
  }
  for (const [screen, viewport] of Object.entries(SCREENS))
    for (const colorScheme of ["light", "dark"])
      await step(`${screen}, ${colorScheme}`, async () => {
        const page = await open(viewport, colorScheme);
        const solved = page.evaluate(() => new Promise((resolve) => hothouse.onEvent((event) => event.kind === "solved" && resolve(true))));
        await page.waitForTimeout(EARLY_MS);
        await shoot(page, results, `${screen}-${colorScheme}-early`);
        await Promise.race([solved, page.waitForTimeout(PATIENCE_MS)]);
        await page.waitForTimeout(EARLY_MS);
        await shoot(page, results, `${screen}-${colorScheme}`);
        await shoot(page, results, `${screen}-${colorScheme}-whole`, true);
        await page.close();
      });
  for (const [, screenshots] of await own("screenshots"))
    await screenshots({ screens: SCREENS, open, shoot: (page, name, fullPage) => shoot(page, results, name, fullPage) });
  await browser.close();
  // The switch between CPU and GPU, after the GPU is lost.
  const withGpu = await launch(GPU_ARGS);
  for (const [screen, viewport] of Object.entries(SCREENS))
    await step(`what trains, ${screen}`, async () => {
      const page = await withGpu.newPage({ viewport, colorScheme: screen === "phone" ? "dark" : "light", deviceScaleFactor: 2 });
      await page.addInitScript(returning);
      await page.goto(`${server.url}?device=gpu`);
      await page.waitForFunction(() => globalThis.hothouse?.device?.on_gpu);
      for (const name of ["gpu", "lost"]) {
        if (name === "lost") await page.evaluate(() => hothouse.failGpu("lost"));
        await page.waitForFunction((on) => hothouse.device?.on_gpu === on, name === "gpu");
        await page.evaluate(() => document.querySelector(".device").scrollIntoView({ block: "center" }));
        await page.waitForTimeout(EARLY_MS);
        await shoot(page, results, `${screen}-device-${name}`);
      }
      await page.close();
    });
  await withGpu.close();
  await server.close();
});
