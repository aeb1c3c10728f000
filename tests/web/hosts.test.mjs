// Where the page may stand: hosts that send no headers, sub-paths, no network, old browsers; and the
// command that serves it.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { createServer } from "node:http";
import { join } from "node:path";
import { test } from "node:test";
import { root } from "../../scripts/sh.mjs";
import { launch } from "../../scripts/browser.mjs";
import { serve } from "../../scripts/serve.mjs";
import { dist, event, folder, house, lab, notice, visit } from "./fixture.mjs";

const here = house();

/** Runs a script to its end; gives its exit status and all that it said. */
async function script([name, ...args], env = process.env) {
  const child = spawn("node", [join(root, "scripts", name), ...args], { cwd: root, env });
  let said = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (said += chunk));
  const status = await new Promise((resolve) => child.on("close", resolve));
  return { status, said };
}

const backend = (page) => page.evaluate(() => hothouse.backend);

test("a host without headers, at a sub-path: one reload gives the page its threads", async () => {
  const server = await serve(dist, { isolated: false, base: "/some/path/" });
  const page = await visit(here, { server, started: false });
  let loads = 1;
  page.on("framenavigated", () => loads++);
  await page.waitForFunction(() => crossOriginIsolated && globalThis.hothouse);
  assert.equal(loads, 2);
  assert.equal((await backend(page)).module, "threads-relaxed");
  await event(page, "metrics");
  await page.context().close();
  await server.close();
});

test("a host without headers and a browser without service workers: no loop, no threads, and it says why", async () => {
  const server = await serve(dist, { isolated: false });
  const init = () =>
    Object.defineProperty(Navigator.prototype, "serviceWorker", {
      get: () => ({ register: () => Promise.reject(new Error("refused")), ready: new Promise(() => {}) }),
    });
  const page = await visit(here, { server, init });
  let loads = 0;
  page.on("framenavigated", () => loads++);
  const inUse = await backend(page);
  assert.equal(inUse.module, "simd128");
  assert.equal(inUse.threads, 1);
  assert.match(inUse.why.join("\n"), /No threads: this page is not cross-origin isolated/);
  await event(page, "metrics");
  assert.equal(loads, 0);
  await page.context().close();
  await server.close();
});

test("a service worker that never helps costs one reload and no more", async () => {
  const server = await serve(dist, { isolated: false, extra: { "/sw.js": "// adds no headers\n" } });
  const page = await visit(here, { server, started: false });
  let loads = 1;
  page.on("framenavigated", () => loads++);
  await lab(page);
  await page.waitForTimeout(1500);
  assert.ok(loads <= 2, `${loads} loads`);
  assert.equal((await backend(page)).module, "simd128");
  await page.context().close();
  await server.close();
});

test("a host without https: no service worker, no threads, and it trains", async () => {
  // only loopback's own name counts as safe without https
  const browser = await launch(["--host-resolver-rules=MAP plain.test 127.0.0.1"]);
  const page = await browser.newPage();
  await page.goto(`http://plain.test:${here.server.port}/#/control?envs=64&v=1`);
  await lab(page);
  assert.equal(await page.evaluate(() => isSecureContext), false);
  assert.equal((await backend(page)).module, "simd128");
  await event(page, "metrics");
  await browser.close();
});

for (const isolated of [true, false])
  test(`offline after the first visit (${isolated ? "with" : "without"} the host's headers)`, async () => {
    const server = await serve(dist, { isolated });
    const page = await visit(here, { server, started: false });
    await page.waitForFunction(() => crossOriginIsolated && globalThis.hothouse);
    await page.waitForFunction(async () => {
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
  });

test("it trains in the module without threads too, where that is asked for", async () => {
  const page = await visit(here, { at: "?use=simd128#/control?envs=64&v=1" });
  await event(page, "metrics");
  const inUse = await backend(page);
  assert.equal(inUse.module, "simd128");
  assert.equal(inUse.threads, 1);
  assert.match(inUse.why.join("\n"), /was asked for/);
  await page.context().close();
});

test("a browser whose WebAssembly has no SIMD is told so", async () => {
  const init = () => {
    const validate = WebAssembly.validate;
    WebAssembly.validate = (bytes) => !new Uint8Array(bytes).includes(0xfd) && validate(bytes);
  };
  const page = await visit(here, { started: false, init });
  await notice(page, /Training could not start \(this browser has no WebAssembly with SIMD\)\. Update the browser/);
  await page.context().close();
});

test("a module that does not load gives way to the next", async () => {
  const context = await here.browser.newContext({ serviceWorkers: "block" });
  await context.route("**/wasm/*/threads-relaxed-*/**", (route) => route.abort());
  const page = await context.newPage();
  await page.goto(here.server.url);
  await lab(page);
  const inUse = await backend(page);
  assert.equal(inUse.module, "threads-simd128");
  assert.match(inUse.why.join("\n"), /'threads-relaxed' did not start/);
  await context.close();
});

test("npm start passes over a port in use and says so", async () => {
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
  for (const [path, status] of [["%", 404], ["%00", 404], ["..%2fpackage.json", 404]])
    assert.equal((await fetch(url + path)).status, status, path);
  const response = await fetch(url);
  assert.equal(response.headers.get("cross-origin-opener-policy"), "same-origin");
  assert.match(await response.text(), /Hothouse/);
  child.kill();
  blocker.close();
});

test("set-up without a network names what it could not get, and the next step", async () => {
  const empty = folder();
  const env = { ...process.env, HOTHOUSE_TOOLS: empty, CARGO_HOME: join(empty, "cargo"), CARGO_NET_OFFLINE: "true" };
  const { status, said } = await script(["setup.mjs"], env);
  assert.equal(status, 1);
  assert.match(said, /scripts\/bindgen\/Cargo\.toml.*exit status/);
  assert.match(said, /Next: connect to the network and run the same command again/);
});

test("the server lets a file that is missing be made before it says that there is nothing", async () => {
  const asked = [];
  const server = await serve(dist, { missing: async (path) => void asked.push(path) });
  assert.equal((await fetch(`${server.url}wasm/control/simd128-0/lab.js`)).status, 404);
  assert.deepEqual(asked, ["/wasm/control/simd128-0/lab.js"]);
  await server.close();
});

test("a command line that cannot be right names what would be", async () => {
  for (const [args, wanted] of [
    [["start.mjs", "--colour", "red"], /unknown argument --colour[\s\S]*--no-open/],
    [["start.mjs", "--port", "seventy"], /seventy is not a port/],
    [["test.mjs", "--only", "everything"], /no part called 'everything'[\s\S]*page/],
    [["bench.mjs", "speed"], /no bench is called 'speed'[\s\S]*core/],
  ]) {
    const { status, said } = await script(args);
    assert.equal(status, 1);
    assert.match(said, wanted);
  }
});
