// What the scripts do for the cube alone.
import { step } from "../sh.mjs";

/** An agent is shown after so much training. */
const LOOK_MS = 30_000;
const SETTLE_MS = 4000;


/** The agent trying by itself, a state solved with methods side by side, and the whole page; and the 3x3x3. */
export async function screenshots({ screens, open, shoot }) {
  for (const [screen, viewport] of Object.entries(screens))
    for (const colorScheme of ["light", "dark"])
      await step(`cube, ${screen}, ${colorScheme}`, async () => {
        const page = await open(viewport, colorScheme, "#/cube");
        await page.waitForTimeout(LOOK_MS);
        await shoot(page, `${screen}-${colorScheme}-cube`);
        await page.getByLabel("By distance").fill("11");
        await page.getByRole("button", { name: "Draw a state" }).click();
        await page.waitForTimeout(SETTLE_MS);
        await page.getByRole("button", { name: "Compare on this state" }).click();
        await page.getByText(/\d of \d methods solved it/).first().waitFor();
        await page.getByRole("button", { name: "Begin with the cube above" }).click();
        await page.getByRole("button", { name: "Solve it" }).first().click();
        await page.waitForTimeout(SETTLE_MS);
        await shoot(page, `${screen}-${colorScheme}-cube-whole`, true);
        await page.goto(page.url().replace(/#.*/, "#/cube?variant=3x3x3&v=2"));
        await page.waitForTimeout(SETTLE_MS);
        await page.getByRole("button", { name: "Scramble", exact: true }).click();
        await page.waitForTimeout(SETTLE_MS);
        await shoot(page, `${screen}-${colorScheme}-cube-3x3x3`);
        await page.close();
      });
}
