// What this browser can run, and why not more: the choice of wasm module and its reasons.
// The scripts build the modules (scripts/wasm.mjs); this file refuses to load any.

export const MODULES = ["threads-relaxed", "threads-simd128", "simd128"] as const;
export type Module = (typeof MODULES)[number];

export interface Choice {
  /** Modules that should run here, the fastest first. */
  candidates: Module[];
  /** Plain sentences on what is in use and what is not. */
  why: string[];
  threads: number;
}

/** A function that pushes vectors and applies one instruction to them: valid only where it exists. */
const probe = (vectors: number, ...instruction: number[]): boolean => {
  const push = Array.from({ length: vectors }, () => [0x41, 0, 0xfd, 0x0f]).flat(); // i32.const 0, i8x16.splat
  const body = [0, ...push, ...instruction, 0x0b];
  const sections = [1, 5, 1, 0x60, 0, 1, 0x7b, 3, 2, 1, 0, 10, body.length + 2, 1, body.length, ...body];
  return WebAssembly.validate(new Uint8Array([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0, ...sections]));
};
const simd128 = () => probe(1, 0xfd, 0x4d); // v128.not
const relaxed = () => probe(3, 0xfd, 0x85, 0x02); // f32x4.relaxed_madd

/** Memory that workers can share: WebKitGTK makes such memory, but refuses to post it to another worker. */
const sharedMemory = () => {
  const { port1 } = new MessageChannel();
  try {
    port1.postMessage(new WebAssembly.Memory({ initial: 1, maximum: 1, shared: true }));
    return true;
  } catch {
    return false;
  } finally {
    port1.close();
  }
};

/** Cores for training: all of a few, all but one of many, so that the page stays smooth. */
function threadCount(): number {
  const cores = navigator.hardwareConcurrency || 1;
  return Math.min(8, cores > 4 ? cores - 1 : cores);
}

export function choose(use: Module | "auto"): Choice {
  const why: string[] = [];
  let fits: Module[] = [...MODULES];
  const without = (part: string, reason: string) => {
    why.push(reason);
    fits = fits.filter((name) => !name.includes(part));
  };
  if (!crossOriginIsolated) without("threads", "No threads: this page is not cross-origin isolated.");
  else if (!sharedMemory()) without("threads", "No threads: this browser lets no workers share memory.");
  if (!simd128()) {
    without("", "No SIMD: this browser's WebAssembly has no vector instructions, which every module needs.");
  } else if (!relaxed()) without("relaxed", "No relaxed SIMD: this browser's WebAssembly has no fused multiply-add.");
  if (use !== "auto") {
    if (fits.includes(use)) {
      fits = [use];
      why.push(`The module '${use}' was asked for.`);
    } else why.push(`The module '${use}' was asked for, but it cannot run here.`);
  }
  return { candidates: fits, why, threads: threadCount() };
}
