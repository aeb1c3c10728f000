// Tests of hosts and browsers: no isolation headers, sub-paths, no network, old browsers. Also tests the command that serves the page.
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { closeSync, existsSync, ftruncateSync, mkdirSync, openSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer, request as ask } from "node:http";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { root } from "../../scripts/sh.mjs";
import { launch } from "../../scripts/browser.mjs";
import { policyOf, serve } from "../../scripts/serve.mjs";
import { ALL, inAll } from "../../scripts/tiers.mjs";
import { MODULES, wasm } from "../../scripts/wasm.mjs";
import {
  dist,
  event,
  everywhere,
  folder,
  house,
  inWorkers,
  lab,
  notice,
  part,
  place,
  scrolled,
  until,
  visit,
  WAIT_MS,
} from "./fixture.mjs";
import { addressOf } from "./rooms.mjs";
import { replaying } from "./replay.mjs";

const here = house();
before(async () => (here.replay = await replaying()));
after(() => here.replay?.close());
/**
 * Serves the page. The page of `npm test` has only modules with threads, so its runs are replayed here. In the tier `--all`, the runs
 * train.
 */
const served = (settings) => (ALL ? serve(dist, settings) : replaying(settings));
/** Checks in the tier `--all` that a run trains on one thread. */
async function trainsAlone(page) {
  if (!ALL) return;
  assert.equal((await backend(page)).threads, 1);
  await event(page, "metrics");
}

const SMALL = "#/control?envs=64&v=2";

/** Runs a script of the project. Returns its exit status and output. */
async function script([name, ...args], env = process.env) {
  const child = spawn("node", [join(root, "scripts", name), ...args], { cwd: root, env });
  let said = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (said += chunk));
  const status = await new Promise((resolve) => child.on("close", resolve));
  return { status, said };
}

const backend = (page) => page.evaluate(() => hothouse.backend);
/**
 * For `init`: counts the documents that the page loads. Playwright's events are not enough, because an event may arrive before a test
 * listens for it.
 */
const countLoads = () => {
  if (location.protocol !== "about:") sessionStorage.setItem("loads", Number(sessionStorage.getItem("loads")) + 1);
};
const loadsOf = (page) => page.evaluate(() => Number(sessionStorage.getItem("loads")));

/** Returns the result of `work` with other values of globals. */
function withGlobals(values, work) {
  const before = Object.keys(values).map((name) => [name, Object.getOwnPropertyDescriptor(globalThis, name)]);
  for (const [name, value] of Object.entries(values)) Object.defineProperty(globalThis, name, { configurable: true, value });
  try {
    return work();
  } finally {
    for (const [name, was] of before) was ? Object.defineProperty(globalThis, name, was) : Reflect.deleteProperty(globalThis, name);
  }
}

test("the page chooses the fastest module that the browser supports, and states the reasons", async () => {
  const { choose } = await part("run/features");
  const FUSED = Buffer.from([0xfd, 0x85, 0x02]);
  const wasm = (validate) => ({ WebAssembly: { Memory: WebAssembly.Memory, validate } });
  const noShared = class {
    port1 = {
      close() {},
      postMessage() {
        throw new Error("no shared memory");
      },
    };
  };
  for (const [features, use, candidates, why] of [
    [{}, "auto", ["threads-relaxed", "threads-simd128", "simd128"], /^$/],
    [{ crossOriginIsolated: false }, "auto", ["simd128"], /^No threads: this page is not cross-origin isolated\.$/],
    [{ MessageChannel: noShared }, "auto", ["simd128"], /^No threads: workers in this browser cannot share memory\.$/],
    [wasm((bytes) => !Buffer.from(bytes).includes(FUSED)), "auto", ["threads-simd128", "simd128"], /^No relaxed SIMD: /],
    [wasm(() => false), "auto", [], /^No SIMD: /],
    [{}, "simd128", ["simd128"], /^The module 'simd128' was requested\.$/],
    [{ crossOriginIsolated: false }, "threads-relaxed", ["simd128"], /was requested, but it cannot run here\.$/],
  ]) {
    const browser = { crossOriginIsolated: true, navigator: { hardwareConcurrency: 2 }, ...wasm(() => true), ...features };
    const choice = withGlobals(browser, () => choose(use));
    assert.deepEqual([choice.candidates, choice.threads], [candidates, 2]);
    assert.match(choice.why.join(" "), why);
  }
  // With more than four cores, one core is left to the page.
  for (const [cores, threads] of [
    [1, 1],
    [4, 4],
    [6, 5],
    [64, 8],
  ])
    assert.equal(
      withGlobals({ crossOriginIsolated: true, navigator: { hardwareConcurrency: cores } }, () => choose("auto")).threads,
      threads,
    );
});

