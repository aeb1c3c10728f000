// The page for a visitor: training without a click, keyboard access, both themes.
import assert from "node:assert/strict";
import { test } from "node:test";
import { reached } from "../../scripts/browser.mjs";
import { loadedBy } from "../../scripts/page.mjs";
import { inAll } from "../../scripts/tiers.mjs";
import { ahead, begun, dist, event, house, lab, named, until, visit, WAIT_MS } from "./fixture.mjs";
import { tellEvents } from "./messages.mjs";
import { replayed, replays } from "./replay.mjs";

const here = house();
replays(here);

test("a warm page trains without a click, from its cache, without errors in the console", async () => {
  const page = await visit(here);
  await event(page, "metrics");
  await page.evaluate(() => navigator.serviceWorker.ready.then(() => {})); // a run may begin before
  const again = await page.context().newPage();
  again.said = [];
  again.on("console", (message) => message.type() === "error" && again.said.push(message.text()));
  await again.addInitScript(reached, "metrics");
  await again.goto(`${here.server.url}#/control`);
  const ms = await again.evaluate(() => globalThis.reachedMs);
  console.log(`page.first_step_ms ${ms.toFixed(0)}`);
  const fetched = await again.evaluate(() =>
    performance
      .getEntriesByType("resource")
      .filter(({ name, workerStart }) => /assets|wasm/.test(name) && !workerStart)
      .map(({ name }) => name),
  );
  assert.deepEqual(fetched, [], "these files bypassed the service worker");
  assert.equal(await again.evaluate(() => hothouse.backend.module), "threads-relaxed");
  assert.deepEqual([...page.said, ...again.said], []);
  await page.context().close();
});

test("a requested test is refused if another run begins before its end", async () => {
  // The test of a cube agent visits all states, which takes many seconds.
  const page = await visit(here, { at: "#/cube" });
  await event(page, "metrics");
  const found = await page.evaluate(() => {
    const test = hothouse.test();
    hothouse.command({ kind: "reset", config: null });
    return test.then(
      () => "tested",
      (error) => error.message,
    );
  });
  assert.match(found, /Another run began before the test was complete/);
  await page.context().close();
});

/** Returns the compressed size of the files that a first visit to a server loads, in kB. */
async function sizeOf(server) {
  const context = await here.browser.newContext();
  context.setDefaultTimeout(WAIT_MS);
  const page = await context.newPage();
  const loaded = loadedBy(page, dist);
  await page.goto(`${server.url}#/control`);
  await lab(page);
  const kb = loaded();
  await context.close();
  return kb;
}

test("a first visit loads at most 160 kB without its module, compressed", async () => {
  const kb = await sizeOf(here.replay);
  assert.ok(kb > 100 && kb <= 160, `${kb} kB`);
});

inAll("a first visit loads at most 160 kB without its module, compressed", "a first visit loads at most 700 kB, compressed", async () => {
  const kb = await sizeOf(here.server);
  console.log(`page.first_load_kb ${kb.toFixed(1)}`);
  assert.ok(kb > 400 && kb <= 700, `${kb} kB`);
});

/** For `init`: counts the animations of the displayed value. A solved run starts one. */
const countAnimations = () => {
  const { animate } = Element.prototype;
  globalThis.celebrations = 0;
  Element.prototype.animate = function (...settings) {
    if (this.matches(".returns .number")) celebrations++;
    return animate.apply(this, settings);
  };
};

test("a solved run emphasises its value once, and never with reduced motion", async () => {
  const page = await replayed(here, { init: countAnimations, context: { viewport: { width: 1280, height: 800 } } });
  for (const [reducedMotion, times] of [
    ["no-preference", 1],
    ["reduce", 0],
  ]) {
    await page.emulateMedia({ reducedMotion });
    await page.evaluate(() => (globalThis.celebrations = 0));
    const solved = await ahead(page, "solved");
    // Passes all recorded iterations, which solve the run.
    await page.evaluate(() => {
      hothouse.command({ kind: "reset", config: null });
      for (let k = 0; k < 100; k++) hothouse.command({ kind: "step" });
    });
    await solved();
    assert.equal(await page.evaluate(async () => (await hothouse.shared()) && celebrations), times, reducedMotion);
  }
  await page.context().close();
});

