// `npm run build`: builds the page into dist/, for any static host and any sub-path.
import { cpSync, existsSync, readFileSync, rmSync, writeFileSync, readdirSync } from "node:fs";
import { join, relative } from "node:path";
import { filesUnder, fingerprint, main, root, step, Trouble } from "./sh.mjs";
import { elementBundle } from "./element.mjs";
import { policyOf } from "./serve.mjs";
import { npmPackages } from "./setup.mjs";
import { target } from "./native.mjs";
import { flavours, MODULES, PAGE, TESTS, TILES, wasm } from "./wasm.mjs";

/**
 * Outputs of the build. `dist` is the folder of the page, and `of` has its modules. `stamp` is the path of a fingerprint of the sources
 * from which the page was built. The stamp is not in `dist`, because `dist` contains only public files.
 */
const PUBLIC = { dist: join(root, "dist"), stamp: join(root, "www/pkg/page-stamp"), of: PAGE };
/** The page for its tests, in which one module contains all rooms. */
export const TESTED = { dist: join(target, "test-page"), stamp: join(target, "test-page-stamp"), of: TESTS };

/**
 * Options for the bundle of `embed.html`. The bundle shares no files with the bundle of `index.html`, because sharing would split the code
 * into more and smaller files, which makes both bundles larger.
 */
const frame = (outDir) => ({
  root,
  mode: "frame",
  logLevel: "warn",
  publicDir: false,
  build: { outDir, emptyOutDir: false, assetsDir: "assets/embed", rollupOptions: { input: "embed.html" } },
});

/**
 * Builds the changed parts of the page. Returns `{ dist, module }`. `dist` is the output folder. `module(path)` builds the wasm module that
 * contains the requested file, unless the module is built already. `only` lists the modules that are built at once, by default all.
 */
export async function build({ only, output = PUBLIC } = {}) {
  const { dist, stamp, of } = output;
  await npmPackages();
  const modules = { ...(await wasm({ only, of })), ...(await wasm({ of: TILES })) };
  const places = Object.fromEntries(Object.entries(modules).map(([name, { hash }]) => [name, `wasm/${name}-${hash}`]));
  // A module that contains all rooms serves every request of the page.
  const [every] = of.names ?? [];
  const placeOf = (name) => places[TILES.names.includes(name) ? name : (every ?? name)];
  const entries = Object.fromEntries([...MODULES, ...TILES.names].map((name) => [name, `${placeOf(name)}/lab.js`]));
  const place = async (name) => {
    cpSync(modules[name].folder, join(dist, places[name]), { recursive: true, filter: (path) => !path.endsWith("stamp") });
    // The bundler never sees the modules' scripts, so they are minified here.
    const { minify } = await import("vite");
    for (const script of filesUnder(join(dist, places[name])).filter((file) => file.endsWith(".js"))) {
      const { code } = await minify(script, readFileSync(script, "utf8"), { module: true });
      writeFileSync(script, code);
    }
  };
  const bundled = async () => {
    // The page contains some files of the crates `worlds` and `tiles`, the gallery, the lessons and the documents, so the fingerprint
    // covers these folders too.
    const own = [
      "index.html",
      "embed.html",
      "package-lock.json",
      "tsconfig.json",
      "vite.config.mjs",
      "scripts/build.mjs",
      "scripts/docs.mjs",
      "scripts/documents.mjs",
      "scripts/element.mjs",
      "scripts/serve.mjs",
    ];
    const texts = [...own, "crates/worlds/src", "crates/tiles/src", "gallery", "docs", "www"];
    const others = ["www/pkg", "www/samples"].map((name) => join(root, name));
    const files = texts.flatMap((name) => filesUnder(join(root, name))).filter((file) => !others.some((other) => file.startsWith(other)));
    const wanted = fingerprint([JSON.stringify(entries)], files);
    const missing = Object.keys(modules).filter((name) => modules[name].built && !existsSync(join(dist, places[name])));
    // An unchanged page is not written again, because it may be open in a browser.
    if (existsSync(stamp) && readFileSync(stamp, "utf8") === wanted && existsSync(join(dist, "index.html"))) {
      for (const name of missing) await place(name);
      return missing.length ? `modules ${missing.join(" and ")} added` : "unchanged";
    }
    rmSync(stamp, { force: true });
    const { build: bundle } = await import("vite");
    process.env.HOTHOUSE_MODULES = JSON.stringify(entries);
    await bundle({ root, build: { outDir: dist, emptyOutDir: true } });
    await bundle(frame(dist));
    await bundle(elementBundle(dist));
    for (const name of Object.keys(modules)) if (modules[name].built) await place(name);
    writeServiceWorker(dist, modules, places);
    // The service worker does not cache the documents, so they are written after the lists of cached files.
    const { writeDocuments } = await import("./documents.mjs");
    writeDocuments(dist);
    writeFileSync(stamp, wanted);
    return `${relative(root, dist)}/`;
  };
  await step("page", bundled, { compiles: true });
  const begun = {};
  const module = (path) => {
    const name = Object.keys(places).find((name) => path.startsWith(`/${places[name]}/`) && !modules[name].built);
    begun[name] ??= name && later(name, modules[name].hash).then(() => place(name));
    return begun[name];
  };
  return { dist, module };
}