test("without headers and service workers, the page does not loop, has no threads, and gives the reason", async () => {
  const server = await served({ isolated: false });
  const init = () =>
    Object.defineProperty(Navigator.prototype, "serviceWorker", {
      get: () => ({ register: () => Promise.reject(new Error("refused")), ready: new Promise(() => {}) }),
    });
  const page = await visit(here, { server, init: `(${countLoads})(); (${init})()` });
  const inUse = await backend(page);
  assert.equal(inUse.module, "simd128");
  assert.match(inUse.why.join("\n"), /No threads: this page is not cross-origin isolated/);
  await trainsAlone(page);
  assert.equal(await loadsOf(page), 1);
  await page.context().close();
  await server.close();
});

test("an ineffective service worker costs a single reload", async () => {
  const server = await served({ isolated: false, extra: { "/sw.js": "// adds no headers\n" } });
  const page = await visit(here, { server, started: false, init: countLoads });
  // The page reloads before it opens its run.
  await lab(page);
  const loads = await loadsOf(page);
  assert.ok(loads <= 2, `${loads} loads`);
  assert.equal((await backend(page)).module, "simd128");
  await page.context().close();
  await server.close();
});

test("without https there is no service worker and no threads, and the page opens", async () => {
  // Without https, browsers treat only loopback names as secure.
  const browser = await launch(["--host-resolver-rules=MAP plain.test 127.0.0.1"], { shell: true });
  const server = await served({ hosts: ["plain.test"] });
  const page = await browser.newPage();
  page.setDefaultTimeout(WAIT_MS);
  await page.goto(`http://plain.test:${server.port}/${SMALL}`);
  await lab(page);
  assert.equal(await page.evaluate(() => isSecureContext), false);
  assert.equal((await backend(page)).module, "simd128");
  await trainsAlone(page);
  await browser.close();
  await server.close();
});

/** Checks that the page's policy governs the training worker: a connection to anything but the page's own files is refused. */
async function checkWorker(page) {
  await until(page, () => globalThis.hothouse?.backend);
  const connected = await page.workers()[0].evaluate(() =>
    fetch("data:text/plain,away").then(
      () => "connected",
      () => "refused",
    ),
  );
  assert.equal(connected, "refused");
}

test("the documented examples for hosts send the policies that the page declares", () => {
  const [closed, framed] = ["index.html", "embed.html"].map((document) => policyOf(root, document));
  const sent = (pattern) => [...readFileSync(join(root, "docs/hosting.md"), "utf8").matchAll(pattern)].map(([, policy]) => policy);
  for (const pattern of [/^ +add_header Content-Security-Policy "(.*)" always;$/gm, /^ +Content-Security-Policy: (.*)$/gm])
    assert.deepEqual(sent(pattern), [`${closed}; frame-ancestors 'none'`, framed]);
});

/** Opens every section of every room, and downloads a file. */
async function tryRooms(page) {
  for (const room of await page.evaluate(() => hothouse.rooms.map(({ id }) => id))) {
    await page.locator(`#rooms a[href="#/${room}"]`).click();
    await lab(page, room);
    await event(page, "metrics");
    await everywhere(page, () => scrolled(page));
    // Waits until the worker has answered the questions of the last opened section. The room must not close earlier.
    await page.evaluate(() => hothouse.shared());
  }
  await place(page, "Share");
  const [file] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "Save run" }).click()]);
  assert.match(file.suggestedFilename(), /\.safetensors$/);
}

