// What the page asks of its service worker, where there is none.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { transformWithOxc } from "vite";
import { root } from "../../scripts/sh.mjs";

const file = join(root, "www/run/isolate.ts");
const { code } = await transformWithOxc(readFileSync(file, "utf8"), file);

const never = new Promise(() => {});

/** A page in a browser whose service workers register in this way; `ready` never settles there. */
async function page(register) {
  Object.assign(globalThis, { isSecureContext: true, crossOriginIsolated: true, document: { baseURI: "https://example.org/" } });
  globalThis.sessionStorage = { removeItem() {} };
  // Node's own would keep the test from ending.
  globalThis.MessageChannel = class {
    port1 = {};
    port2 = {};
  };
  const serviceWorker = { register, ready: never };
  Object.defineProperty(globalThis, "navigator", { configurable: true, value: { serviceWorker } });
  // Each time anew, since a module is loaded once by its address.
  const module = await import(`data:text/javascript,${encodeURIComponent(`${code}// ${Math.random()}`)}`);
  await module.isolate();
  return module;
}

const soon = (answer) => Promise.race([answer, new Promise((resolve) => setTimeout(resolve, 2000, "no answer").unref())]);

test("a browser that refuses the service worker keeps no rooms, and says so", async () => {
  const { keepRooms } = await page(() => Promise.reject(new TypeError("refused")));
  assert.equal(await soon(keepRooms("simd128")), false);
});

test("a service worker that cannot be installed keeps no rooms, and says so", async () => {
  const installing = Object.assign(new EventTarget(), { state: "installing" });
  const { keepRooms } = await page(() => Promise.resolve({ installing }));
  const answer = keepRooms("simd128");
  setTimeout(() => {
    installing.state = "redundant";
    installing.dispatchEvent(new Event("statechange"));
  }, 50);
  assert.equal(await soon(answer), false);
});
