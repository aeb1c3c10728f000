// Texts of the messages between page and worker. JSON has no typed arrays, no undefined and no infinity, so these have forms of their own.

type Arrays = Record<string, { new (buffer: ArrayBuffer): ArrayBufferView }>;
const ARRAYS: Arrays = { Uint8Array, Int8Array, Uint16Array, Uint32Array, Int32Array, Float32Array, Float64Array };

const base64 = (view: ArrayBufferView): string => {
  const bytes = new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
  let text = "";
  for (let at = 0; at < bytes.length; at += 0x8000) text += String.fromCharCode(...bytes.subarray(at, at + 0x8000));
  return btoa(text);
};

function encoded(value: unknown): unknown {
  if (value === undefined) return { $: "undefined" };
  if (typeof value === "number" && !Number.isFinite(value)) return { $: "number", of: String(value) };
  if (typeof value === "bigint") return { $: "bigint", of: String(value) };
  if (typeof value !== "object" || value === null) return value;
  if (ArrayBuffer.isView(value)) return { $: value.constructor.name, of: base64(value) };
  if (Array.isArray(value)) return value.map(encoded);
  if (value instanceof Map) return { $: "Map", of: [...value].map(encoded) };
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, encoded(part)]));
}

function decoded(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(decoded);
  const { $: kind, of } = value as { $?: string; of?: unknown };
  if (kind === undefined) return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, decoded(part)]));
  if (kind === "undefined") return undefined;
  if (kind === "number") return Number(of);
  if (kind === "bigint") return BigInt(of as string);
  if (kind === "Map") return new Map(decoded(of) as [unknown, unknown][]);
  return new ARRAYS[kind]!(Uint8Array.from(atob(of as string), (letter) => letter.charCodeAt(0)).buffer);
}

export const encode = (value: unknown): string => JSON.stringify(encoded(value));
export const decode = <T>(text: string): T => decoded(JSON.parse(text)) as T;
