// GPU training in the page: choice of the device, training, moves between devices, and loss of the GPU. The adapter of the tier `--all` is
// SwiftShader, a software GPU, so the tests cover correctness and not speed. The other tests need no GPU.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { GPU_ARGS, launch } from "../../scripts/browser.mjs";
import { serve } from "../../scripts/serve.mjs";
import { ALL, inAll } from "../../scripts/tiers.mjs";
import {
  ahead,
  begun,
  dist,
  event,
  folder,
  hothouse,
  house,
  inWorkers,
  lab,
  named,
  notice,
  part,
  place,
  saved,
  visit,
  WAIT_MS,
} from "./fixture.mjs";
import { tellEvents, watched } from "./messages.mjs";
import { replaying } from "./replay.mjs";
import { accessible, fits } from "./rooms.mjs";

const here = house(ALL ? GPU_ARGS : []);
before(async () => (here.replay = await replaying()));
after(() => here.replay?.close());
/** Opens the section of the device in a page that replays a run. */
const replayed = (at = "") =>
  visit(here, { server: here.replay, at: `${at}#/control/settings/device`, init: watched, context: { serviceWorkers: "block" } });
/** Address of a run that is small enough for a software GPU and still learns. */
const SMALL = "#/control/settings/device?envs=256&rollout_steps=16&epochs=2&minibatches=4&seed=3&v=2";
const STEPS = 256 * 16;

/** Returns the device decision as soon as it satisfies a condition. The condition is passed to the page as text. */
const device = (page, condition = () => true) =>
  page.evaluate(`
    new Promise((resolve) => {
      const holds = ${condition};
      if (hothouse.device && holds(hothouse.device)) resolve(hothouse.device);
      hothouse.onEvent((event) => event.kind === "device" && holds(event) && resolve(event));
    })`);
const onGpu = (page) => device(page, (device) => device.on_gpu);
const onCpu = (page) => device(page, (device) => !device.on_gpu);
const choose = (page, name) => page.locator(".device").getByText(name, { exact: true }).click();

/** Returns the metrics of the next `many` iterations, in order. */
const iterations = async (page, many) => {
  const { all, room } = await page.evaluate(
    (many) =>
      new Promise((resolve) => {
        const all = [];
        hothouse.onEvent((event) => {
          if (event.kind === "metrics" && all.push(event) === many) resolve({ all, room: hothouse.room });
        });
      }),
    many,
  );
  return all.map((event) => named(event, room));
};
/** Listens for the next run that begins. The returned function awaits the metrics of its first `many` iterations. */
const firstIterations = async (page, many) => {
  const outcome = await begun(
    page,
    (many) =>
      new Promise((resolve) => {
        let all;
        hothouse.onEvent((event) => {
          if (event.kind === "began") all = [];
          if (event.kind === "metrics" && all?.push(event) === many) resolve({ all, room: hothouse.room });
        });
      }),
    many,
  );
  return async () => {
    const { all, room } = await outcome();
    return all.map((event) => named(event, room));
  };
};
/** Returns true if each iteration spent time on the GPU. */
const worked = (rows) => rows.every((row) => row.device > 0);

/** Checks that iterations are consecutive and complete. */
function unbroken(rows) {
  for (const [i, { progress }] of rows.entries()) {
    assert.equal(progress.iteration, rows[0].progress.iteration + i);
    assert.equal(progress.env_steps, progress.iteration * STEPS);
  }
}

test("the choice of the device is remembered, is no part of links, and is overridden by the address", async () => {
  const page = await replayed();
  const wish = async (checked) => {
    await page.getByRole("radio", { name: checked, exact: true, checked: true }).waitFor();
    return page.evaluate(() => hothouse.requestedDevice);
  };
  assert.equal(await wish("Automatic"), "auto");
  await choose(page, "GPU");
  const commands = await page.evaluate(() => sent.map(({ command }) => command).filter((command) => command?.kind === "device"));
  assert.deepEqual(commands, [{ kind: "device", wish: "gpu" }]);
  assert.ok(!/device=|gpu/.test(page.url()), page.url());
  await page.goto(`${here.replay.url}?device=cpu#/control/settings/device`);
  await lab(page);
  assert.equal(await wish("CPU"), "cpu");
  await page.goto(`${here.replay.url}?device=tpu&use=steam#/control/settings/device`);
  await lab(page);
  assert.equal(await wish("GPU"), "gpu");
  const why = (await page.evaluate(() => hothouse.backend.why)).join("\n");
  assert.match(why, /There is no device 'tpu'\. Devices: auto, cpu, gpu/);
  assert.match(why, /There is no module 'steam'\. Modules: auto, threads-relaxed/);
  await page.context().close();
});

