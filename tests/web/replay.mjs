// Recordings of one run per room, and a server whose page replays them. A recording is made from the built page when it is missing or older
// than the page, and kept in target/replays.
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before } from "node:test";
import { launch, returning } from "../../scripts/browser.mjs";
import { target } from "../../scripts/native.mjs";
import { ROOMS } from "../../scripts/rooms.mjs";
import { serve } from "../../scripts/serve.mjs";
import { fingerprint, main, root, sideBySide, step } from "../../scripts/sh.mjs";
import { dist, everywhere, script, visit } from "./fixture.mjs";
import { addressOf } from "./rooms.mjs";

/** Number of tests after which a recording ends, and the time limit of each of its waits. */
const TESTS = 2;
const LIMIT_MS = 600_000;

const folder = join(target, "replays");
/** Returns the paths of the workers of the page and of its frame in other pages. */
const workerFiles = () =>
  ["assets", "assets/embed"].map((at) => `/${at}/${readdirSync(join(dist, at)).find((name) => /^worker-.*\.js$/.test(name))}`);
/** Path of a room's recording. Its name contains a hash of what the recording depends on. */
const pathOf = (room) =>
  join(
    folder,
    `${room}-${fingerprint(
      [readFileSync(join(dist, "index.html"), "utf8")],
      ["coding.ts", "recording.ts"].map((file) => join(root, "tests/web/replay", file)),
    )}.json`,
  );

/** Trains a run in the room until it has enough tests, opens every tab and section, and returns the recording as a text. */
async function recordingOf(browser, server, room) {
  const context = await browser.newContext();
  await context.addInitScript(returning);
  await context.addInitScript(`${await script("../tests/web/replay/recording")}; part.record();`);
  context.setDefaultTimeout(LIMIT_MS);
  const page = await context.newPage();
  await page.goto(server.url + addressOf(room));
  await page.waitForFunction(() => globalThis.hothouse && !document.querySelector(".unready"));
  await page.evaluate(
    ([tests, limit]) =>
      new Promise((resolve, reject) => {
        let count = 0;
        hothouse.onEvent(({ kind }) => kind === "test" && ++count === tests && resolve());
        setTimeout(() => reject(new Error(`only ${count} tests in ${limit / 1000} s`)), limit);
      }),
    [TESTS, LIMIT_MS],
  );
  await everywhere(page, () => page.waitForTimeout(300));
  const text = await page.evaluate(() => globalThis.recorded());
  await context.close();
  return text;
}

/** Makes the missing recordings. */
export async function record() {
  const missing = ROOMS.filter((room) => !existsSync(pathOf(room)));
  if (!missing.length) return;
  mkdirSync(folder, { recursive: true });
  const [browser, server] = [await launch([], { shell: true }), await serve(dist)];
  try {
    const one = async (room) => {
      const path = pathOf(room);
      writeFileSync(`${path}.${process.pid}`, await recordingOf(browser, server, room));
      renameSync(`${path}.${process.pid}`, path);
    };
    await sideBySide(2, missing, (room) => step(`recorded run: ${room}`, () => one(room)));
  } finally {
    await browser.close();
    await server.close();
  }
}

/** Serves the page with a worker that replays the recordings. Takes the settings of `serve`. */
export async function replaying(settings = {}) {
  await record();
  const worker = (await script("../tests/web/replay/worker")).replace(/\nglobalThis\.part = part;$/, "");
  const texts = ROOMS.map((room) => [`/replay/${room}.json`, readFileSync(pathOf(room), "utf8")]);
  const workers = workerFiles().map((path) => [path, worker]);
  return serve(dist, { ...settings, extra: { ...Object.fromEntries([...texts, ...workers]), ...settings.extra } });
}

/** Adds the server of the replays to the object of `house`, as `replay`. */
export function replays(here) {
  before(async () => (here.replay = await replaying()));
  after(() => here.replay?.close());
}

/**
 * Opens a page that replays the recorded run of its room. Takes the settings of `visit`. The page has no service worker, because that would
 * load the wasm module.
 */
export const replayed = (here, { context, ...settings } = {}) =>
  visit(here, { server: here.replay, context: { serviceWorkers: "block", ...context }, ...settings });

await main(import.meta.url, () => step("recordings of the rooms", record));
