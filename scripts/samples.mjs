// `npm run samples`: builds the page of samples (www/samples), serves it, and opens it in a browser. It needs no wasm modules. Beside the
// page is `own.html`, a sample of the editor for environments.
import { join } from "node:path";
import { npmPackages } from "./setup.mjs";
import { main, options, root, step } from "./sh.mjs";
import { chosenPort, present, serving } from "./start.mjs";

const PORT = 4183;
const SOURCE = join(root, "www/samples");
const OUTPUT = join(root, "target/samples");

/** Builds the page of samples and returns its folder. */
export async function samples() {
  await npmPackages();
  await step("samples", async () => {
    const { build } = await import("vite");
    const input = ["index.html", "own.html"].map((name) => join(SOURCE, name));
    const own = { outDir: OUTPUT, emptyOutDir: true, rollupOptions: { input } };
    await build({ root: SOURCE, configFile: join(root, "vite.config.mjs"), publicDir: false, build: own });
  });
  return OUTPUT;
}

await main(import.meta.url, async () => {
  const given = options(serving(PORT));
  const port = chosenPort(given, PORT);
  await present("Samples", await samples(), given, { port });
});
