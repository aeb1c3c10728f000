// `npm run screenshots`: the README's picture in docs/, and in test-results/ the page as a desktop
// and a phone show it, light and dark, early in a run and once it is solved.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { launch } from "./browser.mjs";
import { build } from "./build.mjs";
import { main, root, step } from "./sh.mjs";
import { serve } from "./serve.mjs";

const SCREENS = { desktop: { width: 1280, height: 800 }, phone: { width: 390, height: 844 } };
const EARLY_MS = 1500;
const PATIENCE_MS = 60_000;

await main(import.meta.url, async () => {
  const { dist } = await build();
  const server = await serve(dist);
  const browser = await launch();
  const [docs, results] = ["docs", "test-results"].map((name) => join(root, name));
  for (const folder of [docs, results]) mkdirSync(folder, { recursive: true });
  for (const [screen, viewport] of Object.entries(SCREENS))
    for (const colorScheme of ["light", "dark"])
      await step(`${screen}, ${colorScheme}`, async () => {
        const page = await browser.newPage({ viewport, colorScheme, deviceScaleFactor: 2 });
        await page.goto(server.url);
        await page.waitForFunction(() => globalThis.hothouse);
        const solved = page.evaluate(
          () => new Promise((resolve) => hothouse.onEvent((event) => event.kind === "solved" && resolve(true))),
        );
        await page.waitForTimeout(EARLY_MS);
        const shoot = (folder, name, fullPage) => page.screenshot({ path: join(folder, `${name}.png`), fullPage });
        await shoot(results, `${screen}-${colorScheme}-early`, false);
        await Promise.race([solved, page.waitForTimeout(PATIENCE_MS)]);
        await page.waitForTimeout(EARLY_MS);
        await shoot(results, `${screen}-${colorScheme}`, false);
        await shoot(results, `${screen}-${colorScheme}-whole`, true);
        if (screen === "desktop" && colorScheme === "light") await shoot(docs, "page", false);
        await page.close();
      });
  await browser.close();
  await server.close();
});
