// Tests of every room in an engine besides Chromium: a run has its golden digest; file, link and reload restore a run; a visitor can play;
// pictures are drawn and move.
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { ROOMS as LISTED } from "../../scripts/rooms.mjs";
import { returning } from "../../scripts/browser.mjs";
import { goldenRuns, ITERATION } from "../../scripts/digests.mjs";
import { serve } from "../../scripts/serve.mjs";
import { root } from "../../scripts/sh.mjs";
import { pixels, tab } from "../../scripts/webdriver.mjs";
import { dist, hothouse } from "../web/fixture.mjs";

/** Folder of screenshots for manual inspection. */
const PICTURES = join(process.env.CARGO_TARGET_DIR ?? join(root, "target"), "browsers");
const WAIT_MS = 120_000;
const SOON_MS = 60_000;
const SEED = 7;
/**
 * Minimum values of a part that shows a picture: number of colours, share of pixels outside the commonest colour, and number of pixels in
 * the curve's colour. A blank picture has one colour, and an empty chart has no curve.
 */
const LEAST = { colours: 4, share: 0.003, curve: 20 };
/** Maximum difference per channel between a pixel of a curve and the curve's colour. */
const NEAR = 16;
const ARROW_RIGHT = "\ue014";

const text = (page, css, words) =>
  page.until((css, words) => new RegExp(words).test(document.querySelector(css)?.textContent ?? ""), css, words);

/**
 * Test of each room: a small run, the selectors of its pictures (`pictures`), the selectors of the pictures that change during training
 * (`moving`), and a function that plays as a visitor (`play`).
 */
export const ROOMS = {
  control: {
    variant: "CartPole-v1",
    knobs: { envs: 128, rollout_steps: 16, hidden: 32 },
    pictures: [".environments canvas", ".stage-field canvas", ".returns .plot"],
    moving: [".environments canvas", ".stage-field canvas", ".returns .plot"],
    async play(page) {
      await page.click("button", "Take the controls");
      await text(page, ".stage-hint", "Round 1");
      let round;
      // Reads the result of the round before the key is released, because the release may begin the next round.
      await page.hold(ARROW_RIGHT, async () => {
        round = await page.until(() => {
          const cells = [...document.querySelectorAll(".past tr td")];
          return cells.length && cells.map((cell) => Number(cell.textContent));
        });
      });
      const [yours, agents] = round;
      assert.ok(yours > 0 && yours < 60 && agents > 0, `${yours} steps with the key held, the agent's ${agents}`);
      await page.click("button", "Give back (Esc)");
      await page.click("button", "Explore");
      const plane = [".plane-field canvas"];
      await move(page, "control-plane", plane, await inspect(page, "control-plane", plane));
      await page.click("button", "Live");
    },
  },
  backgammon: {
    variant: "strong",
    knobs: { games: 16, hidden: 16, batch: 128 },
    pictures: [".table .board", ".considered"],
    moving: [".table .board"],
    async play(page) {
      await page.click(".table-actions button", "Play the agent");
      /** Presses a button of the table if it is usable, and waits for the worker's answer, which hides or disables the button. */
      const press = async (name) => {
        const pressed = await page.run((name) => {
          const usable = (one) => !one.hidden && !one.disabled && one.textContent === name;
          const found = [...document.querySelectorAll(".table-actions button")].find(usable);
          found?.click();
          return !!found;
        }, name);
        const isAnswered = (name) =>
          [...document.querySelectorAll(".table-actions button")].some((one) => one.textContent === name && (one.hidden || one.disabled));
        if (pressed) await page.until(isAnswered, name);
      };
      const judged = () => page.run(() => /ranks \d+ of|[Bb]est of|only move/.test(document.querySelector(".verdict").textContent));
      // The agent or the visitor may have the first turn.
      for (const began = performance.now(); !(await judged()); ) {
        assert.ok(performance.now() - began < WAIT_MS, "no move was judged");
        for (const name of ["Roll", "Confirm"]) await press(name);
        if (!(await page.run(() => !!document.querySelector(".table .board-places .open")))) continue;
        await page.click(".table .board-places .open");
        await page.click(".table .board-places .target");
      }
    },
  },
  cube: {
    variant: "2x2x2",
    knobs: { hidden: "32-16", batch: 64, walk: 8, updates: 4 },
    pictures: [".cube-picture canvas", ".depths .bars-field"],
    moving: [".cube-picture canvas"],
    async play(page) {
      await page.click("button", "Explore");
      await inspect(page, "cube-net", [".net"]);
      await page.click("button", "Live");
      await page.click("button", "More");
      await page.run(() => {
        const field = [...document.querySelectorAll("label")].find((one) => one.textContent.startsWith("Distance")).control;
        field.value = "4";
        field.dispatchEvent(new Event("input", { bubbles: true }));
      });
      await page.click("button", "Random position");
      await text(page, ".cube-status", "; 4 quarter turns from solved");
      await page.click("button", "Solve it");
      await page.until(() => document.querySelector(".solution-moves span:last-child.here:not(:first-child)"));
      // The list of moves reaches its end while the last layer of the cube is still turning.
      await page.until(() => document.querySelector(".cube-picture").dataset.facelets === "UUUURRRRFFFFDDDDLLLLBBBB");
    },
  },
  logic: {
    variant: "checkerboard",
    knobs: { population: 2, batch: 1, updates: 2 },
    pictures: [".grid-canvas canvas", ".gates-picture", ".returns .plot"],
    moving: [".grid-canvas canvas", ".returns .plot"],
    async play(page) {
      const cells = () => page.run(() => document.querySelector(".grid-canvas canvas").toDataURL());
      await page.run(async () => {
        document.querySelector(".play-grid").click();
        // The worker answers in order, so a step in progress is complete after this answer.
        await hothouse.ask({ ask: "automaton" });
        for (let frame = 0; frame < 2; frame++) await new Promise(requestAnimationFrame);
      });
      const step = await page.run(() => document.querySelector(".grid-pane").dataset.step);
      const whole = await cells();
      await page.pull(".grid-canvas canvas", [0.3, 0.3], [0.5, 0.5], [0.7, 0.5]);
      await page.until((whole) => document.querySelector(".grid-canvas canvas").toDataURL() !== whole, whole);
      // The automaton made no step, so the pointer changed the picture.
      assert.equal(await page.run(() => document.querySelector(".grid-pane").dataset.step), step);
      await page.run(() => document.querySelector(".play-grid").click());
      await page.until((step) => document.querySelector(".grid-pane").dataset.step !== step, step);
    },
  },
  words: {
    variant: "char",
    knobs: { width: 32, layers: 2, heads: 2, context: 32, batch: 4, micro: 2, steps: 2, characters: 60000, sample: 40 },
    pictures: [".sheet", ".text-stage .likely", ".returns .plot"],
    moving: [".sheet", ".text-stage .likely", ".returns .plot"],
    async play(page) {
      await page.click(".writing button", "Write");
      await text(page, ".text-stage .head", "\\d+ tokens, .* length limit");
      assert.ok((await page.run(() => document.querySelector(".sheet .tokens").textContent)).length > 40);
    },
  },
};

