// Tests of `keepRooms` when the service worker is missing or does not answer.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { transformWithOxc } from "vite";
import { root } from "../../scripts/sh.mjs";

const file = join(root, "www/run/isolate.ts");
const { code } = await transformWithOxc(readFileSync(file, "utf8"), file);

const never = new Promise(() => {});

/**
 * Loads the module `www/run/isolate.ts` in a simulated browser environment. `register` replaces the registration of the service worker, and
 * the promise `ready` never settles.
 */
async function page(register) {
  Object.assign(globalThis, { isSecureContext: true, crossOriginIsolated: true, document: { baseURI: "https://example.org/" } });
  globalThis.sessionStorage = { removeItem() {} };
  // Replaces Node's `MessageChannel`, which would keep the process alive.
  globalThis.MessageChannel = class {
    port1 = {};
    port2 = {};
  };
  const serviceWorker = { register, ready: never };
  Object.defineProperty(globalThis, "navigator", { configurable: true, value: { serviceWorker } });
  // Node loads a module once per address, so each address is unique.
  const module = await import(`data:text/javascript,${encodeURIComponent(`${code}// ${Math.random()}`)}`);
  await module.isolate();
  return module;
}

const soon = (answer) => Promise.race([answer, new Promise((resolve) => setTimeout(resolve, 2000, "no answer").unref())]);

test("without a registered service worker, `keepRooms` resolves to false", async () => {
  const { keepRooms } = await page(() => Promise.reject(new TypeError("refused")));
  assert.equal(await soon(keepRooms("simd128")), false);
});

test("without an installed service worker, `keepRooms` resolves to false", async () => {
  const installing = Object.assign(new EventTarget(), { state: "installing" });
  const { keepRooms } = await page(() => Promise.resolve({ installing }));
  const answer = keepRooms("simd128");
  setTimeout(() => {
    installing.state = "redundant";
    installing.dispatchEvent(new Event("statechange"));
  }, 50);
  assert.equal(await soon(answer), false);
});
