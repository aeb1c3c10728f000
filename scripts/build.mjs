// `npm run build`: the whole page in dist/, for any static host and any sub-path.
import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { filesUnder, fingerprint, main, root, sh, step } from "./sh.mjs";
import { npmPackages } from "./setup.mjs";
import { wasm } from "./wasm.mjs";

const dist = join(root, "dist");

/** Builds what changed; gives `{ dist, modules }`: the folder, and where in it each wasm module is. */
export async function build(choice) {
  await npmPackages();
  const modules = await wasm(choice);
  const entries = {};
  await step("page", async () => {
    const places = Object.fromEntries(Object.entries(modules).map(([name, { hash }]) => [name, `wasm/${name}-${hash}`]));
    for (const [name, place] of Object.entries(places)) entries[name] = `${place}/lab.js`;
    const { build: bundle } = await import("vite");
    process.env.HOTHOUSE_MODULES = JSON.stringify(entries);
    await bundle({ root });
    for (const [name, place] of Object.entries(places))
      cpSync(modules[name].folder, join(dist, place), { recursive: true, filter: (path) => !path.endsWith("stamp") });
    writeServiceWorker();
    return "dist/";
  });
  return { dist, modules: entries };
}

/** Gives the service worker its build's name and the files to have ready: all but the wasm modules. */
function writeServiceWorker() {
  const path = join(dist, "sw.js");
  const files = filesUnder(dist).map((file) => file.slice(dist.length + 1));
  const shell = ["./", ...files.filter((file) => !/^wasm\/|^sw\.js$|^index\.html$|\.map$/.test(file))];
  const text = readFileSync(path, "utf8");
  const written = text
    .replace('"__BUILD__"', JSON.stringify(fingerprint([], [dist])))
    .replace('["__SHELL__"]', JSON.stringify(shell));
  writeFileSync(path, written);
}

await main(import.meta.url, () => build());
