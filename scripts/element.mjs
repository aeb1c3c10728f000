// `npm run element`: builds the npm package `hothouse-rl`, which contains the element `<hothouse-room>`, into target/hothouse-rl. The
// environment variable HOTHOUSE_PAGE is the address of the built page that the element uses by default. Without this variable, users of the
// package set `src`.
import { copyFileSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { npmPackages } from "./setup.mjs";
import { main, root, sh, step } from "./sh.mjs";

const SOURCE = "www/element";
const NAME = "hothouse-room";

/**
 * Returns the options of the bundle of the element's script. `page` is the default address of the page; an empty string means the folder of
 * the script.
 */
export const elementBundle = (outDir, page = "") => ({
  root,
  configFile: false,
  logLevel: "warn",
  publicDir: false,
  define: { __PAGE__: JSON.stringify(page) },
  build: { outDir, emptyOutDir: false, target: "es2022", lib: { entry: `${SOURCE}/${NAME}.ts`, formats: ["es"], fileName: NAME } },
});

/**
 * Returns the description of the package (`package.json`). In a workflow of GitHub, the description names the repository, because npm
 * compares the repository with the publisher.
 */
export function description({ version, license }, repository) {
  return {
    name: "hothouse-rl",
    version,
    description: "The custom element <hothouse-room>: a run of Hothouse, in which an agent learns, in any page",
    keywords: ["reinforcement-learning", "machine-learning", "custom-element", "web-component", "webassembly"],
    license,
    ...(repository && { repository: { type: "git", url: `git+https://github.com/${repository}.git` } }),
    type: "module",
    exports: { ".": { types: `./${NAME}.d.ts`, default: `./${NAME}.js` } },
    types: `./${NAME}.d.ts`,
    files: ["*.js", "*.d.ts", "LICENSE-*"],
    sideEffects: true,
  };
}

/** Builds the package and returns its folder. */
export async function element(folder = join(root, "target/hothouse-rl"), env = process.env) {
  await npmPackages();
  await step("npm package", async () => {
    rmSync(folder, { recursive: true, force: true });
    const { build } = await import("vite");
    await build(elementBundle(folder, env.HOTHOUSE_PAGE));
    await sh("npx", ["--no-install", "tsc", "-p", join(root, SOURCE), "--outDir", folder]);
    for (const name of ["LICENSE-MIT", "LICENSE-APACHE"]) copyFileSync(join(root, name), join(folder, name));
    copyFileSync(join(root, SOURCE, "README.md"), join(folder, "README.md"));
    const whole = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
    writeFileSync(join(folder, "package.json"), `${JSON.stringify(description(whole, env.GITHUB_REPOSITORY), null, 2)}\n`);
    return folder;
  });
  return folder;
}

await main(import.meta.url, () => element());
