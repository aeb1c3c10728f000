// Opens a run with the fastest wasm module that starts in this browser. Records why faster modules are not used.

import { Client, type Options } from "./client";
import { choose, MODULES, type Module } from "./features";
import { textOf } from "./notice";
import type { DeviceWish } from "./protocol";

const DEVICES: DeviceWish[] = ["auto", "cpu", "gpu"];

export async function connect(options: Options): Promise<Client> {
  const named = new URLSearchParams(location.search).get("device");
  const device = DEVICES.find((one) => one === named) ?? options.device ?? "auto";
  const requested = options.use ?? new URLSearchParams(location.search).get("use") ?? "auto";
  const known = requested === "auto" || (MODULES as readonly string[]).includes(requested);
  const choice = choose(known ? (requested as "auto" | Module) : "auto");
  if (!known) choice.why.push(`There is no module '${requested}'. Modules: auto, ${MODULES.join(", ")}.`);
  if (named && named !== device) choice.why.push(`There is no device '${named}'. Devices: ${DEVICES.join(", ")}.`);
  const failures: string[] = [];
  for (const module of choice.candidates) {
    const client = new Client(device);
    try {
      await client.open(module, choice.why, choice.threads, options);
      return client;
    } catch (error) {
      client.close();
      const text = textOf(error);
      failures.push(`${module}: ${text}`);
      choice.why.push(`The module '${module}' did not start here (${text}).`);
    }
  }
  throw new Error(
    `Training could not start (${failures.join("; ") || "this browser has no WebAssembly with SIMD"}). Update the browser, or run ` +
      `Hothouse natively.`,
  );
}
