// What every room has to do in an engine beside Chromium: the same run as the native program, a file and a link that bring it back,
// a page that goes on when it is loaded again, somebody who plays, and pictures on which something is drawn and moves.
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { ROOMS as LISTED } from "../../scripts/rooms.mjs";
import { serve } from "../../scripts/serve.mjs";
import { root } from "../../scripts/sh.mjs";
import { pixels, tab } from "../../scripts/webdriver.mjs";
import { dist, hothouse } from "../web/fixture.mjs";

/** For a person to look at: what each engine showed. */
const PICTURES = join(process.env.CARGO_TARGET_DIR ?? join(root, "target"), "browsers");
const WAIT_MS = 120_000;
const SOON_MS = 20_000;
const SEED = 7;
/** Of a picture that is blank all pixels have one colour; and of a chart that has axes alone none has the colour of its curve. */
const LEAST = { colours: 4, share: 0.003, curve: 20 };
/** How far each channel of a curve's pixel may be from that colour. */
const NEAR = 16;
const ARROW_RIGHT = "\ue014";

const text = (page, css, words) =>
  page.until((css, words) => new RegExp(words).test(document.querySelector(css)?.textContent ?? ""), css, words);

/** Each room with a small run, where to look, which of these pictures move while it trains, and how it is played. */
export const ROOMS = {
  control: {
    variant: "CartPole-v1",
    knobs: { envs: 128, rollout_steps: 16, hidden: 32 },
    pictures: [".environments canvas", ".stage-field canvas", ".plane-field canvas", ".main-chart .plot"],
    moving: [".environments canvas", ".stage-field canvas", ".plane-field canvas", ".main-chart .plot"],
    async play(page) {
      await page.click("button", "Take the controls");
      await text(page, ".stage-hint", "Round 1");
      await page.hold(ARROW_RIGHT, () => page.until(() => document.querySelector(".rounds tbody tr")));
      const [yours, agents] = await page.run(() =>
        [...document.querySelectorAll(".rounds tbody tr td")].map((cell) => Number(cell.textContent)),
      );
      assert.ok(yours > 0 && yours < 60 && agents > 0, `${yours} steps with the key held, the agent's ${agents}`);
    },
  },
  backgammon: {
    variant: "strong",
    knobs: { games: 16, hidden: 16, batch: 128 },
    pictures: [".table .board", ".considered"],
    moving: [".table .board"],
    async play(page) {
      await page.click("label", "Play the agent");
      await page.click(".setup button", "New match");
      const offered = (name) =>
        page.run(
          (name) => [...document.querySelectorAll(".table-actions button")].some((one) => !one.hidden && one.textContent === name),
          name,
        );
      const judged = () => page.run(() => /ranks \d+ of|[Bb]est of|only move/.test(document.querySelector(".verdict").textContent));
      // Whoever begins: dice are thrown when it is the visitor's turn, and checkers moved while any can be.
      for (const began = performance.now(); !(await judged()); ) {
        assert.ok(performance.now() - began < WAIT_MS, "no move was judged");
        for (const name of ["Roll", "Confirm"])
          if (await offered(name))
            await page.run(
              (name) =>
                [...document.querySelectorAll(".table-actions button")].find((one) => !one.hidden && one.textContent === name)?.click(),
              name,
            );
        if (!(await page.run(() => !!document.querySelector(".table .board-places .open")))) continue;
        await page.click(".table .board-places .open");
        await page.click(".table .board-places .target");
      }
    },
  },
  cube: {
    variant: "2x2x2",
    knobs: { hidden: "32-16", batch: 64, walk: 8, updates: 4 },
    pictures: [".cube-picture canvas", ".depths .bars-field", ".net"],
    moving: [".cube-picture canvas"],
    async play(page) {
      await page.run(() => {
        const field = [...document.querySelectorAll("label")].find((one) => one.textContent.startsWith("Distance")).control;
        field.value = "4";
        field.dispatchEvent(new Event("input", { bubbles: true }));
      });
      await page.click("button", "Random position");
      await text(page, ".cube-status", "; 4 moves from solved");
      await page.click("button", "Solve it");
      await page.until(() => document.querySelector(".solution-moves li:last-child [aria-current]"));
      // The last layer turns for a moment.
      await page.until(() => document.querySelector(".cube-picture").dataset.facelets === "UUUURRRRFFFFDDDDLLLLBBBB");
    },
  },
  logic: {
    variant: "checkerboard",
    knobs: { population: 2, batch: 1, updates: 2 },
    pictures: [".grid-canvas canvas", ".gates-picture", ".main-chart .plot"],
    moving: [".grid-canvas canvas", ".main-chart .plot"],
    async play(page) {
      const cells = () => page.run(() => document.querySelector(".grid-canvas canvas").toDataURL());
      await page.run(async () => {
        document.querySelector(".grid-player button").click();
        // A step that was under way is answered before this question.
        await hothouse.ask({ ask: "automaton" });
        for (let frame = 0; frame < 2; frame++) await new Promise(requestAnimationFrame);
      });
      const step = await page.run(() => document.querySelector(".grid-pane").dataset.step);
      const whole = await cells();
      await page.pull(".grid-canvas canvas", [0.3, 0.3], [0.5, 0.5], [0.7, 0.5]);
      await page.until((whole) => document.querySelector(".grid-canvas canvas").toDataURL() !== whole, whole);
      // What the hand did, and no step of the automaton.
      assert.equal(await page.run(() => document.querySelector(".grid-pane").dataset.step), step);
      await page.run(() => document.querySelector(".grid-player button").click());
      await page.until((step) => document.querySelector(".grid-pane").dataset.step !== step, step);
    },
  },
  words: {
    variant: "char",
    knobs: { width: 32, layers: 2, heads: 2, context: 32, batch: 4, micro: 2, steps: 2, characters: 60000, sample: 40 },
    pictures: [".paper", ".samples-list", ".main-chart .plot"],
    moving: [".samples-list", ".main-chart .plot"],
    async play(page) {
      await page.until(() => document.querySelector(".reading textarea:not([disabled])"));
      await page.click(".writing button", "Write");
      await text(page, ".writing", "\\d+ tokens, .* Length limit reached\\.");
      assert.ok((await page.run(() => document.querySelector(".output .tokens").textContent)).length > 20);
    },
  },
};

