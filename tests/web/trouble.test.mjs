// Tests of failures: the page shows a message with a next step, and training continues where possible.
import assert from "node:assert/strict";
import { truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { ALL, inAll } from "../../scripts/tiers.mjs";
import {
  ahead,
  begun,
  event,
  everywhere,
  folder,
  hide,
  hothouse,
  house,
  inWorkers,
  lab,
  notice,
  part,
  place,
  restore,
  saved,
  script,
  scrolled,
  still,
  stored,
  until,
  visit,
  WAIT_MS,
} from "./fixture.mjs";
import { clocked, seconds, tellAutosave, watched } from "./messages.mjs";
import { replaying } from "./replay.mjs";

const here = house();
before(async () => (here.replay = await replaying()));
after(() => here.replay?.close());
/** Opens the page. Its service worker, which would cache the page's files, does not start. */
const opened = (settings) => visit(here, { context: { serviceWorkers: "block" }, ...settings });
/** Opens a page that replays a run. */
const replayed = (settings) => opened({ server: here.replay, ...settings });
/** For `init`: the worker receives neither requests for autosaves nor saves, so that only the test stores runs. */
const alone = `(${watched})(["autosave", "restore"]);`;
const SMALL = "#/control?envs=64&rollout_steps=16&v=2";

for (const [what, at, text] of [
  ["with a knob out of range", "#/control?lr=99&v=2", /out of range. Choose a number from 0.00001 to 0.1/],
  ["from a later version", "#/control?v=999", /newer Hothouse/],
  ["of a format that is not known", "#/control?env=Acrobot-v1&v=1", /format 1, which this Hothouse does not know/],
  ["that is no link at all", "#/%%%?&&=", /link cannot be read|no room called/],
  ["with a knob that does not exist", "#/control?wings=2&v=2", /no knob called/],
  ["with a change that is badly written", "#/control?at=lr=0.001&v=2", /a change is written as 320:lr=0.0001/],
  ["with a change of a knob that is not live", "#/control?at=5:envs=64&v=2", /cannot change during a run/],
  [
    "with more changes than a link has",
    `#/control?v=2${"&at=5:lr=0.001".repeat(65)}`,
    /65 live changes of knobs cannot be replayed. Give at most 64/,
  ],
])
  inAll("invalid_links_are_rejected", `a link ${what} shows a notice and starts the default run`, async () => {
    const page = await visit(here, { at });
    await notice(page, text);
    await event(page, "metrics");
    await page.context().close();
  });

const MEMORY = /these settings need about (\d+) MB of memory, but 900 MB are available/i;
const TIME = /would block for seconds/;

/** Opens a link to a run that is too large. Checks the notice, and that the default run of the room trains. */
async function oversized(room, at, why) {
  const page = await opened({ at: `${at}&v=2`, started: false });
  await lab(page, room);
  const said = page.getByText(why).first();
  await said.waitFor({ timeout: WAIT_MS });
  // If the size were truncated to 32 bits, the reported number would be smaller.
  if (why === MEMORY) assert.ok(Number(why.exec(await said.textContent())[1]) > 4096, await said.textContent());
  await event(page, "metrics");
  assert.deepEqual(page.said, []);
  await page.context().close();
}

test("settings beyond 32 bits are refused, and the default run starts", () =>
  oversized("cube", "#/cube?variant=3x3x3&blocks=32&hidden=4096", MEMORY));

for (const [room, at, why] of [
  ["cube", "#/cube?variant=3x3x3&blocks=32&hidden=4096&batch=65536", TIME],
  ["cube", "#/cube?variant=2x2x2-dqn&blocks=32&hidden=4096-4096-4096", TIME],
  ["logic", "#/logic?variant=lizard&population=256&batch=256&steps=200", TIME],
  ["words", "#/words?width=2048&layers=32&heads=32&context=1024", MEMORY],
  ["words", "#/words?width=2048&layers=32&heads=32&context=1024&batch=4096&micro=4096", TIME],
])
  inAll("settings beyond 32 bits are refused, and the default run starts", `settings beyond 32 bits are refused: ${at}`, () =>
    oversized(room, at, why),
  );

const command = (page, kind) => page.evaluate((kind) => hothouse.command({ kind }), kind);

/**
 * Opens a small run, pauses it after many iterations, and stores its autosave. Another run of this page is paused at once, so its number of
 * iterations shows whether it begins with the autosave.
 */
async function autosaved(settings) {
  const page = await opened({ at: SMALL, paused: true, ...settings });
  await command(page, "start");
  await event(page, "metrics", 50);
  await still(page);
  await hide(page);
  await stored(page);
  return page;
}

/** Checks that the run began at an iteration, and that it trains. */
async function continues(page, iteration) {
  const now = await until(page, () => hothouse.progress?.iteration);
  assert.ok(now >= iteration, `iteration ${now}, the autosave had ${iteration}`);
  await command(page, "start");
  await event(page, "metrics", now + 1);
}

test("a worker ended by the browser is reported, and the run restarts from the last autosave", async () => {
  const page = await replayed({ init: `${alone} (${clocked})()` });
  await tellAutosave(page, [7, 7, 7]);
  await page.evaluate(() => hothouse.worker.terminate());
  await seconds(page, 60); // the time is longer during a long request
  await notice(page, /has not answered for \d+ s/);
  await page.getByRole("button", { name: "Restart from the last autosave" }).click();
  const { checkpoint } = await until(page, () => sent.filter(({ kind }) => kind === "open")[1]);
  assert.deepEqual(Object.values(checkpoint), [7, 7, 7]);
  assert.equal(await page.getByText(/has not answered/).count(), 0);
  await page.context().close();
});

inAll(
  "a worker ended by the browser is reported, and the run restarts from the last autosave",
  "after the end of a worker the run continues from the last autosave",
  async () => {
    const page = await autosaved({ init: clocked });
    const { iteration } = await page.evaluate(() => hothouse.progress);
    await page.evaluate(() => hothouse.worker.terminate());
    await seconds(page, 60); // the time is longer during a long request
    await notice(page, /has not answered for \d+ s/);
    await page.evaluate(() => (globalThis.hothouse = undefined));
    await page.getByRole("button", { name: "Restart from the last autosave" }).click();
    await lab(page);
    await continues(page, iteration);
    assert.equal(await page.getByText(/has not answered/).count(), 0);
    await page.context().close();
  },
);

test("the notice about a silent worker disappears when it answers", async () => {
  const page = await replayed({ init: clocked });
  await page.evaluate(() => {
    // The heartbeats of a busy worker wait.
    const { worker } = hothouse;
    const waiting = [];
    const { postMessage } = Worker.prototype;
    worker.postMessage = (...message) => waiting.push(message);
    globalThis.wake = () => {
      worker.postMessage = postMessage;
      for (const message of waiting) worker.postMessage(...message);
    };
  });
  await seconds(page, 5);
  const said = page.getByText(/has not answered for \d+ s/);
  assert.equal(await said.count(), 0);
  await seconds(page, 60);
  await said.waitFor();
  await page.evaluate(() => wake());
  await said.waitFor({ state: "detached" });
  await page.context().close();
});

inAll(
  "the notice about a silent worker disappears when it answers",
  "the notice about a worker that is blocked disappears when it answers",
  async () => {
    // Blocks the worker until the test stores 1 in the array `gate`.
    const init = inWorkers(`addEventListener("message", (event) => {
      if (!(event.data instanceof Int32Array)) return;
      event.stopImmediatePropagation();
      Atomics.wait(event.data, 0, 0);
    })`);
    const page = await visit(here, { at: "?use=simd128#/control?envs=64&v=2", init, context: { bypassCSP: true } });
    await event(page, "metrics");
    await page.evaluate(() => hothouse.worker.postMessage((globalThis.gate = new Int32Array(new SharedArrayBuffer(4)))));
    const said = page.getByText(/has not answered for \d+ s/);
    await said.waitFor({ timeout: WAIT_MS });
    await page.evaluate(() => {
      Atomics.store(gate, 0, 1);
      Atomics.notify(gate, 0);
    });
    await said.waitFor({ state: "detached", timeout: WAIT_MS });
    await event(page, "metrics");
    await page.context().close();
  },
);

const lacks = {
  "service workers": () => Object.defineProperty(Navigator.prototype, "serviceWorker", { configurable: true, get: () => undefined }),
  "service workers that it may look at": () =>
    Object.defineProperty(Navigator.prototype, "serviceWorker", {
      configurable: true,
      get: () => {
        throw new DOMException("The context is sandboxed.", "SecurityError");
      },
    }),
  "a service worker that registers": () => (ServiceWorkerContainer.prototype.register = () => Promise.reject(new TypeError("no"))),
  "a locale": () => Object.defineProperty(Navigator.prototype, "language", { configurable: true, get: () => "en-US@posix" }),
  "contexts of canvases": () => (HTMLCanvasElement.prototype.getContext = () => null),
};
/** Keys of `lacks` whose features every room uses. */
const used = ["a locale", "contexts of canvases"];
/** Keys of `lacks` that a test of hosts covers too. */
const covered = ["service workers", "a service worker that registers"];
const COVER = "without headers and service workers, the page does not loop, has no threads, and gives the reason";
for (const [what, init] of Object.entries(lacks)) {
  // The tier `--all` trains in every room and opens every section.
  const isEvery = ALL && used.includes(what);
  const opens = async () => {
    const page = await opened({ init, server: ALL ? here.server : here.replay });
    const rooms = await page.evaluate(() => hothouse.rooms.map(({ id }) => id));
    for (const room of isEvery ? rooms : rooms.slice(0, 1)) {
      await page.locator(`#rooms a[href="#/${room}"]`).click();
      await lab(page, room);
      if (ALL) await event(page, "metrics");
      if (ALL) await everywhere(page, () => scrolled(page));
      // Waits until the worker has answered the questions of the last opened section. The room must not close earlier.
      await page.evaluate(() => hothouse.shared());
      assert.equal(
        (await page.getByText("This browser provides no canvas to draw on").count()) > 0,
        what === "contexts of canvases" && room === "control",
      );
    }
    assert.deepEqual(page.said, []);
    await page.context().close();
  };
  const name = `${isEvery ? "every room" : "the page"} opens in a browser without ${what}`;
  if (covered.includes(what)) inAll(COVER, name, opens);
  else test(name, opens);
}

/** Causes a panic and continues from the autosave. */
async function panics(inPool) {
  const page = await autosaved();
  const { iteration } = await page.evaluate(() => hothouse.progress);
  await page.evaluate(() => hothouse.command({ kind: "restore", bytes: new Uint8Array() }));
  await notice(page, /no Hothouse checkpoint/);
  await page.evaluate((inPool) => hothouse.panic(inPool), inPool);
  await notice(page, inPool ? /test panic in a pool thread/ : /test panic in the worker/);
  assert.equal(await page.getByText(/no Hothouse checkpoint/).count(), 0);
  await page.evaluate(() => (globalThis.hothouse = undefined));
  await page.getByRole("button", { name: "Continue from the last autosave" }).click();
  await lab(page);
  await continues(page, iteration);
  await page.context().close();
}

test("a panic on a pool thread shows its text and offers a restart from the autosave", () => panics(true));
inAll(
  "a panic on a pool thread shows its text and offers a restart from the autosave",
  "a panic in the worker shows its text and offers a restart from the autosave",
  () => panics(false),
);

test("of two tabs one stores the autosave, and the other shows a notice", async () => {
  const page = await replayed({ init: alone });
  const second = await page.context().newPage();
  // A tab waits two seconds for the other tab. Here this time is short.
  await second.addInitScript(() => {
    const plain = setTimeout;
    globalThis.setTimeout = (work, ms, ...rest) => plain(work, ms === 2000 ? 200 : ms, ...rest);
  });
  await second.goto(`${here.replay.url}#/control`);
  await lab(second);
  await notice(second, /open in another tab/);
  // The autosave of the second tab is not stored.
  for (const tab of [second, page]) await tellAutosave(tab, tab === page ? [1] : [2]);
  await stored(page);
  assert.deepEqual(await storedBytes(page), [[1]]);
  await page.context().close();
});

/** Returns the bytes of each stored run. */
const storedBytes = (page) =>
  page.evaluate(async () => {
    const request = indexedDB.open("hothouse", 1);
    await new Promise((resolve) => (request.onsuccess = resolve));
    const runs = request.result.transaction("runs").objectStore("runs").getAll();
    await new Promise((resolve) => (runs.onsuccess = resolve));
    request.result.close();
    return Promise.all(runs.result.map(async ({ bytes }) => [...new Uint8Array(await new Response(bytes).arrayBuffer())]));
  });

test("the runs of the last two visits are kept, and the page offers to continue them", async () => {
  const first = await replayed({ init: alone });
  let visited = 0;
  /** Makes a visit whose run has one byte. Returns the page and the texts of the offers to continue earlier runs. */
  const visitOf = async (page, byte) => {
    await place(page, "Share");
    const offers = await page.getByRole("button", { name: /^Continue (your last visit|the visit before)/ }).allTextContents();
    // The run is stored twice, because only the first autosave of a visit prunes old runs.
    for (const places of [1, 2]) {
      await tellAutosave(page, [byte]);
      const now = await stored(page, { after: visited, places });
      if (places === 2) visited = now;
    }
    return { page, offers };
  };
  const next = async (byte) => {
    const page = await first.context().newPage();
    await page.goto(`${here.replay.url}#/control`);
    await lab(page);
    return visitOf(page, byte);
  };
  const [last, before] = ["Continue your last visit", "Continue the visit before"];
  assert.deepEqual((await visitOf(first, 11)).offers, []);
  await first.close();
  const second = await next(12);
  assert.deepEqual(second.offers, [last]);
  await second.page.close();
  const { page, offers } = await next(13);
  assert.deepEqual(offers, [last, before]);
  assert.deepEqual([...new Set((await storedBytes(page)).flat())].sort(), [12, 13]);
  for (const [name, byte] of [
    [before, 11],
    [last, 12],
  ]) {
    await page.getByRole("button", { name }).click();
    await until(page, (byte) => sent.some(({ command }) => command?.kind === "restore" && command.bytes[0] === byte), byte);
  }
  await page.context().close();
});

inAll(
  "the runs of the last two visits are kept, and the page offers to continue them",
  "the runs of the last two visits are stored and continue",
  async () => {
    const context = await here.browser.newContext();
    context.setDefaultTimeout(WAIT_MS);
    let visit = 0;
    /** Makes a visit with one stored run. Returns the page and the texts of the offers to continue earlier runs. */
    const visitOf = async (seed) => {
      const page = await context.newPage();
      await page.goto(`${here.server.url}#/control?envs=64&seed=${seed}&v=2`);
      await lab(page);
      await event(page, "metrics");
      await place(page, "Share");
      await page.getByRole("button", { name: "Save run" }).waitFor();
      const offers = await page.getByRole("button", { name: /^Continue (your last visit|the visit before)/ }).allTextContents();
      // The run is stored twice, because only the first autosave of a visit prunes old runs.
      for (const places of [1, 2]) {
        await hide(page);
        const now = await stored(page, { after: visit, places });
        if (places === 2) visit = now;
      }
      return { page, offers };
    };
    const [last, before] = ["Continue your last visit", "Continue the visit before"];
    const first = await visitOf(11);
    assert.deepEqual(first.offers, []);
    await first.page.close();
    const second = await visitOf(12);
    assert.deepEqual(second.offers, [last]);
    await second.page.close();
    const { page, offers } = await visitOf(13);
    assert.deepEqual(offers, [last, before]);
    for (const [name, seed] of [
      [before, 11],
      [last, 12],
    ]) {
      const began = await begun(
        page,
        (seed) =>
          new Promise((resolve) => hothouse.onEvent((event) => event.kind === "began" && event.config.seed === seed && resolve(event))),
        seed,
      );
      await page.getByRole("button", { name }).click();
      assert.ok((await began()).progress.iteration >= 1);
    }
    await context.close();
  },
);

test("a closing tab writes two saves one after another, so that at most one is interrupted", async () => {
  const init = () => {
    globalThis.writes = { now: 0, most: 0, done: 0 };
    const { transaction } = IDBDatabase.prototype;
    IDBDatabase.prototype.transaction = function (stores, mode, options) {
      const made = transaction.call(this, stores, mode, options);
      if (this.name === "hothouse" && mode === "readwrite") {
        writes.most = Math.max(writes.most, ++writes.now);
        made.addEventListener("complete", () => (writes.now--, writes.done++));
      }
      return made;
    };
  };
  const page = await replayed({ init: `${alone} (${init})()` });
  await tellAutosave(page);
  await page.waitForFunction(() => writes.done >= 1);
  for (let closings = 0; closings < 5; closings++) {
    const done = await page.evaluate(() => {
      sent.length = 0;
      return writes.done;
    });
    await hide(page);
    await page.evaluate(() => dispatchEvent(new Event("pagehide")));
    assert.equal(await page.evaluate(() => sent.filter(({ kind }) => kind === "autosave").length), 2);
    await page.evaluate(() => {
      const { variant, worker } = hothouse;
      const data = { kind: "autosave", bytes: new Uint8Array(1e6), variant: variant.id, address: "" };
      for (const _ of [1, 2]) worker.onmessage({ data });
    });
    await page.waitForFunction((done) => writes.done >= done + 2, done);
  }
  assert.equal(await page.evaluate(() => writes.most), 1);
  await page.context().close();
});

test("a notice that informs disappears after a while, unless the pointer is over it; an error stays", async () => {
  const page = await here.browser.newPage();
  await page.setContent("<!doctype html><main></main>");
  // Collects the timers that remove notices after 30 s, so that the test decides when this time has passed.
  await page.evaluate(() => {
    const plain = setTimeout;
    globalThis.expiring = [];
    globalThis.setTimeout = (work, ms, ...rest) => (ms === 30_000 ? expiring.push(work) : plain(work, ms, ...rest));
  });
  await page.evaluate(await script("parts/notices"));
  await page.evaluate(() => {
    const notices = new part.Notices();
    document.querySelector("main").append(notices.element);
    notices.show("error", "The file is damaged", "Choose another file");
    notices.show("info", "A new run began", "The previous run is saved");
  });
  const informs = page.locator(".notice.info", { hasText: "A new run began" });
  await informs.hover();
  const pass = () => page.evaluate(() => expiring.splice(0).forEach((work) => work()));
  await pass();
  assert.ok(await informs.isVisible(), "the pointer is over it");
  await page.mouse.move(1, 599);
  await pass();
  await informs.waitFor({ state: "detached" });
  assert.equal(await page.locator(".notice.error").count(), 1);
  await page.close();
});

const storages = {
  refused: () => {
    indexedDB.open = () => {
      throw new DOMException("The user denied permission to access the database.", "SecurityError");
    };
  },
  // The page waits ten seconds for the storage. Here this time is short.
  silent: () => {
    indexedDB.open = () => ({});
    const plain = setTimeout;
    globalThis.setTimeout = (work, ms, ...rest) => plain(work, ms === 10_000 ? 100 : ms, ...rest);
  },
};
for (const [what, init] of Object.entries(storages))
  test(`with a ${what} storage a notice appears, and the page continues`, async () => {
    const page = await replayed({ init });
    await tellAutosave(page);
    await notice(page, /could not store the run/);
    await page.getByRole("button", { name: "Pause" }).click();
    await page.getByRole("button", { name: "Play" }).waitFor();
    await page.context().close();
  });

inAll("idle_time_is_not_training_time", "a suspended tab continues training, and its clock excludes the suspension", async () => {
  const init = () => {
    // Replaces the worker's clock with one that a message advances by ten minutes.
    const plain = Worker;
    globalThis.Worker = class extends plain {
      constructor(url, settings) {
        const script = `
          const now = performance.now.bind(performance);
          let slept = 0;
          performance.now = () => now() + slept;
          addEventListener("message", (event) => { if (event.data === "sleep") { slept += 600000; event.stopImmediatePropagation(); } });
          import(${JSON.stringify(String(url))}).then(() => postMessage({ kind: "loaded" }));`;
        super(URL.createObjectURL(new Blob([script], { type: "text/javascript" })), settings);
        globalThis.slumberer = this;
      }
      postMessage(message, transfer) {
        // The worker's module sets its message listener after it is loaded, so messages wait until then.
        this.loaded ??= new Promise((resolve) => this.addEventListener("message", resolve, { once: true }));
        this.loaded.then(() => super.postMessage(message, transfer));
      }
    };
  };
  const page = await visit(here, { init, at: "#/control?envs=64&v=2", context: { bypassCSP: true } });
  await event(page, "metrics");
  const longestS = await page.evaluate(
    () =>
      new Promise((resolve) => {
        const times = [];
        let slept = Infinity;
        hothouse.onEvent((event) => {
          if (event.kind !== "metrics") return;
          times.push(event.progress.train_s);
          if (times.length === 5) {
            slumberer.postMessage("sleep");
            // The worker answers in order, so this answer follows the sleep. A slow page may receive many older rows before this answer.
            void hothouse.shared().then(() => (slept = times.length));
          }
          if (times.length === slept + 95) resolve(Math.max(...times.slice(1).map((time, i) => time - times[i])));
        });
      }),
  );
  // The clock counts the jump of ten minutes as one second. The upper limit allows for delays of a busy machine.
  assert.ok(longestS >= 0.9 && longestS < 60, `${longestS} s for one iteration`);
  await page.context().close();
});

/** Returns the saved run with huge weights and a valid checksum. Training from these weights diverges. */
function wild(bytes) {
  const file = Buffer.from(bytes);
  const data = 8 + Number(file.readBigUInt64LE(0));
  const { __metadata__, ...tensors } = JSON.parse(file.subarray(8, data));
  const [, text, sum] = /^(.*),"checksum":"([0-9a-f]{16})"}$/s.exec(__metadata__.hothouse);
  let hash = 0xcbf29ce484222325n;
  const add = (bytes) => bytes.forEach((byte) => (hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n)));
  add(Buffer.from(text));
  const last = (name) => (name === "run.history" ? 1 : 0);
  for (const name of Object.keys(tensors).sort((a, b) => last(a) - last(b) || (a < b ? -1 : 1))) {
    const [from, to] = tensors[name].data_offsets.map((at) => data + at);
    if (name.endsWith(".weight") || name === "weights")
      for (let at = from; at < to; at += 4) file.writeFloatLE(at % 16 < 12 ? 3.4e38 : -3.4e38, at);
    add(Buffer.from(name));
    add(file.subarray(from, to));
  }
  file.write(file.toString("latin1", 0, data).replace(sum, hash.toString(16).padStart(16, "0")), "latin1");
  return file;
}

