// Opens a run with the fastest module that starts in this browser, and says why not with a faster one.

import { Client, type Options } from "./client";
import { choose, MODULES, type Module } from "./features";
import { isolate } from "./isolate";
import { textOf } from "./notice";
import type { DeviceWish } from "./protocol";

const DEVICES: DeviceWish[] = ["auto", "cpu", "gpu"];

export async function connect(options: Options): Promise<Client> {
  await isolate();
  const named = new URLSearchParams(location.search).get("device");
  const device = DEVICES.find((one) => one === named) ?? options.device ?? "auto";
  const asked = options.use ?? new URLSearchParams(location.search).get("use") ?? "auto";
  const known = asked === "auto" || (MODULES as readonly string[]).includes(asked);
  const choice = choose(known ? (asked as "auto" | Module) : "auto");
  if (!known) choice.why.push(`There is no module called '${asked}'; there are: auto, ${MODULES.join(", ")}.`);
  if (named && named !== device) choice.why.push(`There is no device called '${named}'; there are: ${DEVICES.join(", ")}.`);
  const troubles: string[] = [];
  for (const module of choice.candidates) {
    const client = new Client(device);
    try {
      await client.open(module, choice.why, choice.threads, options);
      return client;
    } catch (error) {
      client.close();
      const text = textOf(error);
      troubles.push(`${module}: ${text}`);
      choice.why.push(`The module '${module}' did not start here (${text}).`);
    }
  }
  throw new Error(
    `Training could not start (${troubles.join("; ") || "this browser has no WebAssembly with SIMD"}). Update the browser, or run ` +
      `Hothouse natively.`,
  );
}
