// `npm run build`: the whole page in dist/, for any static host and any sub-path.
import { cpSync, existsSync, readFileSync, rmSync, writeFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { filesUnder, fingerprint, main, root, step, Trouble } from "./sh.mjs";
import { npmPackages } from "./setup.mjs";
import { flavours, wasm } from "./wasm.mjs";

const dist = join(root, "dist");
/** Of what dist/ was built; outside it, since all of dist/ is for visitors. */
const stamp = join(root, "www/pkg/page-stamp");

/**
 * Builds what changed; gives `{ dist, modules, module }`: the folder, where in it each wasm module is, and a function that
 * builds one that was left out by `only`, when a browser asks for a file of it.
 */
export async function build({ only } = {}) {
  await npmPackages();
  const modules = await wasm({ only });
  const places = Object.fromEntries(Object.entries(modules).map(([name, { hash }]) => [name, `wasm/${name}-${hash}`]));
  const entries = Object.fromEntries(Object.entries(places).map(([name, place]) => [name, `${place}/lab.js`]));
  const place = (name) =>
    cpSync(modules[name].folder, join(dist, places[name]), { recursive: true, filter: (path) => !path.endsWith("stamp") });
  await step("page", async () => {
    const texts = ["index.html", "package-lock.json", "tsconfig.json", "vite.config.mjs", "scripts/build.mjs", "www"];
    const files = texts.flatMap((name) => filesUnder(join(root, name))).filter((file) => !file.startsWith(join(root, "www/pkg")));
    const wanted = fingerprint([JSON.stringify(entries)], files);
    const missing = Object.keys(modules).filter((name) => modules[name].stands && !existsSync(join(dist, entries[name])));
    // What stands is left alone: somebody may be looking at it.
    if (existsSync(stamp) && readFileSync(stamp, "utf8") === wanted && existsSync(join(dist, "index.html"))) {
      missing.forEach(place);
      return missing.length ? `dist/, and there ${missing.join(" and ")}` : "unchanged";
    }
    rmSync(stamp, { force: true });
    const { build: bundle } = await import("vite");
    process.env.HOTHOUSE_MODULES = JSON.stringify(entries);
    await bundle({ root });
    for (const name of Object.keys(modules)) if (modules[name].stands) place(name);
    writeServiceWorker(modules, places);
    writeFileSync(stamp, wanted);
    return "dist/";
  });
  const begun = {};
  const module = (path) => {
    const name = Object.keys(places).find((name) => path.startsWith(`/${places[name]}/`) && !modules[name].stands);
    begun[name] ??= name && later(name, modules[name].hash).then(() => place(name));
    return begun[name];
  };
  return { dist, modules: entries, module };
}

/** A module that the page knows by its hash and that nobody needed until now. */
async function later(name, hash) {
  console.log(`\nA browser asks for the module '${name}', which is built now; the page waits for it.`);
  const modules = await wasm({ only: [name] });
  if (modules[name].hash !== hash) throw new Trouble("the sources have changed since the page was built", "end npm start and run it again");
}

/**
 * Gives the service worker its build's name and the files to have ready: at once all but the wasm modules and what is one room's; and
 * later,
 * by flavour, the modules and files of all rooms, where all are built.
 */
function writeServiceWorker(modules, places) {
  const path = join(dist, "sw.js");
  const files = filesUnder(dist).map((file) => file.slice(dist.length + 1));
  const named = readdirSync(join(root, "www/rooms")).map((name) => `assets/${name}-`);
  const lazy = (file) => named.some((room) => file.startsWith(room));
  const shell = ["./", ...files.filter((file) => !/^wasm\/|^sw\.js$|^index\.html$|\.map$/.test(file) && !lazy(file))];
  const own = files.filter((file) => lazy(file) && !file.endsWith(".map"));
  const rooms = Object.fromEntries(
    Object.keys(flavours).map((flavour) => {
      const names = Object.keys(modules).filter((name) => name.endsWith(`/${flavour}`));
      const all =
        names.every((name) => modules[name].stands) && names.flatMap((name) => files.filter((file) => file.startsWith(`${places[name]}/`)));
      return [flavour, all ? [...own, ...all] : null];
    }),
  );
  const text = readFileSync(path, "utf8");
  const written = text
    .replace('"__BUILD__"', JSON.stringify(fingerprint([], [dist])))
    .replace('["__SHELL__"]', JSON.stringify(shell))
    .replace('"__ROOMS__"', JSON.stringify(rooms));
  writeFileSync(path, written);
}

await main(import.meta.url, () => build());
