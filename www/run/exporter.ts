// The worker that exports the model of a saved run. It loads the module without threads, because only this module can export models. The
// page ends the worker after the answer, which frees the memory of the module.

import { inWords, isNotice, textOf } from "./notice";

export type ModelFormat = "onnx" | "c" | "js";
type ExportFile = { name: string; bytes: Uint8Array };
/** A model in the requested format, with its model card. */
export type Exported = { model: ExportFile; card: ExportFile };
/** Request for an export. `data` contains the bytes of the run's user data; undefined if the run has no user data. */
export type ToExporter = { url: string; saved: Uint8Array; data: Uint8Array | undefined; format: ModelFormat };
export type FromExporter = { exported: Exported } | { failed: string };

/** The functions of a wasm module that an export uses. */
interface Exporting {
  default(): Promise<unknown>;
  export_model(saved: Uint8Array, data: Uint8Array | undefined, format: ModelFormat): Exported;
}

const page = self as unknown as {
  postMessage(message: FromExporter): void;
  onmessage: ((event: MessageEvent<ToExporter>) => void) | null;
};

async function exported({ url, saved, data, format }: ToExporter): Promise<Exported> {
  const wasm = (await import(/* @vite-ignore */ url)) as Exporting;
  await wasm.default();
  return wasm.export_model(saved, data, format);
}

page.onmessage = ({ data }) =>
  exported(data).then(
    (exported) => page.postMessage({ exported }),
    (error) => page.postMessage({ failed: isNotice(error) ? inWords(error) : textOf(error) }),
  );
