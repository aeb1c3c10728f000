// Export of the model of a run, in a separate worker.

import type { Client } from "./client";
import type { Exported, FromExporter, ModelFormat, ToExporter } from "./exporter";

/** Exports the model of the run with its current weights. Rejects with the reason if the model of the run cannot be exported. */
export async function exportModel(client: Client, format: ModelFormat): Promise<Exported> {
  const saved = await client.save();
  const data = await client.data();
  return ask({ url: client.moduleUrl("simd128"), saved, data, format });
}

async function ask(message: ToExporter): Promise<Exported> {
  const worker = new Worker(new URL("./exporter.ts", import.meta.url), { type: "module", name: "hothouse export" });
  try {
    return await new Promise<Exported>((resolve, reject) => {
      worker.onmessage = ({ data }: MessageEvent<FromExporter>) =>
        "exported" in data ? resolve(data.exported) : reject(new Error(data.failed));
      worker.onerror = (event) => reject(new Error(event.message || "the worker could not be loaded"));
      worker.postMessage(message);
    });
  } finally {
    worker.terminate();
  }
}