test("one number of the latest test leads, with its name and one state", async () => {
  const page = await replayed(here);
  /** Waits until the number, its name, the values of the curve and the state have these texts. */
  const shows = (...texts) =>
    page.waitForFunction(
      (texts) =>
        [".lead-number .number", ".lead-number .small", ".latest", ".lead strong"].every((part, k) =>
          new RegExp(`^(${texts[k]})$`).test(document.querySelector(part).textContent),
        ),
      texts,
    );
  await page.evaluate(() => {
    hothouse.command({ kind: "pause" });
    hothouse.command({ kind: "reset", config: null });
  });
  await shows("No test yet", "test return", "training return .*", "Learning\\.");
  const tested = await ahead(page, "test");
  await page.evaluate(() => hothouse.command({ kind: "start" }));
  const { mean_return } = await tested();
  await page.evaluate(() => hothouse.command({ kind: "pause" }));
  await page.waitForFunction(
    (mean) => Math.abs(Number(document.querySelector(".lead-number .number").textContent) - mean) <= 0.05,
    mean_return,
  );
  await shows("[\\d.]+", "average of 100 test episodes", "training return [\\d.]+", "Learning.*|Solved.*");
  const standing = {
    kind: "standing",
    progress: await page.evaluate(() => hothouse.progress),
    state: "lost_again",
    since: await page.evaluate(() => hothouse.progress),
    name: "average of 100 test episodes",
    value: -9.35,
    number: "-9.35",
    words: "solved at 852 thousand steps, lost again at 1.2 million steps",
  };
  await tellEvents(page, standing);
  await shows("−9.35", standing.name, "training return [\\d.]+", "Solved at 852 thousand steps, lost again at 1.2 million steps\\.");
  await page.keyboard.press("t");
  await page.locator(".returns td", { hasText: "Lost again" }).waitFor();
  await page.context().close();
});

/** Runs in the page: begins a run with a config, which is paused at its solution. Resolves with the event of the solution. */
const solvedWith = (config) =>
  new Promise((resolve) => {
    let isNew;
    hothouse.onEvent((event) => {
      if (event.kind === "began" && isNew === undefined) isNew = true;
      if (!isNew || event.kind !== "solved") return;
      isNew = false;
      hothouse.command({ kind: "pause" });
      resolve({ event, room: hothouse.room });
    });
    hothouse.command({ kind: "reset", config });
  });

/** A run that is solved after 12 iterations. */
const SOLVES = { version: 2, room: "control", variant: "CartPole-v1", seed: 3, knobs: { envs: 64 } };
/** The same run with harmful live changes after its solution. The results of the tests in the iterations 28 to 76 are below 240. */
const BREAKS = { ...SOLVES, changes: Object.entries({ lr: 0.1, entropy: 0.2 }).map(([knob, value]) => ({ iteration: 13, knob, value })) };
const BROKEN = 28;

test("a run is solved in the published steps, and its headline shows state and latest test, also after a harmful change", async () => {
  const page = await visit(here, { at: "#/control?envs=64&seed=3&v=2" });
  const { event, room } = await (await begun(page, solvedWith, SOLVES))();
  const { progress } = named(event, room);
  assert.ok(progress.env_steps <= 2_000_000, `${progress.env_steps} steps`);
  /** Waits until the leading number satisfies a condition and the state has these words. */
  const says = (holds, words) =>
    until(
      page,
      `{
        const [number, state] = [".lead-number .number", ".lead strong"].map((part) => document.querySelector(part).textContent);
        number ${holds} && ${words}.test(state);
      }`,
    );
  await says(">= 475", /^Solved at [\d.]+ thousand steps\.$/);
  const broken = await ahead(page, "test", BROKEN);
  await page.evaluate((config) => {
    hothouse.setSpeed(20_000); // after the iteration 28, the page has two seconds for the pause
    for (const kind of ["start", "reset"]) hothouse.command({ kind, config });
  }, BREAKS);
  await broken();
  await page.evaluate(() => hothouse.command({ kind: "pause" }));
  await says("< 240", /^Solved at [\d.]+ thousand steps, lost again at [\d.]+ thousand steps\.$/);
  await page.context().close();
});

inAll(
  "a run is solved in the published steps, and its headline shows state and latest test, also after a harmful change",
  "with the default settings, 100 fresh episodes reach the published threshold within two million steps",
  async () => {
    const page = await visit(here, { at: "#/control?seed=3&v=2" });
    const config = { version: 2, room: "control", variant: "CartPole-v1", seed: 3, knobs: {} };
    const { event, room } = await (await begun(page, solvedWith, config))();
    const { progress } = named(event, room);
    assert.ok(progress.env_steps <= 2_000_000, `${progress.env_steps} steps`);
    await page.context().close();
  },
);