inAll(
  "diverged_run_stops_with_a_notice_and_is_never_saved",
  "a diverged run is not saved, a request is refused, and a new run can start",
  async () => {
    const page = await visit(here, { at: "#/control?envs=64&rollout_steps=16&v=2" });
    await event(page, "metrics");
    const buffer = wild(await saved(page));
    await page
      .locator("input[type=file]")
      .first()
      .setInputFiles({ name: "wild.safetensors", mimeType: "application/octet-stream", buffer });
    await notice(page, /Training diverged: the weights are no longer numbers\. Reset/);
    await hide(page); // requests an autosave, which the worker refuses
    for (const _ of [1, 2])
      assert.match(await page.evaluate(() => hothouse.save().then(String, (error) => error.message)), /diverged.*Reset/);
    const began = await ahead(page, "began");
    await page.getByRole("button", { name: "New run", exact: true }).click();
    await began();
    // The new run can be saved.
    await command(page, "start");
    await event(page, "metrics");
    assert.ok((await saved(page)).length > 1000);
    assert.deepEqual(page.said, []);
    await page.context().close();
  },
);

test("a save that a reset overtakes is requested again, and every requester receives the save", async () => {
  const { Saves } = await part("run/work");
  const [requests, replies] = [[], []];
  const saves = new Saves(
    () => requests.push("save"),
    ({ bytes, value, ...reply }) => replies.push({ ...reply, bytes: bytes ?? value }),
  );
  saves.request(1);
  saves.request("autosave");
  assert.equal(requests.length, 1);
  saves.retry(); // after a reset
  assert.equal(requests.length, 2);
  const bytes = new Uint8Array([7]);
  saves.deliver(bytes);
  assert.deepEqual(replies, [
    { kind: "answer", id: 1, bytes },
    { kind: "autosave", bytes },
  ]);
  saves.request(2);
  assert.equal(requests.length, 3);
  saves.refuse({ text: "The run has diverged", next_step: "Reset it" });
  assert.equal(replies.at(-1).kind, "refused");
  saves.retry();
  assert.equal(requests.length, 3, "no request waits any longer");
});