for (const isolated of ALL ? [true, false] : [true])
  test(`the page works under its policy, other scripts do not (${isolated ? "with" : "without"} the host's headers)`, async () => {
    const server = await served({ isolated });
    const init = () => {
      globalThis.refused = [];
      document.addEventListener("securitypolicyviolation", ({ effectiveDirective, blockedURI }) =>
        refused.push(`${effectiveDirective} ${blockedURI}`),
      );
    };
    const page = await visit(here, { server, init, started: false });
    await page.waitForFunction(() => crossOriginIsolated && globalThis.hothouse);
    if (ALL) await tryRooms(page);
    assert.deepEqual(await page.evaluate(() => refused), []);
    assert.deepEqual(page.said, []);
    const tried = await page.evaluate(async () => {
      const script = document.createElement("script");
      script.textContent = "globalThis.ran = true";
      document.body.append(script);
      const template = document.createElement("template");
      template.innerHTML = '<p onclick="globalThis.ran = true" style="color: red">';
      document.body.append(template.content);
      document.body.lastElementChild.click();
      const elsewhere = await fetch("data:text/plain,away").then(
        () => "went",
        () => "refused",
      );
      const beside = await new Promise((resolve) => {
        const worker = new Worker(URL.createObjectURL(new Blob(["postMessage('went')"])));
        worker.onmessage = () => resolve("went");
        worker.onerror = () => resolve("refused");
      }).catch(() => "refused");
      return { ran: globalThis.ran ?? false, colour: document.body.lastElementChild.style.color, elsewhere, beside };
    });
    assert.deepEqual(tried, { ran: false, colour: "", elsewhere: "refused", beside: "refused" });
    await checkWorker(page);
    await page.context().close();
    await server.close();
  });

test("on a shared origin, the service worker caches only its own page and files", async () => {
  const other = '<!doctype html><title>Other</title><script src="data.json"></script><p>Another project';
  const server = await served({ isolated: false, extra: { "/other/page.html": other, "/other/data.json": "{}" } });
  const page = await visit(here, { server, started: false });
  await page.waitForFunction(() => crossOriginIsolated && globalThis.hothouse);
  await page.evaluate(() => caches.open("hothouse /elsewhere/ 1"));
  // None of the following answers may replace the page's own document in the cache.
  const icon = await page.goto(`${server.url}icon.svg`);
  assert.match(icon.headers()["content-type"], /svg/);
  assert.equal((await page.goto(`${server.url}nothing/here`)).status(), 404);
  const foreign = await page.goto(`${server.url}other/page.html`);
  assert.equal(foreign.fromServiceWorker(), false);
  assert.equal(await page.evaluate(() => crossOriginIsolated), false);
  const kept = await page.evaluate(async () => {
    const all = await Promise.all(
      (await caches.keys()).map(async (name) => (await (await caches.open(name)).keys()).map(({ url }) => new URL(url).pathname)),
    );
    return all.flat();
  });
  assert.ok(kept.includes("/") && kept.includes("/icon.svg"), kept.join(" "));
  assert.ok(!kept.some((path) => /other|nothing/.test(path)), kept.join(" "));
  await page.goto(`${server.url}#/control`);
  await lab(page);
  assert.ok(
    (await page.evaluate(() => caches.keys())).includes("hothouse /elsewhere/ 1"),
    "the cache of the page at another address stays",
  );
  await server.close();
  const away = await page.context().newPage();
  await assert.rejects(away.goto(`${server.url}other/page.html`));
  await away.close();
  assert.match((await page.goto(`${server.url}icon.svg`)).headers()["content-type"], /svg/);
  await page.goto(`${server.url}#/control`);
  if (ALL) await lab(page); // without a network, no run is replayed
  assert.match(await page.title(), /Hothouse/);
  await page.context().close();
});

