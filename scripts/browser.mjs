// A headless Chromium for tests, benches and screenshots.
import { chromium as find } from "./setup.mjs";

export const ARGS = [
  "--no-sandbox",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];
/** WebGPU by a processor that pretends to be a GPU: it is there on every machine, and right for correctness. */
export const GPU_ARGS = ["--enable-unsafe-webgpu", "--use-webgpu-adapter=swiftshader"];

export async function launch(args = []) {
  const { chromium } = await find();
  // What tests do without a browser runs before the packages are installed.
  const { chromium: playwright } = await import("playwright-core");
  return playwright.launch({ executablePath: chromium, args: [...ARGS, ...args] });
}

/** In the page: a visitor who has been here before, whom no tour greets. */
export function returning() {
  try {
    localStorage.setItem("hothouse.tour", "seen");
  } catch {
    // a page without storage greets nobody
  }
}

/** In the page: `reachedMs` is when the first event of a kind reaches it, from the start of loading. */
export function reached(kind) {
  globalThis.reachedMs = new Promise((resolve) => {
    let client;
    Object.defineProperty(globalThis, "hothouse", {
      configurable: true,
      get: () => client,
      set: (value) => {
        client = value;
        // after the page has its own listener, which the first events are for
        setTimeout(() => client.onEvent((event) => event.kind === kind && resolve(performance.now())));
      },
    });
  });
}