/**
 * Builds a module on its first request. The page addresses a module by the hash of its sources. The function therefore fails if the sources
 * have changed since the page was built.
 */
async function later(name, hash) {
  console.log(`\nA browser requests the module '${name}'. Building it now; the page waits.`);
  const modules = await wasm({ only: [name] });
  if (modules[name].hash !== hash)
    throw new Trouble("the sources have changed since the page was built", "stop npm start and run it again");
}

/** Names of script modules and typefaces that belong to rooms but do not have the name of a room. */
const LAZY = ["desk", "explanations", "templates", "STIXTwoMath"];

/**
 * Writes this build's hash, the page's policy and two lists of files into the service worker. The first list is cached immediately. It
 * contains the page's files and the module of the start page, but no files and modules of rooms and no trained agents. The second list is
 * cached later. It contains, for each flavour, the files and modules of all rooms, or null if a module is not built. Neither list contains
 * HTML files, source maps, or the files of `embed.html` and of the element.
 */
function writeServiceWorker(dist, modules, places) {
  const path = join(dist, "sw.js");
  const files = filesUnder(dist).map((file) => file.slice(dist.length + 1));
  const named = [
    ...readdirSync(join(root, "www/rooms")).map((name) => `assets/${name}-`),
    ...LAZY.map((name) => `assets/${name}-`),
    "trained/",
  ];
  const lazy = (file) => named.some((room) => file.startsWith(room));
  const apart = /^wasm\/|^assets\/embed\/|^(sw|hothouse-room)\.js$|\.html$|\.map$/;
  const start = TILES.names.map((name) => `${places[name]}/`);
  const isShell = (file) => start.some((place) => file.startsWith(place)) || (!apart.test(file) && !lazy(file));
  const shell = ["./", ...files.filter(isShell)];
  const own = files.filter((file) => lazy(file) && !file.endsWith(".map"));
  const rooms = Object.fromEntries(
    Object.keys(flavours).map((flavour) => {
      const names = Object.keys(modules).filter((name) => name.endsWith(`/${flavour}`) && !TILES.names.includes(name));
      const built = names.length > 0 && names.every((name) => modules[name].built);
      const all = built && names.flatMap((name) => files.filter((file) => file.startsWith(`${places[name]}/`)));
      return [flavour, all ? [...own, ...all] : null];
    }),
  );
  const text = readFileSync(path, "utf8");
  const written = text
    .replace('"__BUILD__"', JSON.stringify(fingerprint([], [dist])))
    .replace('["__SHELL__"]', JSON.stringify(shell))
    .replace('"__ROOMS__"', JSON.stringify(rooms))
    .replace('"__POLICY__"', JSON.stringify(policyOf(dist, "index.html")));
  writeFileSync(path, written);
}

await main(import.meta.url, () => build());
