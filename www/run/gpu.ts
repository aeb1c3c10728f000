// A GPU as a run's worker opens it, of whichever room: off the training's path, when the run wants one, and again after it
// has failed. It refuses to decide what trains.

/** What a test can do to the GPU: lose it, leave it without memory, or allow it so many bytes a buffer. */
export type GpuFailure = "lost" | "memory" | number;

/** As crates/web exports it. */
export interface Graphics {
  works(): boolean;
  fail_for_test(outOfMemory: boolean): void;
  free(): void;
}
export interface GraphicsModule {
  Graphics: { open(woken: () => void, name: string, largestBuffer?: number): Promise<Graphics> };
}

/** A run that may train on one. */
export interface MayTrainOnGpu {
  wants_gpu(): boolean;
  offer(graphics: Graphics): void;
  offer_none(why: string): void;
}

export class GpuOpener {
  /** The one that was opened last, and for tests a limit that it has not by itself. */
  private graphics: Graphics | undefined;
  private opening = false;
  private largestBuffer: number | undefined;

  constructor(
    private readonly wake: () => void,
    private readonly crashed: (error: unknown) => void,
  ) {}

  see(run: MayTrainOnGpu, module: GraphicsModule): void {
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

  /** Before another choice: one that has failed is let go, so that another is opened. */
  letGoOfFailed(run: MayTrainOnGpu): void {
    if (this.graphics && !this.graphics.works()) run.offer_none("the one before has failed");
  }

  fail(how: GpuFailure): void {
    if (typeof how === "number") this.largestBuffer = how;
    this.graphics?.fail_for_test(how === "memory");
  }

  private async open(module: GraphicsModule): Promise<Graphics> {
    const webgpu = (navigator as { gpu?: { requestAdapter(options: object): Promise<Adapter | null> } }).gpu;
    if (!webgpu) throw isSecureContext ? "this browser has no WebGPU" : "a browser gives WebGPU to pages from https alone";
    const adapter = await webgpu.requestAdapter({ powerPreference: "high-performance" });
    if (!adapter) throw "this browser knows WebGPU, but gives this page no GPU";
    if (!adapter.info) throw "this browser's WebGPU is from before it was settled; a newer version has it";
    return module.Graphics.open(this.wake, adapterName(adapter.info), this.largestBuffer);
  }
}

interface Adapter {
  info?: AdapterInfo;
}
type AdapterInfo = { vendor: string; architecture: string };

/** `NVIDIA ampere`: of a GPU's name most browsers give no more. */
function adapterName({ vendor, architecture }: AdapterInfo): string {
  const names: Record<string, string> = { nvidia: "NVIDIA", amd: "AMD", arm: "Arm", swiftshader: "SwiftShader" };
  const name = (word: string) => names[word] ?? word.charAt(0).toUpperCase() + word.slice(1);
  return [name(vendor), names[architecture] ?? architecture].filter(Boolean).join(" ");
}
