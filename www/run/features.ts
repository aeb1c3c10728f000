// Chooses the wasm modules for this browser and gives the reasons for the choice. The flavour of a module is its combination of threads and
// vector instructions. scripts/wasm.mjs builds the modules. This file does not load a module.

export const MODULES = ["threads-relaxed", "threads-simd128", "simd128"] as const;
export type Module = (typeof MODULES)[number];

export interface Choice {
  /** Flavours of modules that this browser supports, fastest first. */
  candidates: Module[];
  /** Reasons for the choice, as sentences for the visitor. */
  why: string[];
  threads: number;
}

/**
 * Returns true if the browser supports an instruction. The test validates a function that applies the instruction to as many vectors as
 * `vectors` states.
 */
const probe = (vectors: number, ...instruction: number[]): boolean => {
  const push = Array.from({ length: vectors }, () => [0x41, 0, 0xfd, 0x0f]).flat(); // i32.const 0, i8x16.splat
  const body = [0, ...push, ...instruction, 0x0b];
  const sections = [1, 5, 1, 0x60, 0, 1, 0x7b, 3, 2, 1, 0, 10, body.length + 2, 1, body.length, ...body];
  return WebAssembly.validate(new Uint8Array([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0, ...sections]));
};
const simd128 = () => probe(1, 0xfd, 0x4d); // v128.not
const relaxed = () => probe(3, 0xfd, 0x85, 0x02); // f32x4.relaxed_madd

/**
 * Returns true if workers can share memory. The test posts shared memory, because WebKitGTK creates such memory but refuses to post it to a
 * worker.
 */
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

/**
 * Returns the number of threads for training, at most eight. With up to four cores, all cores train. With more cores, one core is left to
 * the page.
 */
function threadCount(): number {
  const cores = navigator.hardwareConcurrency || 1;
  return Math.min(8, cores > 4 ? cores - 1 : cores);
}

export function choose(use: Module | "auto"): Choice {
  const why: string[] = [];
  let supported: Module[] = [...MODULES];
  const exclude = (part: string, reason: string) => {
    why.push(reason);
    supported = supported.filter((name) => !name.includes(part));
  };
  if (!crossOriginIsolated) exclude("threads", "No threads: this page is not cross-origin isolated.");
  else if (!sharedMemory()) exclude("threads", "No threads: workers in this browser cannot share memory.");
  if (!simd128()) {
    exclude("", "No SIMD: this browser's WebAssembly has no vector instructions, which every module needs.");
  } else if (!relaxed()) exclude("relaxed", "No relaxed SIMD: this browser's WebAssembly has no fused multiply-add.");
  if (use !== "auto") {
    if (supported.includes(use)) {
      supported = [use];
      why.push(`The module '${use}' was requested.`);
    } else why.push(`The module '${use}' was requested, but it cannot run here.`);
  }
  return { candidates: supported, why, threads: threadCount() };
}