test("the device switch works by keyboard, and the decision is shown and announced", async () => {
  const page = await replayed();
  const gpu = "Google SwiftShader (WebGPU)";
  const why = "Google SwiftShader is emulated on the CPU.";
  await tellEvents(page, { kind: "device", wish: "auto", on_gpu: false, gpu, rates: [2000, 1000], why });
  await page.locator(".device").getByText(`${why} Measured on this run: CPU 2`).waitFor();
  await page.locator(".badge").click();
  const dialog = page.getByRole("dialog");
  await dialog.getByText(`${gpu}, not in use`).waitFor();
  await dialog.getByText(why).waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("radio", { name: "Automatic", exact: true }).focus();
  for (const wish of ["cpu", "gpu"]) {
    await page.keyboard.press("ArrowRight");
    const command = await page.evaluate(() => sent.findLast(({ kind }) => kind === "command").command);
    assert.deepEqual(command, { kind: "device", wish });
  }
  await page.locator(".device").getByText("The GPU takes over with the next").waitFor();
  // A decision about an earlier choice is not shown.
  await tellEvents(page, { kind: "device", wish: "cpu", on_gpu: false, gpu, rates: null, why: "The CPU was chosen." });
  await page.locator(".device").getByText("The GPU takes over with the next").waitFor();
  await tellEvents(page, { kind: "device", wish: "gpu", on_gpu: true, gpu, rates: null, why: "The GPU was chosen." });
  await page.locator(".device").getByText("Training on Google SwiftShader. The GPU was chosen.").waitFor();
  assert.equal(await page.locator(".badge .long").textContent(), "GPU: Google SwiftShader");
  await page.locator("[aria-live], [role=status]").filter({ hasText: "Training on Google SwiftShader" }).first().waitFor();
  await tellEvents(page, { kind: "device", wish: "gpu", on_gpu: false, gpu, rates: null, why: "The GPU was lost." });
  await page.getByRole("button", { name: "Try the GPU again" }).click();
  await page.locator(".device").getByText("The GPU takes over with the next").waitFor();
  assert.deepEqual(page.said, []);
  await page.context().close();
});

test("a browser without a GPU states the reason", async () => {
  const { GpuOpener } = await part("run/gpu");
  const before = Object.getOwnPropertyDescriptor(globalThis, "navigator");
  const info = { vendor: "nvidia", architecture: "ampere" };
  for (const [gpu, isSecureContext, expected] of [
    [undefined, true, "this browser has no WebGPU"],
    [undefined, false, "WebGPU requires a page from https"],
    [{ requestAdapter: async () => null }, true, "this browser supports WebGPU, but offers no GPU to this page"],
    [{ requestAdapter: async () => ({}) }, true, "this browser's WebGPU is a draft version; update the browser"],
    [{ requestAdapter: async () => ({ info }) }, true, "NVIDIA ampere"],
  ]) {
    Object.defineProperty(globalThis, "navigator", { configurable: true, value: { gpu } });
    globalThis.isSecureContext = isSecureContext;
    const said = await new Promise((resolve, reject) => {
      const run = { wants_gpu: () => true, offer: resolve, offer_none: resolve };
      new GpuOpener(() => {}, reject).openIfWanted(run, { Graphics: { open: async (_, name) => name } });
    });
    assert.equal(said, expected);
  }
  delete globalThis.isSecureContext;
  if (before) Object.defineProperty(globalThis, "navigator", before);
  else delete globalThis.navigator;
});

