// A headless Chromium for tests, benches and screenshots.
import { chromium as playwright } from "playwright-core";
import { chromium as find } from "./setup.mjs";

const ARGS = [
  "--no-sandbox",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--enable-unsafe-webgpu",
];

export async function launch(args = []) {
  const { chromium } = await find();
  return playwright.launch({ executablePath: chromium, args: [...ARGS, ...args] });
}