/** Returns the iteration of a checkpoint. The page's own progress may be slightly older than the checkpoint. */
function iterationOf(checkpoint) {
  const header = JSON.parse(checkpoint.subarray(8, 8 + Number(checkpoint.readBigUInt64LE())).toString());
  return JSON.parse(header.__metadata__.hothouse).progress.iteration;
}

/** Opens an address of a room and waits for its run. */
async function visit(page, server, at) {
  await page.go("about:blank"); // otherwise an address that differs only in its hash is not loaded
  await page.go(server.url + at);
  await enter(page, /#\/(\w+)/.exec(at)[1]);
}
async function enter(page, room) {
  try {
    await page.until((room) => window.hothouse?.room.id === room && !!document.querySelector(".transport"), room);
  } catch (error) {
    const seen = await page.run(() => `${document.readyState}, ${location.href}: ${document.body?.innerText.slice(0, 600)}`).catch(String);
    throw new Error(`${error.message}\n${seen}`);
  }
}

const isNear = (one, other) => [16, 8, 0].every((shift) => Math.abs(((one >> shift) & 255) - ((other >> shift) & 255)) <= NEAR);

/**
 * Returns the visible pixels of a part of the page (`seen`) and their number (`all`), the number of colours, the share of pixels outside
 * the commonest colour, and the number of pixels in the curve's colour.
 */
async function looked(page, part, name) {
  await page.find(part);
  const box = await page.run(async (part) => {
    for (let frame = 0; frame < 3; frame++) await new Promise(requestAnimationFrame);
    const { left, top, right, bottom } = document.querySelector(part).getBoundingClientRect();
    const training = getComputedStyle(document.documentElement).getPropertyValue("--training").trim();
    return { left, top, right, bottom, wide: innerWidth, training };
  }, part);
  const png = await page.picture();
  writeFileSync(join(PICTURES, name), png);
  const picture = pixels(png);
  const scale = picture.width / box.wide;
  const [left, top] = [box.left, box.top].map((edge) => Math.max(0, Math.ceil(edge * scale)));
  const [right, bottom] = [
    Math.min(picture.width, Math.floor(box.right * scale)),
    Math.min(picture.height, Math.floor(box.bottom * scale)),
  ];
  const [across, down] = [Math.max(0, right - left), Math.max(0, bottom - top)];
  const all = across * down;
  const seen = new Int32Array(all);
  const counts = new Map();
  for (let k = 0; k < all; k++) {
    const colour = picture.at(left + (k % across), top + Math.floor(k / across));
    seen[k] = colour;
    counts.set(colour, (counts.get(colour) ?? 0) + 1);
  }
  const training = Number.parseInt(box.training.slice(1), 16);
  let curve = 0;
  for (const [colour, count] of counts) if (isNear(colour, training)) curve += count;
  return { seen, all, colours: counts.size, share: 1 - Math.max(0, ...counts.values()) / all, curve };
}

/**
 * Waits until each part of the page shows a picture, and returns each part's pixels. A grid may be empty at first, and a chart is empty
 * until the first test.
 */
async function inspect(page, room, parts) {
  mkdirSync(PICTURES, { recursive: true });
  const pictures = new Map();
  for (const [k, part] of parts.entries()) {
    const name = `${page.name}-${room}-${k + 1}.png`;
    const isChart = part.endsWith(".plot");
    const patienceMs = isChart ? WAIT_MS : SOON_MS;
    const shows = ({ all, colours, share, curve }) =>
      all > 1000 && colours >= LEAST.colours && share >= LEAST.share && (!isChart || curve >= LEAST.curve);
    let found;
    for (const began = performance.now(); !found || (!shows(found) && performance.now() - began < patienceMs); )
      found = await looked(page, part, name);
    const { seen, all, colours, share, curve } = found;
    const contents =
      `${all} pixels in sight and ${colours} colours, ${(100 * share).toFixed(2)}% of it differ from the commonest, and ` +
      `${curve} pixels have the colour of a curve`;
    assert.ok(shows(found), `${name}: ${part} has ${contents}`);
    pictures.set(part, seen);
  }
  return pictures;
}

/** Waits until each part changes during training. */
async function move(page, room, parts, pictures) {
  for (const [k, part] of parts.entries()) {
    const name = `${page.name}-${room}-moved-${k + 1}.png`;
    let was = pictures.get(part);
    for (const began = performance.now(); ; ) {
      const { seen } = await looked(page, part, name);
      const isAsLarge = seen.length === was.length;
      if (isAsLarge && seen.some((colour, at) => colour !== was[at])) break;
      if (!isAsLarge) was = seen;
      assert.ok(performance.now() - began < WAIT_MS, `${name}: ${part} did not change within ${WAIT_MS / 1000} s`);
    }
  }
}

/**
 * Defines the tests of an engine. `open` starts a session. `missing` is the reason why the engine is not available, otherwise undefined.
 * `module` is the module that the page must load. `rooms` are the tested rooms (default: all).
 */
export function engine(title, { open, missing, module, rooms = Object.keys(ROOMS) }) {
  const skip = missing && `${title}: ${missing}`;
  let server;
  let page;
  before(async () => {
    if (missing) return;
    server = await serve(dist);
    page = await tab(await open(), WAIT_MS);
    console.log(`${title}: version ${page.version}`);
    await page.go(server.url);
    await page.run(returning);
  });
  after(async () => {
    await page?.close();
    await server?.close();
  });

  test(`${title}tests every room of the page`, () => assert.deepEqual(Object.keys(ROOMS).sort(), [...LISTED].sort()));

  for (const room of rooms) {
    const run = ROOMS[room];
    const knobs = Object.entries(run.knobs).map(([name, value]) => `&${name}=${value}`);
    const at = `?device=cpu#/${room}?variant=${run.variant}&seed=${SEED}${knobs.join("")}&v=2`;

    test(`${title}, ${room}: a run has its golden digest, and a link reproduces it`, { skip }, async () => {
      const golden = goldenRuns().find(({ config }) => config.room === room && config.variant === run.variant);
      await visit(page, server, at);
      const inUse = await page.run(() => ({ ...hothouse.backend, why: hothouse.backend.why.join(" ") }));
      assert.equal(inUse.module, module, inUse.why);
      // On a machine with two or more cores, a module with threads uses at least two threads. A module without threads uses one.
      const hasThreads = module.startsWith("threads");
      const { threads } = inUse;
      assert.ok(hasThreads ? threads >= Math.min(2, availableParallelism()) : threads === 1, `${threads} threads: ${inUse.why}`);
      const badge = await page.until(() => document.querySelector(".badge .long")?.textContent);
      assert.ok(badge === (threads === 1 ? "CPU, 1 thread" : `CPU, ${threads} threads`), badge);
      const { digest, link } = await page.run(
        (config) =>
          new Promise((resolve) => {
            let begun = false;
            hothouse.onEvent(async (event) => {
              begun ||= event.kind === "began";
              if (!begun || event.kind !== "digest") return;
              hothouse.command({ kind: "pause" });
              const { link } = await hothouse.shared();
              const { iteration, weights, arithmetic } = event;
              resolve({ digest: { iteration, weights, arithmetic }, link });
            });
            hothouse.command({ kind: "reset", config });
            hothouse.command({ kind: "start" });
          }),
        golden.config,
      );
      assert.deepEqual(digest, { iteration: ITERATION, weights: golden.weights[digest.arithmetic], arithmetic: digest.arithmetic });
      await visit(page, server, `?device=cpu${link.slice(link.indexOf("#"))}`);
      await page.until(() => /Reproduced: after \d+ \w+ the weights are those of the link/.test(document.body.textContent));
    });

    test(`${title}, ${room}: a file and a reload continue the run`, { skip }, async () => {
      await visit(page, server, at);
      const bytes = await page.run(async () => {
        const next = (holds) => new Promise((resolve) => hothouse.onEvent((event) => holds(event) && resolve()));
        await next(({ kind, progress }) => kind === "metrics" && progress.iteration >= 3);
        // Waits for the end of the iteration, because a save within a long iteration would contain a partial iteration. The native program
        // would complete this iteration and report a later number.
        let paused = false;
        const ended = next(({ kind, running }) => (paused ||= kind === "running" && !running) && kind === "metrics");
        hothouse.command({ kind: "step" });
        await ended;
        const bytes = await hothouse.save();
        let text = "";
        for (let from = 0; from < bytes.length; from += 4096) text += String.fromCharCode(...bytes.subarray(from, from + 4096));
        return btoa(text);
      });
      const file = join(mkdtempSync(join(tmpdir(), "hothouse-browsers-")), "run.safetensors");
      writeFileSync(file, Buffer.from(bytes, "base64"));
      const iteration = iterationOf(readFileSync(file));
      assert.ok(iteration >= 3, `saved at ${iteration}`);
      // The native program and the page both read the file.
      const [line] = (await hothouse(["resume", file, "--steps", "1", "--json"])).slice(-1);
      assert.equal(JSON.parse(line).progress.iteration, iteration, line);
      await page.run(() => hothouse.onEvent((event) => event.kind === "began" && (window.began = event.progress.iteration)));
      await page.click("button", "New run");
      await page.until(() => window.began === 0);
      await page.keys('input[type=file][accept=".safetensors"]', file);
      await page.until((iteration) => window.began === iteration, iteration);
      const kept = await page.run(async () => {
        hothouse.command({ kind: "start" });
        await new Promise((resolve) => hothouse.onEvent((event) => event.kind === "metrics" && resolve()));
        // The page stores nothing while the previous document holds the lock for autosaves.
        while (!hothouse.autosave.storing) await new Promise((resolve) => setTimeout(resolve, 20));
        const { store } = hothouse;
        const stored = new Promise((resolve) => (hothouse.store = (run) => store.call(hothouse, run).then(resolve)));
        Object.defineProperty(document, "hidden", { configurable: true, get: () => true });
        document.dispatchEvent(new Event("visibilitychange"));
        delete document.hidden;
        await stored;
        // A reload opens the run in the address, so the address must be up to date first.
        const { address } = await hothouse.shared();
        while (location.hash !== address) await new Promise((resolve) => setTimeout(resolve, 20));
        return hothouse.progress.iteration;
      });
      assert.ok(kept > iteration, `stored at ${kept}, after ${iteration}`);
      await page.reload();
      await enter(page, room);
      const after = await page.run(
        () => new Promise((resolve) => hothouse.onEvent((event) => event.kind === "metrics" && resolve(event.progress.iteration))),
      );
      assert.ok(after > iteration, `it began at ${after}, and was at ${iteration}`);
    });

    test(`${title}, ${room}: the room can be played, and its pictures are drawn`, { skip }, async () => {
      await visit(page, server, at);
      await page.run(() => {
        window.faults = [];
        // If a browser delivers a notification about a size one frame late, it reports an error. This error is no fault.
        addEventListener("error", ({ message }) => message.startsWith("ResizeObserver loop") || window.faults.push(message));
        addEventListener("unhandledrejection", ({ reason }) => window.faults.push(String(reason)));
        return new Promise((resolve) =>
          hothouse.onEvent((event) => event.kind === "metrics" && event.progress.iteration >= 5 && resolve()),
        );
      });
      const pictures = await inspect(page, room, run.pictures);
      await move(page, room, run.moving, pictures);
      await run.play(page);
      await inspect(page, `${room}-played`, run.pictures.slice(0, 1));
      assert.deepEqual(
        await page.run(() => [...window.faults, ...[...document.querySelectorAll(".crash")].map((one) => one.textContent)]),
        [],
      );
    });
  }
}