inAll(
  "the device switch works by keyboard, and the decision is shown and announced",
  "a software adapter is named, and the automatic choice is the CPU",
  async () => {
    const page = await visit(here, { at: SMALL });
    const { on_gpu, wish, gpu, why } = await device(page);
    assert.deepEqual([on_gpu, wish], [false, "auto"]);
    assert.match(gpu, /SwiftShader/);
    assert.match(why, /SwiftShader.* is emulated on the CPU/);
    await notice(page, /^Training on the CPU. *$/);
    await page.locator(".badge").click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText(/SwiftShader.*, not in use/).waitFor();
    await dialog.getByText(/emulated on the CPU/).waitFor();
    assert.deepEqual(page.said, []);
    await page.context().close();
  },
);

inAll(
  "frames_and_metrics_of_offloaded_training_are_shown",
  "a selected GPU trains from the first step, and all pictures stay live",
  async () => {
    const page = await visit(here, { at: SMALL });
    await event(page, "metrics");
    await choose(page, "GPU");
    assert.match((await onGpu(page)).why, /The GPU was chosen, although it is emulated/);
    await place(page, "Live");
    assert.match(await page.locator(".badge .long").textContent(), /^GPU: Google SwiftShader$/);
    const alive = page.evaluate(
      () =>
        new Promise((resolve) => {
          const seen = { steps: 0, stages: 0, numbers: true };
          const ask = hothouse.ask.bind(hothouse);
          hothouse.ask = async (question) => {
            const answer = await ask(question);
            if (question.ask === "touch") seen.stages++;
            if (question.ask === "frame" && answer.steps > 0) {
              const { buffer, byteOffset, length } = answer.observations;
              const observations = new Float32Array(buffer, byteOffset, length / 4);
              seen.steps += answer.steps;
              seen.numbers &&= answer.shown > 0 && observations.every(Number.isFinite) && observations.some((x) => x !== 0);
            }
            if (seen.steps > 50 && seen.stages > 20) resolve(seen);
            return answer;
          };
        }),
    );
    await page.evaluate(() => scrollTo(0, 0)); // the stage is visible at the top
    const began = await ahead(page, "began");
    const first = await firstIterations(page, 16);
    await page.getByRole("button", { name: "New run", exact: true }).click();
    assert.equal((await began()).progress.iteration, 0);
    const rows = await first();
    assert.equal(rows[0].progress.iteration, 1);
    unbroken(rows);
    assert.ok(worked(rows), "each iteration spent time on the GPU");
    const [early, late] = [rows[2], rows.at(-1)].map((row) => row.mean_return);
    assert.ok(late > 2 * early, `mean return ${early}, then ${late}`);
    assert.ok((await alive).numbers);
    const { policy } = await page.evaluate(() =>
      hothouse
        .ask({ ask: "picture", width: 8, height: 8, axes: hothouse.variant.about.axes.slice(0, 2) })
        .then(({ policy }) => ({ policy: policy.length })),
    );
    assert.equal(policy, 8 * 8 * 2 * 4);
    const episodes = await page.evaluate(async () => {
      const { values } = await hothouse.test();
      return values[hothouse.room.tests.findIndex(({ name }) => name === "episodes")];
    });
    assert.equal(episodes, 100);

    await page.getByRole("button", { name: "Pause" }).click();
    await page.getByRole("button", { name: "Play" }).waitFor();
    await page.evaluate(() => {
      globalThis.seen = 0;
      hothouse.onEvent((event) => event.kind === "metrics" && seen++);
    });
    await page.getByRole("button", { name: /^Step/ }).click();
    await page.waitForFunction(() => globalThis.seen === 1);
    await page.waitForTimeout(1000);
    assert.equal(await page.evaluate(() => globalThis.seen), 1, "one step and no more");
    const mark = await ahead(page, "mark");
    await page.evaluate(() => hothouse.command({ kind: "set_knob", name: "lr", value: 0.0005 }));
    await page.getByRole("button", { name: "Play" }).click();
    assert.equal((await mark()).to, 0.0005);
    assert.ok(worked((await iterations(page, 3)).slice(1)));
    assert.deepEqual(page.said, []);
    await page.context().close();
  },
);