/** The digest of the native program at an iteration, and its arithmetic. */
async function native(room, { variant, knobs }, digest, count) {
  const set = Object.entries(knobs).flatMap(([name, value]) => ["--set", `${name}=${value}`]);
  const isa = digest.arithmetic === "unfused" ? ["--isa", "portable"] : [];
  const lines = await hothouse([
    "train",
    room,
    "--variant",
    variant,
    "--seed",
    String(SEED),
    "--steps",
    String(count),
    "--device",
    "cpu",
    "--json",
    ...isa,
    ...set,
  ]);
  const found = lines.map((line) => JSON.parse(line)).find(({ kind, iteration }) => kind === "digest" && iteration === digest.iteration);
  return found && { iteration: found.iteration, weights: found.weights, arithmetic: found.arithmetic };
}

/** Where the run of a checkpoint stands: what the page reads of its run's progress may be a little older than a save. */
function iterationOf(checkpoint) {
  const header = JSON.parse(checkpoint.subarray(8, 8 + Number(checkpoint.readBigUInt64LE())).toString());
  return JSON.parse(header.__metadata__.hothouse).progress.iteration;
}

/** Opens an address of a room, and waits until its run is in the page. */
async function visit(page, server, at) {
  await page.go("about:blank"); // so that an address that differs in its hash alone is loaded too
  await page.go(server.url + at);
  await enter(page, /#\/(\w+)/.exec(at)[1]);
}
async function enter(page, room) {
  await page.until((room) => window.hothouse?.room.id === room && document.querySelector(".transport"), room);
}

const isNear = (one, other) => [16, 8, 0].every((shift) => Math.abs(((one >> shift) & 255) - ((other >> shift) & 255)) <= NEAR);

/**
 * Looks at a part of the page: its pixels in sight, how many these are, how many colours they have, the share that has not the
 * commonest, and how many have the colour of a chart's curve.
 */
async function looked(page, part, name) {
  await page.find(part);
  const box = await page.run(async (part) => {
    for (let frame = 0; frame < 3; frame++) await new Promise(requestAnimationFrame);
    const { left, top, right, bottom } = document.querySelector(part).getBoundingClientRect();
    const accent = getComputedStyle(document.documentElement).getPropertyValue("--accent").trim();
    return { left, top, right, bottom, wide: innerWidth, accent };
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
  const accent = Number.parseInt(box.accent.slice(1), 16);
  let curve = 0;
  for (const [colour, count] of counts) if (isNear(colour, accent)) curve += count;
  return { seen, all, colours: counts.size, share: 1 - Math.max(0, ...counts.values()) / all, curve };
}

/**
 * Each part of the page shows something, soon: a grid may begin with nothing on it, and a chart until its first test. Gives the pixels of
 * each.
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
    const told =
      `${all} pixels in sight and ${colours} colours, ${(100 * share).toFixed(2)}% of it differ from the commonest, and ` +
      `${curve} pixels have the colour of a curve`;
    assert.ok(shows(found), `${name}: ${part} has ${told}`);
    pictures.set(part, seen);
  }
  return pictures;
}

/** Each of these parts becomes another picture than it was while the run trains. */
async function move(page, room, parts, pictures) {
  for (const [k, part] of parts.entries()) {
    const name = `${page.name}-${room}-moved-${k + 1}.png`;
    let was = pictures.get(part);
    for (const began = performance.now(); ; ) {
      const { seen } = await looked(page, part, name);
      const isAsLarge = seen.length === was.length;
      if (isAsLarge && seen.some((colour, at) => colour !== was[at])) break;
      if (!isAsLarge) was = seen;
      assert.ok(performance.now() - began < WAIT_MS, `${name}: ${part} shows what it showed ${WAIT_MS / 1000} s before`);
    }
  }
}

/**
 * The tests of an engine. `open` gives its session, `missing` says why there is none here; `module` is what it must train with, and
 * `rooms` those that are tested, all if not given.
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
    // A visitor who has been here before, whom no tour greets.
    await page.go(server.url);
    await page.run(() => localStorage.setItem("hothouse.tour", "seen"));
  });
  after(async () => {
    await page?.close();
    await server?.close();
  });

  test(`${title}: every room of the page is tested`, () => assert.deepEqual(Object.keys(ROOMS).sort(), [...LISTED].sort()));

  for (const room of rooms) {
    const run = ROOMS[room];
    const knobs = Object.entries(run.knobs).map(([name, value]) => `&${name}=${value}`);
    const at = `#/${room}?variant=${run.variant}&seed=${SEED}${knobs.join("")}&v=2`;

    test(`${title}, ${room}: its run is the native program's, and a link does it again`, { skip }, async () => {
      await visit(page, server, `?device=cpu${at}`);
      const inUse = await page.run(() => ({ ...hothouse.backend, why: hothouse.backend.why.join(" ") }));
      assert.equal(inUse.module, module, inUse.why);
      // A module with threads has two or more, where there are as many cores; the other has one.
      const hasThreads = module.startsWith("threads");
      const { threads } = inUse;
      assert.ok(hasThreads ? threads >= Math.min(2, availableParallelism()) : threads === 1, `${threads} threads: ${inUse.why}`);
      const badge = await page.until(() => document.querySelector(".badge .long")?.textContent);
      assert.ok(badge === (threads === 1 ? "CPU, 1 thread" : `CPU, ${threads} threads`), badge);
      const { digest, count, link } = await page.run(
        () =>
          new Promise((resolve) =>
            hothouse.onEvent(async (event) => {
              if (event.kind !== "digest") return;
              hothouse.command({ kind: "pause" });
              const { link } = await hothouse.shared();
              const { iteration, weights, arithmetic } = event;
              resolve({ digest: { iteration, weights, arithmetic }, count: hothouse.progress.counts[0], link });
            }),
          ),
      );
      assert.deepEqual(await native(room, run, digest, count), digest);
      await visit(page, server, `?device=cpu${link.slice(link.indexOf("#"))}`);
      await page.until(() => /Reproduced: after \d+ \w+ the weights are those of the link/.test(document.body.textContent));
    });

    test(`${title}, ${room}: a file and a page that is loaded again go on with the run`, { skip }, async () => {
      await visit(page, server, `?device=cpu${at}`);
      const bytes = await page.run(async () => {
        await new Promise((resolve) => hothouse.onEvent((event) => event.kind === "metrics" && event.progress.iteration >= 3 && resolve()));
        hothouse.command({ kind: "pause" });
        const bytes = await hothouse.save();
        let text = "";
        for (let from = 0; from < bytes.length; from += 4096) text += String.fromCharCode(...bytes.subarray(from, from + 4096));
        return btoa(text);
      });
      const file = join(mkdtempSync(join(tmpdir(), "hothouse-browsers-")), "run.safetensors");
      writeFileSync(file, Buffer.from(bytes, "base64"));
      const iteration = iterationOf(readFileSync(file));
      assert.ok(iteration >= 3, `saved at ${iteration}`);
      // The native program reads it, and so does the page, in place of another run.
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
        const { store } = hothouse;
        const stored = new Promise((resolve) => (hothouse.store = (run) => store.call(hothouse, run).then(resolve)));
        Object.defineProperty(document, "hidden", { configurable: true, get: () => true });
        document.dispatchEvent(new Event("visibilitychange"));
        delete document.hidden;
        await stored;
        // A reload opens the run of the address, which follows the run with a delay.
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

    test(`${title}, ${room}: it is played, and its pictures show something`, { skip }, async () => {
      await visit(page, server, `?device=cpu${at}`);
      await page.run(() => {
        window.faults = [];
        addEventListener("error", ({ message }) => window.faults.push(message));
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