test("a note beside the curve's title names a long test, and nothing moves", async () => {
  const page = await replayed(here);
  const plot = () => page.locator(".returns .plot").boundingBox();
  const before = await plot();
  // A worker that tests sends nothing. The clock of the page is put forward, so that the page need not wait for the silence to be long.
  await page.evaluate(() => {
    const { worker } = hothouse;
    globalThis.restored = worker.onmessage;
    worker.onmessage = null;
    const now = performance.now.bind(performance);
    performance.now = () => now() + 5000;
  });
  await page.waitForFunction(() => document.querySelector(".returns .where").textContent === "Testing…");
  assert.deepEqual(await plot(), before);
  await page.evaluate(() => {
    hothouse.worker.onmessage = globalThis.restored;
    hothouse.command({ kind: "step" });
  });
  await page.waitForFunction(() => document.querySelector(".returns .where").textContent === "");
  await page.context().close();
});

inAll(
  "a note beside the curve's title names a long test, and nothing moves",
  "a long test of a run that trains is named beside the curve's title",
  async () => {
    const page = await visit(here, { at: "#/cube?v=2", cores: 2 });
    await event(page, "metrics");
    const plot = () => page.locator(".returns .plot").boundingBox();
    const before = await plot();
    const tested = await ahead(page, "test");
    await page.waitForFunction(() => document.querySelector(".returns .where").textContent === "Testing…");
    assert.deepEqual(await plot(), before);
    await tested();
    await page.waitForFunction(() => document.querySelector(".returns .where").textContent === "");
    await page.context().close();
  },
);

inAll("with reduced motion, pictures are drawn only twice a second", "the page keeps its frame rate during training", async () => {
  const page = await visit(here);
  await event(page, "metrics");
  const { frames, iterations, ms } = await page.evaluate(
    () =>
      new Promise((resolve) => {
        let iterations = 0;
        hothouse.onEvent((event) => (iterations += event.kind === "metrics"));
        const began = performance.now();
        let frames = 0;
        const tick = () =>
          ++frames < 100 || iterations < 10 ? requestAnimationFrame(tick) : resolve({ frames, iterations, ms: performance.now() - began });
        requestAnimationFrame(tick);
      }),
  );
  console.log(`page.frames_per_s ${((1000 * frames) / ms).toFixed(1)}, over ${iterations} iterations`);
  await page.context().close();
});

test("transport and knobs work by keyboard only, with a visible focus", async () => {
  const page = await replayed(here);
  const reached = [];
  for (let i = 0; i < 60; i++) {
    await page.keyboard.press("Tab");
    const focus = await page.evaluate(() => {
      const element = document.activeElement;
      if (!element || element === document.body) return null;
      const style = getComputedStyle(element);
      const label = getComputedStyle(element.nextElementSibling ?? element);
      const outlined = [style, label].some((s) => (s.outlineStyle !== "none" && s.outlineWidth !== "0px") || s.boxShadow !== "none");
      const name = element.getAttribute("aria-label") || element.labels?.[0]?.textContent || element.textContent || element.id;
      return { name: name.trim(), outlined, tag: element.tagName };
    });
    if (focus) reached.push(focus);
  }
  const names = reached.map((focus) => focus.name);
  for (const wanted of [/^Live/, /^Pause/, /^Step/, /^New run/, /^Max/, /^Learning rate/, /^Take the controls/])
    assert.ok(
      names.some((name) => wanted.test(name)),
      `no ${wanted} among: ${names.join(" | ")}`,
    );
  assert.deepEqual(
    reached.filter((focus) => !focus.outlined),
    [],
  );

  await page.evaluate(() => document.activeElement.blur());
  const paused = await ahead(page, "running");
  await page.keyboard.press("Space");
  assert.equal((await paused()).running, false);
  const stepped = await ahead(page, "metrics");
  await page.keyboard.press("s");
  await stepped();
  await page.context().close();
});

const LOOKS = 60;
/**
 * Returns how often two pictures change per second: the picture of the environments and the picture on the stage. Each picture is sampled
 * every 50 ms, at least until both have changed.
 */