inAll(
  "offloaded_save_resumes_on_the_processor",
  "a run moves to the GPU and back and is saved there, without skipped or repeated steps, in the page and natively",
  async () => {
    const page = await visit(here, { at: SMALL });
    const history = await begun(
      page,
      () =>
        new Promise((resolve) => {
          const all = [];
          let back = 0;
          hothouse.onEvent((event) => {
            if (event.kind !== "metrics" && event.kind !== "digest") return;
            all.push(event);
            if (hothouse.device?.wish === "cpu" && event.kind === "digest" && ++back === 2) resolve({ all, room: hothouse.room });
          });
        }),
    );
    await event(page, "metrics");
    await choose(page, "GPU");
    await onGpu(page);
    await iterations(page, 5);
    const bytes = await saved(page);
    await choose(page, "CPU");
    await onCpu(page);
    const { all, room } = await history();
    const rows = all.filter(({ kind }) => kind === "metrics").map((event) => named(event, room));
    unbroken(rows);
    const places = rows.map((row) => row.device > 0);
    const [first, last] = [places.indexOf(true), places.lastIndexOf(true)];
    assert.ok(first > 0 && last > first && last < rows.length - 1 && places.slice(first, last + 1).every(Boolean), String(places));
    assert.equal(all.findLast(({ kind }) => kind === "digest").arithmetic, "mixed");
    assert.ok(!(await page.evaluate(() => hothouse.shared().then(({ link }) => link))).includes("digest"));

    const [began, next] = await page.evaluate(
      (text) =>
        new Promise((resolve) => {
          const seen = [];
          hothouse.onEvent((event) => {
            if (event.kind === "began" || (event.kind === "metrics" && seen.length)) seen.push(event.progress);
            if (seen.length === 2) resolve(seen);
          });
          hothouse.command({ kind: "restore", bytes: Uint8Array.fromBase64(text) });
        }),
      bytes.toString("base64"),
    );
    assert.ok(began.iteration > first + 1);
    assert.deepEqual([next.iteration, next.counts[0]], [began.iteration + 1, began.counts[0] + STEPS]);
    await page.context().close();
    const path = join(folder(), "gpu.safetensors");
    writeFileSync(path, bytes);
    const lines = await hothouse(["resume", path, "--steps", String(began.counts[0] + 4 * STEPS), "--json"]);
    assert.equal(lines.map((line) => JSON.parse(line)).find((line) => line.kind === "began").progress.env_steps, began.counts[0]);
  },
);

inAll(
  "lost_machine_loses_no_work",
  "after a lost GPU or one without memory, a notice appears, the CPU continues, and the GPU can be tried again",
  async () => {
    // This module has no threads, so the GPU's answers arrive by another path.
    const page = await visit(here, { at: `?device=gpu&use=simd128${SMALL}` });
    await onGpu(page);
    const rows = iterations(page, 20);
    await iterations(page, 2);
    await page.evaluate(() => hothouse.failGpu("lost"));
    await notice(page, /The GPU was lost \(.*\)\./);
    await notice(page, /Training continues on the CPU; choose the GPU again once it is back/);
    await onCpu(page);
    await page.getByRole("button", { name: "Try the GPU again" }).click();
    await onGpu(page);
    await iterations(page, 2);
    await page.evaluate(() => hothouse.failGpu("memory"));
    await notice(page, /The GPU is out of memory\./);
    await onCpu(page);
    unbroken(await rows);
    await page.getByRole("button", { name: "Try the GPU again" }).click();
    await onGpu(page);
    assert.ok(worked((await iterations(page, 2)).slice(1)));
    await page.context().close();
  },
);

inAll("device_faults_are_reported_as_reason", "with a too small buffer limit, a notice shows both sizes and the CPU trains", async () => {
  const page = await visit(here, { at: SMALL });
  await device(page);
  await page.evaluate(() => hothouse.failGpu(1 << 16));
  await choose(page, "GPU");
  await notice(page, /This run needs \d+ bytes in a buffer, but the GPU allows 65536\. Choose fewer environments/);
  assert.equal((await onCpu(page)).wish, "gpu");
  unbroken(await iterations(page, 5));
  await page.context().close();
});

