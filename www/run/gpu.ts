// Opens the GPU in the worker of a run, asynchronously. The GPU is opened when the run wants a GPU, and opened again after a failure. Rust
// code chooses between CPU and GPU.

/**
 * GPU failure that a test causes. `lost` simulates the loss of the device, and `memory` simulates exhausted memory. A number also limits
 * the size of buffers, in bytes.
 */
export type GpuFailure = "lost" | "memory" | number;

/** An open GPU. crates/web exports this class. */
export interface Graphics {
  works(): boolean;
  fail_for_test(outOfMemory: boolean): void;
  free(): void;
}
export interface GraphicsModule {
  Graphics: { open(woken: () => void, name: string, largestBuffer?: number): Promise<Graphics> };
}

/** A run that can train on a GPU. */
export interface MayTrainOnGpu {
  wants_gpu(): boolean;
  offer(graphics: Graphics): void;
  offer_none(why: string): void;
}

export class GpuOpener {
  /** The GPU that was opened last. */
  private graphics: Graphics | undefined;
  private opening = false;
  /** Maximum size of a buffer in bytes, which a test sets; undefined without a limit. */
  private largestBuffer: number | undefined;

  constructor(
    private readonly wake: () => void,
    private readonly crashed: (error: unknown) => void,
  ) {}

  openIfWanted(run: MayTrainOnGpu, module: GraphicsModule): void {
    if (this.opening || !run.wants_gpu()) return;
    this.opening = true;
    this.open(module)
      .then(
        (opened) => {
          this.graphics?.free();
          this.graphics = opened;
          run.offer(opened);
        },
        (why) => run.offer_none(String(why instanceof Error ? why.message : why)),
      )
      .catch(this.crashed)
      .finally(() => {
        this.opening = false;
        this.wake();
      });
  }

  /** Withdraws a failed GPU from the run, so that another GPU can be opened. Called before the run chooses its device again. */
  discardFailed(run: MayTrainOnGpu): void {
    if (this.graphics && !this.graphics.works()) run.offer_none("the previous GPU failed");
  }

  fail(how: GpuFailure): void {
    if (typeof how === "number") this.largestBuffer = how;
    this.graphics?.fail_for_test(how === "memory");
  }

  private async open(module: GraphicsModule): Promise<Graphics> {
    const webgpu = (navigator as { gpu?: { requestAdapter(options: object): Promise<Adapter | null> } }).gpu;
    if (!webgpu) throw isSecureContext ? "this browser has no WebGPU" : "WebGPU requires a page from https";
    const adapter = await webgpu.requestAdapter({ powerPreference: "high-performance" });
    if (!adapter) throw "this browser supports WebGPU, but offers no GPU to this page";
    if (!adapter.info) throw "this browser's WebGPU is a draft version; update the browser";
    return module.Graphics.open(this.wake, adapterName(adapter.info), this.largestBuffer);
  }
}

interface Adapter {
  info?: AdapterInfo;
}
type AdapterInfo = { vendor: string; architecture: string };

/**
 * Returns the name of the GPU, such as `NVIDIA ampere`. The name consists of vendor and architecture, because most browsers reveal no more.
 */
function adapterName({ vendor, architecture }: AdapterInfo): string {
  const names: Record<string, string> = { nvidia: "NVIDIA", amd: "AMD", arm: "Arm", swiftshader: "SwiftShader" };
  const name = (word: string) => names[word] ?? word.charAt(0).toUpperCase() + word.slice(1);
  return [name(vendor), names[architecture] ?? architecture].filter(Boolean).join(" ");
}