inAll(
  "a save that a reset overtakes is requested again, and every requester receives the save",
  "a save overtaken by a reset is still delivered, and so is the next",
  async () => {
    const page = await visit(here, { at: "#/control?envs=64&rollout_steps=16&seed=5&v=2" });
    const sizes = await page.evaluate(async () => {
      const first = hothouse.save();
      hothouse.command({ kind: "reset", config: null });
      return [(await first).length, (await hothouse.save()).length];
    });
    assert.ok(
      sizes.every((size) => size > 1000),
      String(sizes),
    );
    await page.context().close();
  },
);

inAll("save_at_any_slice_resumes_bit_for_bit", "a restored run continues bit for bit", async () => {
  // Iterations are short, so that a digest follows the save soon.
  const at = "#/control?envs=64&rollout_steps=16&seed=5&v=2";
  const page = await visit(here, { at });
  await event(page, "metrics", 5);
  const bytes = await saved(page);
  const restored = await ahead(page, "began");
  await restore(page, bytes);
  const { progress } = await restored();
  assert.ok(progress.iteration >= 5, `restored at ${progress.iteration}`);
  const digest = await event(page, "digest", progress.iteration + 1);
  await page.context().close();
  // Another run reaches the same iteration without a restoration. The page starts the run anew, because the run may already be beyond this
  // iteration.
  const other = await visit(here, { at });
  const known = await begun(
    other,
    (iteration) =>
      new Promise((resolve) => {
        hothouse.onEvent((event) => event.kind === "digest" && event.iteration === iteration && resolve(event));
        hothouse.command({ kind: "reset", config: null });
      }),
    digest.iteration,
  );
  assert.deepEqual(digest, await known());
  await other.context().close();
});