inAll(
  "reset_and_restore_keep_the_wish_and_the_machine",
  "on the GPU the environment can be changed, also if the service worker isolates the page",
  async () => {
    const server = await serve(dist, { isolated: false });
    const page = await visit(here, { server, at: `?device=gpu${SMALL}`, started: false });
    await page.waitForFunction(() => crossOriginIsolated && globalThis.hothouse);
    await onGpu(page);
    for (const env of ["Pendulum-v1", "MountainCar-v0"]) {
      const began = await ahead(page, "began");
      await page.evaluate((env) => {
        const knobs = { envs: 64, rollout_steps: 8, epochs: 1, minibatches: 1 };
        hothouse.command({ kind: "reset", config: { version: 2, room: "control", variant: env, seed: 1, knobs } });
      }, env);
      assert.equal((await began()).config.variant, env);
      await onGpu(page);
      assert.ok(worked(await iterations(page, 1)), env);
    }
    // The first iteration compiles shaders and is long. A save during a long iteration shows a notice, which is allowed here.
    const notices = await page.locator(".notice").allTextContents();
    assert.deepEqual(
      notices.filter((text) => !text.includes("in progress is long")),
      [],
    );
    await page.context().close();
    await server.close();
  },
);

inAll(
  "the choice of the device is remembered, is no part of links, and is overridden by the address",
  "the device choice is remembered, is not part of links, and is overridden by the address",
  async () => {
    const page = await visit(here, { at: SMALL });
    await choose(page, "GPU");
    await onGpu(page);
    assert.ok(!/device|gpu/i.test(await page.evaluate(() => hothouse.shared().then(({ link }) => link))));
    await page.reload();
    await lab(page);
    assert.equal((await onGpu(page)).wish, "gpu");
    await page.goto(`${here.server.url}?device=cpu${SMALL}`);
    await lab(page);
    assert.equal((await device(page)).wish, "cpu");
    assert.ok(await page.getByRole("radio", { name: "CPU", exact: true }).isChecked());
    await page.goto(`${here.server.url}?device=tpu${SMALL}`);
    await lab(page);
    assert.match((await page.evaluate(() => hothouse.backend.why)).join("\n"), /There is no device 'tpu'\. Devices: auto, cpu, gpu/);
    await page.context().close();
  },
);

inAll(
  "the device switch works by keyboard, and the decision is shown and announced",
  "the device switch works by keyboard, and the device is announced",
  async () => {
    const page = await visit(here, { at: SMALL });
    await device(page);
    await page.getByRole("radio", { name: "Automatic", exact: true }).focus();
    await page.keyboard.press("ArrowRight");
    await onCpu(page);
    // Listens before it chooses the GPU, because a later announcement replaces the expected one.
    const said = await begun(
      page,
      () =>
        new Promise((resolve) => {
          const places = () => [...document.querySelectorAll("[aria-live], [role=status]")];
          const look = () => places().some(({ textContent }) => /Training on .*SwiftShader/.test(textContent)) && resolve();
          new MutationObserver(look).observe(document.body, { childList: true, subtree: true, characterData: true });
        }),
    );
    await page.keyboard.press("ArrowRight");
    assert.equal((await onGpu(page)).wish, "gpu");
    await said();
    await page.context().close();
  },
);