const changes = (page) =>
  page.evaluate(async (looks) => {
    const canvases = [".environments canvas", ".stage-field canvas"].map((name) => document.querySelector(name));
    const look = (canvas) => new Uint32Array(canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data.buffer);
    let before = canvases.map(look);
    const counts = canvases.map(() => 0);
    const began = performance.now();
    for (let i = 0; i < looks || counts.includes(0); i++) {
      await new Promise((resolve) => setTimeout(resolve, 50));
      const now = canvases.map(look);
      now.forEach((pixels, k) => (counts[k] += pixels.some((pixel, i) => pixel !== before[k][i]) ? 1 : 0));
      before = now;
    }
    return counts.map((count) => (1000 * count) / (performance.now() - began));
  }, LOOKS);

/** For `init`: counts the drawings of each canvas. */
const countDrawings = () => {
  const { clearRect } = CanvasRenderingContext2D.prototype;
  globalThis.drawings = new Map();
  CanvasRenderingContext2D.prototype.clearRect = function (...area) {
    drawings.set(this.canvas, (drawings.get(this.canvas) ?? 0) + 1);
    return clearRect.apply(this, area);
  };
};

test("with reduced motion, pictures are drawn only twice a second", async () => {
  const page = await replayed(here, { init: countDrawings, context: { reducedMotion: "reduce" } });
  /** Returns the drawings a second of the environments and of the stage. */
  const rates = () =>
    page.evaluate(async () => {
      const began = performance.now();
      drawings.clear();
      await new Promise((resolve) => setTimeout(resolve, 1500));
      const counts = [".environments canvas", ".stage-field canvas"].map((name) => drawings.get(document.querySelector(name)) ?? 0);
      return counts.map((count) => (1000 * count) / (performance.now() - began));
    });
  assert.equal(await page.evaluate(() => document.getAnimations().filter(({ playState }) => playState === "running").length), 0);
  const still = await rates();
  await page.emulateMedia({ reducedMotion: "no-preference" });
  const free = await rates();
  // The limit of 3 drawings a second allows one more drawing in the interval.
  assert.ok(still.every((perS) => perS > 0 && perS < 3) && free.every((perS) => perS > 3), `${still} a second, ${free} with motion`);
  await page.context().close();
});

inAll(
  "with reduced motion, pictures are drawn only twice a second",
  "with reduced motion, pictures update only twice a second",
  async () => {
    const page = await visit(here, { context: { reducedMotion: "reduce" } });
    await event(page, "metrics");
    const moving = await page.evaluate(() => document.getAnimations().filter((animation) => animation.playState === "running").length);
    assert.equal(moving, 0);
    const still = await changes(page);
    await page.emulateMedia({ reducedMotion: "no-preference" });
    const free = await changes(page);
    // A busy machine draws less often, never more often. The limit of 2.5 updates per second allows one extra update in the interval.
    assert.ok(
      still.every((perS) => perS > 0 && perS < 2.5) && free.every((perS) => perS > 0),
      `${still} changes a second, ${free} with motion`,
    );
    await page.context().close();
  },
);

test("a selected speed limits the ticks per second", async () => {
  // This number of environments is so large that a slice contains only a few ticks.
  const ENVS = 1024;
  const page = await visit(here, { at: `#/control?envs=${ENVS}&v=2` });
  await event(page, "metrics"); // before the run begins there is no progress
  /** Returns the number of ticks per second at a speed, measured over `ticks` ticks. A tick is one step of every environment. */
  const rate = (speed, ticks) =>
    page.evaluate(
      async ([speed, envs, ticks]) => {
        const steps = () => hothouse.progress.counts[0];
        const wait = () => new Promise((resolve) => setTimeout(resolve, 20));
        hothouse.setSpeed(speed && speed * envs);
        // Waits for the end of the slice in progress.
        for (const before = steps(); steps() < before + envs; ) await wait();
        const [before, began] = [steps(), performance.now()];
        while (steps() < before + ticks * envs) await wait();
        return (1000 * (steps() - before)) / envs / (performance.now() - began);
      },
      [speed, ENVS, ticks],
    );
  const [limited, full] = [await rate(8, 20), await rate(null, 24)];
  // A busy machine may be slower than the selected speed, never faster. But the page can receive the first count up to half a second late,
  // and the worker makes up for the ticks of up to a tenth of a second.
  assert.ok(limited < 10.5 && full > 1.3 * limited, `${limited} ticks a second at 8, ${full} at full speed`);
  await page.context().close();
});