/** Sends a request with the given options. Returns status and headers when the response starts. */
const asked = (server, options) =>
  new Promise((resolve, reject) => {
    const request = ask({ host: "127.0.0.1", port: server.port, path: "/", ...options }, (response) => {
      response.resume();
      resolve({ status: response.statusCode, headers: response.headers });
    });
    request.on("timeout", () => request.destroy(new Error(`${options.path}: no answer`)));
    request.on("error", reject).end();
  });

test("the server accepts only local host names and read requests", async () => {
  const server = await serve(dist, { hosts: ["Greenhouse.test"] });
  const { port } = server;
  for (const host of ["localhost", "127.0.0.1", "[::1]", "LOCALHOST:1", `127.0.0.1:${port}`, "greenhouse.test:80"])
    assert.equal((await asked(server, { headers: { host } })).status, 200, host);
  for (const host of ["evil.test", `evil.test:${port}`, "localhost.evil.test", "127.0.0.1.evil.test", "localhost:x"])
    assert.equal((await asked(server, { headers: { host } })).status, 421, host);
  for (const method of ["PUT", "POST", "DELETE", "PATCH", "OPTIONS", "TRACE"]) {
    const { status, headers } = await asked(server, { method });
    assert.equal(status, 405, method);
    assert.equal(headers.allow, "GET, HEAD");
  }
  for (const path of ["/", "/index.html", "/sw.js", "/nothing"]) {
    const { headers } = await asked(server, { method: "HEAD", path });
    assert.equal(headers["x-content-type-options"], "nosniff", path);
    const policy = headers["content-security-policy"];
    assert.match(policy, /default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; .*frame-ancestors 'none'/, path);
    assert.doesNotMatch(policy, /unsafe-inline|unsafe-eval'?[^;]*'unsafe-eval'|\*|http/);
  }
  await server.close();
});

test("the server serves only regular files of its folder: no pipes, no devices, no links out of it", {
  skip: process.platform === "win32",
}, async () => {
  const [own, outside] = [folder(), folder()];
  writeFileSync(join(own, "page.html"), "mine");
  mkdirSync(join(own, "empty"));
  writeFileSync(join(outside, "secret.txt"), "secret");
  execFileSync("mkfifo", [join(own, "pipe")]);
  mkdirSync(join(own, "piped"));
  execFileSync("mkfifo", [join(own, "piped", "index.html")]);
  for (const [name, to] of [
    ["inside.html", "page.html"],
    ["out.txt", join(outside, "secret.txt")],
    ["away", outside],
    ["null", "/dev/null"],
    ["round", "round"],
  ])
    symlinkSync(to, join(own, name));
  // The served folder itself may be a link.
  const linked = join(folder(), "linked");
  symlinkSync(own, linked);
  for (const place of [own, linked]) {
    const server = await serve(place);
    const status = async (path) => (await asked(server, { path, timeout: WAIT_MS })).status;
    for (const path of ["/page.html", "/inside.html"]) assert.equal(await status(path), 200, path);
    for (const path of ["/pipe", "/piped/", "/out.txt", "/away/secret.txt", "/null", "/round", "/empty/"])
      assert.equal(await status(path), 404, path);
    await server.close();
  }
});

test("aborted downloads, and more downloads than file descriptors, leak nothing", {
  skip: !existsSync("/proc/self/fd"),
}, async () => {
  const large = folder();
  const file = openSync(join(large, "large.bin"), "w");
  ftruncateSync(file, 64 << 20); // more than socket buffers hold
  closeSync(file);
  const server = await serve(large);
  const descriptors = () => readdirSync("/proc/self/fd").length;
  const before = descriptors();
  const broken = () =>
    new Promise((resolve, reject) => {
      const request = ask({ host: "127.0.0.1", port: server.port, path: "/large.bin", agent: false }, (response) => {
        response.once("data", () => (request.destroy(), resolve()));
        response.on("error", () => {});
      });
      request.on("error", reject).end();
    });
  for (let round = 0; round < 10; round++) await Promise.all(Array.from({ length: 20 }, broken));
  for (let looks = 0; descriptors() > before + 4; looks++) {
    assert.ok(looks < 600, `${descriptors()} descriptors after 200 downloads, ${before} before`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  assert.equal((await asked(server, { path: "/large.bin", method: "HEAD" })).headers["content-length"], String(64 << 20));
  await server.close();
});

for (const isolated of [true, false])
  inAll(
    "at a sub-path without headers, one reload enables threads; then all rooms open offline, and the page shows when",
    `offline after the first visit (${isolated ? "with" : "without"} the host's headers)`,
    async () => {
      const server = await serve(dist, { isolated });
      const page = await visit(here, { server, started: false });
      await page.waitForFunction(() => crossOriginIsolated && globalThis.hothouse);
      await until(page, async () => {
        const names = await caches.keys();
        const kept = names.length ? await (await caches.open(names[0])).keys() : [];
        return kept.some((request) => request.url.endsWith("lab_bg.wasm"));
      });
      await server.close();
      await page.reload();
      await lab(page);
      await event(page, "metrics");
      assert.equal((await backend(page)).module, "threads-relaxed");
      await page.context().close();
    },
  );

test("without a network, a room that is not stored offers the rooms that are", async () => {
  const server = await serve(dist);
  const page = await visit(here, { server, at: SMALL, paused: true });
  await until(page, async () => {
    const names = await caches.keys();
    const kept = names.length ? await (await caches.open(names[0])).keys() : [];
    // One of these is the module of the start page.
    return kept.filter((request) => request.url.endsWith("lab_bg.wasm")).length > 1;
  });
  await server.close();
  await page.evaluate(() => (location.hash = "#/cube"));
  await page.getByRole("heading", { name: "Cube needs a network the first time" }).waitFor();
  // In the page of the tests all rooms have one module, so it counts as stored for each of them.
  const offered = await page.locator(".crash li").allTextContents();
  assert.ok(offered.includes("Control") && !offered.includes("Cube"), offered.join());
  await page.getByRole("main").getByRole("link", { name: "Control" }).click();
  await lab(page, "control");
  await page.context().close();
});

/** Time after which the page caches the files of every room, and time that it waits for its service worker. */
const [KEEP_MS, WORKER_MS] = [10_000, 5000];

test("at a sub-path without headers, one reload enables threads; then all rooms open offline, and the page shows when", async () => {
  const server = await serve(dist, { isolated: false, base: "/some/path/" });
  const init = `{
    (${countLoads})();
    const plain = setTimeout;
    const others = { ${KEEP_MS}: 500, ${WORKER_MS}: ${WAIT_MS} }; // the machine may be slow
    globalThis.setTimeout = (work, ms, ...rest) => plain(work, others[ms] ?? ms, ...rest);
  }`;
  const page = await visit(here, { server, at: SMALL, started: false, init });
  await page.waitForFunction(() => crossOriginIsolated && globalThis.hothouse);
  assert.equal(await loadsOf(page), 2);
  assert.equal((await backend(page)).module, "threads-relaxed");
  await event(page, "metrics");
  await checkWorker(page);
  const rooms = await page.evaluate(() => hothouse.rooms.map(({ id }) => id));
  await page.locator("#offline", { hasText: "Ready offline" }).waitFor();
  await server.close();
  // The service worker isolates the page without a network too.
  for (const room of ALL ? rooms : ["cube"]) {
    await page.goto("about:blank");
    await page.goto(server.url + addressOf(room));
    await lab(page, room);
    await event(page, "metrics");
    assert.equal((await backend(page)).module, "threads-relaxed");
  }
  await page.context().close();
});

test("with Save-Data, unopened rooms are not downloaded", async () => {
  // Collects what the page does after KEEP_MS, so that the test decides when this time has passed, and requests to the service worker.
  const init = `{
    const plain = setTimeout;
    globalThis.waiting = [];
    globalThis.setTimeout = (work, ms, ...rest) => (ms === ${KEEP_MS} ? waiting.push(work) : plain(work, ms, ...rest));
    globalThis.requested = [];
    ServiceWorker.prototype.postMessage = ({ keepRooms }) => keepRooms && requested.push(keepRooms);
    Object.defineProperty(Navigator.prototype, "connection", { configurable: true, get: () => ({ saveData: true }) });
  }`;
  const page = await visit(here, { server: here.replay, init });
  await page.evaluate(() => navigator.serviceWorker.ready);
  /** Lets the time pass. Returns the requests for files of all rooms. */
  const passed = () =>
    page.evaluate(async () => {
      for (const work of [...waiting]) work();
      await new Promise((resolve) => setTimeout(resolve, 300));
      return requested;
    });
  assert.deepEqual(await passed(), []);
  assert.equal(await page.locator("#offline").textContent(), "");
  await page.evaluate(() => Object.defineProperty(Navigator.prototype, "connection", { get: () => undefined }));
  assert.deepEqual(await passed(), ["threads-relaxed"]);
  await page.context().close();
});

inAll(
  "the page chooses the fastest module that the browser supports, and states the reasons",
  "the page trains in the module without threads on request",
  async () => {
    const page = await visit(here, { at: `?use=simd128${SMALL}` });
    await event(page, "metrics");
    const inUse = await backend(page);
    assert.equal(inUse.module, "simd128");
    assert.equal(inUse.threads, 1);
    assert.match(inUse.why.join("\n"), /was requested/);
    await page.context().close();
  },
);

test("a browser without WebAssembly SIMD gets an error message", async () => {
  const init = () => {
    const validate = WebAssembly.validate;
    WebAssembly.validate = (bytes) => !new Uint8Array(bytes).includes(0xfd) && validate(bytes);
  };
  const page = await visit(here, { started: false, init, context: { serviceWorkers: "block" } });
  await notice(page, /Training could not start \(this browser has no WebAssembly with SIMD\)\. Update the browser/);
  await page.context().close();
});

test("the next module is used if one does not start", async () => {
  // The worker reports that the first module has failed.
  const init = () => {
    const { postMessage } = Worker.prototype;
    Worker.prototype.postMessage = function (message, transfer) {
      if (message.kind !== "open") return postMessage.call(this, message, transfer);
      Worker.prototype.postMessage = postMessage;
      this.onmessage({ data: { kind: "failed", text: "no such file" } });
    };
  };
  const page = await visit(here, { server: here.replay, init, context: { serviceWorkers: "block" } });
  const inUse = await backend(page);
  assert.equal(inUse.module, "threads-simd128");
  assert.match(inUse.why.join("\n"), /The module 'threads-relaxed' did not start here \(no such file\)/);
  await page.context().close();
});

inAll("the next module is used if one does not start", "the next module is used if one does not load", async () => {
  const context = await here.browser.newContext({ serviceWorkers: "block" });
  context.setDefaultTimeout(WAIT_MS);
  await context.route("**/wasm/*/threads-relaxed-*/**", (route) => route.abort());
  const page = await context.newPage();
  await page.goto(`${here.server.url}#/control`);
  await lab(page);
  const inUse = await backend(page);
  assert.equal(inUse.module, "threads-simd128");
  assert.match(inUse.why.join("\n"), /'threads-relaxed' did not start/);
  await context.close();
});

inAll("the next module is used if one does not start", "a module without threads is used if the threads do not start", async () => {
  // The worker waits 20 s for the threads. Here this time is short.
  const silent = `
    const plain = setTimeout;
    globalThis.setTimeout = (work, ms, ...rest) => plain(work, ms === 20_000 ? 500 : ms, ...rest);
    globalThis.Worker = class extends EventTarget { postMessage() {} };`;
  const page = await visit(here, { init: inWorkers(silent), context: { bypassCSP: true }, cores: 2 });
  const inUse = await backend(page);
  assert.equal(inUse.module, "simd128");
  assert.match(inUse.why.join("\n"), /'threads-relaxed' did not start here \(.*its threads did not start within 20 s\)/);
  await page.context().close();
});

test("the order of the modules does not depend on the builds", async () => {
  // Another order of the modules would change the page's fingerprint. The build would then write the page again while other tests load it.
  assert.deepEqual(Object.keys(await wasm({ only: [] })), MODULES);
});

test("the server skips a port in use, and answers no path outside its folder", async () => {
  const blocker = createServer();
  await new Promise((resolve) => blocker.listen(0, "127.0.0.1", resolve));
  const { port } = blocker.address();
  const server = await serve(dist, { port });
  assert.deepEqual([server.moved, server.port > port], [true, true]);
  for (const path of ["%", "%00", "..%2fpackage.json"]) assert.equal((await fetch(server.url + path)).status, 404, path);
  const response = await fetch(server.url);
  assert.equal(response.headers.get("cross-origin-opener-policy"), "same-origin");
  assert.match(await response.text(), /Hothouse/);
  await server.close();
  blocker.close();
});

inAll(
  "the server skips a port in use, and answers no path outside its folder",
  "npm start skips a port in use and reports it",
  async () => {
    const blocker = createServer();
    await new Promise((resolve) => blocker.listen(0, "127.0.0.1", resolve));
    const { port } = blocker.address();
    const child = spawn("node", [join(root, "scripts/start.mjs"), "--no-open", "--port", String(port)], { cwd: root });
    let said = "";
    const url = await new Promise((resolve, reject) => {
      child.on("exit", () => reject(new Error(said)));
      child.stderr.on("data", (chunk) => (said += chunk));
      child.stdout.on("data", (chunk) => {
        said += chunk;
        const found = said.match(/Hothouse: (\S+)/);
        if (found) resolve(found[1]);
      });
    });
    assert.match(said, new RegExp(`Port ${port} is in use`));
    for (const [path, status] of [
      ["%", 404],
      ["%00", 404],
      ["..%2fpackage.json", 404],
    ])
      assert.equal((await fetch(url + path)).status, status, path);
    const response = await fetch(url);
    assert.equal(response.headers.get("cross-origin-opener-policy"), "same-origin");
    assert.match(await response.text(), /Hothouse/);
    child.kill();
    blocker.close();
  },
);

test("setup without a network names the missing tool and the next step", async () => {
  const empty = folder();
  const env = { ...process.env, HOTHOUSE_TOOLS: empty, CARGO_HOME: join(empty, "cargo"), CARGO_NET_OFFLINE: "true" };
  const { status, said } = await script(["setup.mjs"], env);
  assert.equal(status, 1);
  assert.match(said, /scripts\/bindgen\/Cargo\.toml.*exit status/);
  assert.match(said, /Next: connect to the network and run the same command again/);
});

test("the server calls `missing` for a missing file before it responds with 404", async () => {
  const asked = [];
  const server = await serve(dist, { missing: async (path) => void asked.push(path) });
  assert.equal((await fetch(`${server.url}wasm/control/simd128-0/lab.js`)).status, 404);
  assert.deepEqual(asked, ["/wasm/control/simd128-0/lab.js"]);
  await server.close();
});

test("an invalid command line lists the valid options", async () => {
  for (const [args, wanted] of [
    [["start.mjs", "--colour", "red"], /unknown argument --colour[\s\S]*--no-open/],
    [["start.mjs", "--port", "seventy"], /seventy is not a port/],
    [["test.mjs", "--only", "everything"], /no part 'everything'[\s\S]*page/],
    [["bench.mjs", "speed"], /no bench is called 'speed'[\s\S]*core/],
  ]) {
    const { status, said } = await script(args);
    assert.equal(status, 1);
    assert.match(said, wanted);
  }
});