for (const [what, args, address, text] of [
  ["whose GPU is refused", [], (url) => url, /this browser supports WebGPU, but offers no GPU to this page/],
  [
    "on a page without https",
    ["--host-resolver-rules=MAP plain.test 127.0.0.1"],
    (url) => url.replace("127.0.0.1", "plain.test"),
    /WebGPU requires a page from https/,
  ],
])
  inAll(
    "a browser without a GPU states the reason",
    `a browser ${what} trains on the CPU with a reason, and selecting the GPU shows a notice`,
    async () => {
      const server = await serve(dist, { hosts: ["plain.test"] });
      const browser = await launch(args);
      const page = await browser.newPage();
      page.setDefaultTimeout(WAIT_MS);
      await page.goto(address(server.url) + SMALL);
      await lab(page);
      assert.match((await device(page)).why, text);
      await choose(page, "GPU");
      await notice(page, /Train on the CPU, or check the system's GPU driver/);
      unbroken(await iterations(page, 3));
      await browser.close();
      await server.close();
    },
  );

inAll("a browser without a GPU states the reason", "a browser without WebGPU does the same", async () => {
  const init = inWorkers(`Reflect.deleteProperty(WorkerNavigator.prototype, "gpu")`);
  const page = await visit(here, { at: SMALL, init, context: { bypassCSP: true } });
  assert.match((await device(page)).why, /this browser has no WebGPU/);
  unbroken(await iterations(page, 3));
  await page.context().close();
});

/** Returns the metrics of the next rounds of backgammon. Their iterations must be consecutive. */
async function rounds(page, many) {
  const rows = await iterations(page, many);
  for (const [i, { progress }] of rows.entries()) assert.equal(progress.iteration, rows[0].progress.iteration + i);
  return rows;
}
const FEW = { tables: 2, games: 4, batch: 16, evals: 8, round_batches: 20, minibatch: 32, most_updates: 2, replay: 1024, duel_pairs: 0 };
const PUBLISHED = `#/backgammon/settings/device?variant=published&${new URLSearchParams(FEW)}&v=2`;

// The software adapter takes one or two minutes to compile these kernels, so a single test covers this learner.
inAll(
  "offloaded_run_equals_processor_run_after_its_return",
  "backgammon's published learner trains on the GPU and continues on the CPU after a loss, also on a phone",
  async () => {
    const page = await visit(here, {
      at: `?device=gpu${PUBLISHED}`,
      context: { colorScheme: "dark", viewport: { width: 390, height: 844 } },
    });
    const { why, gpu } = await onGpu(page);
    assert.match(why, /GPU was chosen, although it is emulated/);
    assert.match(gpu, /SwiftShader/);
    assert.match(await page.locator(".badge .long").textContent(), /^GPU: Google SwiftShader$/);
    await page.locator(".device").getByText("Training on Google SwiftShader.", { exact: true }).waitFor();
    const digest = await ahead(page, "digest");
    // The worker answers while kernels are compiled.
    const { candidates } = await page.evaluate(() =>
      hothouse.ask({ ask: "analyse", request: { id: "4HPwATDgc/ABMA", dice: [3, 1], who: { kind: "now" }, evals: 20 } }),
    );
    assert.ok(candidates.length > 1);
    const rows = await rounds(page, 8);
    assert.ok(worked(rows), "each iteration spent time on the GPU");
    assert.ok(rows.every((row) => Number.isFinite(row.loss) && row.evals_per_s > 0));
    assert.ok(rows.at(-1).progress.updates > rows[0].progress.updates, "it trained on the GPU");
    assert.equal((await digest()).arithmetic, "mixed");
    assert.ok(!(await page.evaluate(() => hothouse.shared().then(({ link }) => link))).includes("digest"));

    const onward = rounds(page, 4);
    await page.evaluate(() => hothouse.failGpu("lost"));
    await notice(page, /The GPU was lost \(.*\)\./);
    await notice(page, /Training continues on the CPU; choose the GPU again once it is back/);
    await onCpu(page);
    await onward;
    await accessible(page, "body");
    await fits(page);
    await page.getByRole("button", { name: "Try the GPU again" }).waitFor();
    await page.context().close();
  },
);

inAll(
  "learner_without_offload_stays_on_the_processor_with_a_reason",
  "backgammon's strong learner stays on the CPU with a reason, and selecting the GPU shows a notice",
  async () => {
    const page = await visit(here, { at: "#/backgammon/settings/device?games=32&hidden=32&v=2" });
    const { on_gpu, wish, why } = await device(page);
    assert.deepEqual([on_gpu, wish], [false, "auto"]);
    await page.locator(".device").getByText(why).waitFor();
    await page.locator(".badge").click();
    await page.getByRole("dialog").getByText(why).waitFor();
    await page.keyboard.press("Escape");
    await choose(page, "GPU");
    await notice(page, /Choose another learner in this room, or train on the CPU/);
    assert.equal((await onCpu(page)).wish, "gpu");
    await rounds(page, 2);
    // Another learner starts a new run and keeps the choice of device.
    await page.evaluate(
      (knobs) => hothouse.command({ kind: "reset", config: { version: 2, room: "backgammon", variant: "published", seed: 1, knobs } }),
      FEW,
    );
    assert.equal((await onGpu(page)).wish, "gpu");
    assert.deepEqual(page.said, []);
    await page.context().close();
  },
);