test("a run saved in the page continues natively, and the reverse; damaged files are refused, and the run continues", async () => {
  const dir = folder();
  const page = await opened({ at: "#/control?envs=64&rollout_steps=16&seed=5&v=2" });
  await event(page, "metrics", 3);
  const path = join(dir, "page.safetensors");
  const bytes = await saved(page);
  writeFileSync(path, bytes);
  await command(page, "pause");
  const lines = (await hothouse(["resume", path, "--steps", "60000", "--json", "--save", join(dir, "native.safetensors")])).map((line) =>
    JSON.parse(line),
  );
  const began = lines.find((line) => line.kind === "began");
  const summary = lines.at(-1);
  assert.equal(began.config.seed, 5);
  assert.ok(began.progress.iteration >= 3);
  assert.ok(summary.progress.env_steps >= 60000, JSON.stringify(summary));

  const restored = await ahead(page, "began");
  const input = page.locator("input[type=file]").first();
  await input.setInputFiles(join(dir, "native.safetensors"));

  assert.equal((await restored()).progress.env_steps, summary.progress.env_steps);
  await command(page, "start");
  const metrics = await event(page, "metrics");
  await command(page, "pause");
  assert.ok(
    metrics.progress.env_steps > summary.progress.env_steps,
    `${JSON.stringify(metrics.progress)} after ${JSON.stringify(summary)}`,
  );

  for (const [name, content, text] of [
    ["cut", bytes.subarray(0, bytes.length >> 1), /damaged or cut short/],
    ["foreign", Buffer.from("PK\x03\x04 not a run"), /no Hothouse checkpoint/],
    ["empty", Buffer.alloc(0), /no Hothouse checkpoint/],
  ]) {
    const damaged = join(dir, `${name}.safetensors`);
    writeFileSync(damaged, content);
    await input.setInputFiles(damaged);
    await notice(page, text);
    await page
      .getByRole("button", { name: /^Dismiss/ })
      .first()
      .click();
  }
  const large = join(dir, "model.safetensors");
  writeFileSync(large, "");
  truncateSync(large, 2 ** 30); // makes a sparse file
  await input.setInputFiles(large);
  // The page refuses the file before it reads it.
  await notice(page, /model\.safetensors has 1074 MB, too large to load.*hothouse resume/);
  await page.evaluate(() => {
    File.prototype.arrayBuffer = () => Promise.reject(new DOMException("It is gone", "NotFoundError"));
  });
  await input.setInputFiles({ name: "gone.safetensors", mimeType: "application/octet-stream", buffer: Buffer.from("x") });
  await notice(page, /The file gone\.safetensors could not be read \(It is gone\)\. Choose it again/);
  await command(page, "start");
  await event(page, "metrics");
  assert.deepEqual(page.said, []);
  await page.context().close();
});
