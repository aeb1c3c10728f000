// What the page's handle on a worker has in any room: the choice of wasm module, questions and answers, an autosave, and what
// is told of a crash. It refuses to know what a run is.

import type { Backend, Config, Device, DeviceWish, Level } from "./protocol";
import { choose, MODULES, type Module } from "./features";
import type { GpuFailure } from "./gpu";
import { isolate, keep } from "./isolate";
import { loadRuns, saveRun, type Saved } from "./store";

/** Where the build put each module, relative to the page; written by the build. */
declare const __MODULES__: Record<Module, string>;

/** A panic's text and the trap it causes arrive on two ways; the text is worth a short wait. */
const CRASH_GATHER_MS = 200;
/** Who leaves waits no longer for the end of an iteration. */
const LEAVE_MS = 1500;

export interface Options {
  config?: Config;
  /** Goes on from a saved run; the config is then in the file. */
  checkpoint?: Uint8Array;
  /** A permalink (`location.hash`): used where there is neither config nor checkpoint. */
  link?: string;
  /** A module by name instead of the fastest; also `?use=simd128` in the page's address. */
  use?: "auto" | Module;
  /** What should train; also `?device=gpu` in the page's address, which goes first. */
  device?: DeviceWish;
}

const DEVICES: DeviceWish[] = ["auto", "cpu", "gpu"];

export interface Crash {
  text: string;
  /** The run as it was last saved, to go on from: `connect({ checkpoint })`. */
  autosave: Uint8Array | null;
}

/** What is in use and why. */
export type InUse = Backend & { module: string; why: string[] };

/** What every worker is told. */
export type Told =
  | {
      kind: "open";
      url: string;
      threads: number;
      channel: string;
      config: Config | null;
      checkpoint: Uint8Array | null;
      link: string;
      device: DeviceWish;
    }
  | { kind: "visible"; visible: boolean }
  | { kind: "autosave" }
  | { kind: "panic"; inPool: boolean }
  | { kind: "fail_gpu"; how: GpuFailure };

/** What every worker tells. */
export type Tells =
  | { kind: "autosave"; bytes: Uint8Array }
  | { kind: "failed"; text: string }
  | { kind: "crash"; text: string }
  | { kind: "answer"; id: number; value: unknown }
  | { kind: "refused"; id: number; text: string };

declare global {
  /** The newest run of any room, for the browser's console: `hothouse.command({ kind: "pause" })`. */
  var hothouse: Handle | undefined;
}

/** Opens a handle with the fastest module that starts here. */
export async function openFastest<H extends Handle>(options: Options, make: (wished: DeviceWish) => H): Promise<H> {
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
    const handle = make(device);
    try {
      await handle.open(module, choice.why, choice.threads, options);
      globalThis.hothouse = handle;
      return handle;
    } catch (error) {
      handle.close();
      const text = error instanceof Error ? error.message : String(error);
      troubles.push(`${module}: ${text}`);
      choice.why.push(`The module '${module}' did not start here (${text}).`);
    }
  }
  throw new Error(
    `Training could not start (${troubles.join("; ") || "this browser has no WebAssembly with SIMD"}). Update the browser, or run Hothouse natively.`,
  );
}

export abstract class Handle {
  backend!: InUse;
  keptRuns: Saved[] = [];
  /** What trains, once that is decided for this run. */
  device: Device | undefined;
  protected readonly closing = new AbortController();
  private readonly panics: BroadcastChannel;
  /** Its own among all tabs. (`crypto.randomUUID` is missing where a host has no https.) */
  private readonly channel = `hothouse-${Date.now()}-${Math.random()}`;
  private readonly asked = new Map<number, { resolve(value: unknown): void; reject(error: Error): void }>();
  private questions = 0;
  private autosave: Uint8Array | null = null;
  private storing = false;
  private crashText: string | null = null;
  private readonly crashListeners: ((crash: Crash) => void)[] = [];
  private opened!: { resolve(): void; reject(error: Error): void };

  /** `wished` is what should train; `room` names where runs are kept: each room has a place of its own. */
  constructor(
    readonly wished: DeviceWish,
    private readonly worker: Worker,
    private readonly room: string,
    private readonly autosaveMs: number,
  ) {
    this.panics = new BroadcastChannel(this.channel);
    this.panics.onmessage = ({ data }) => this.crashed(String(data), true);
    this.worker.onmessage = ({ data }) => this.receive(data);
    this.worker.onerror = (event) => this.crashed(event.message || "the worker could not be loaded", false);
  }

  /** Takes what is of this room alone. */
  protected abstract receive(message: unknown): void;
  /** Tells something the visitor should know. */
  protected abstract notice(level: Level, text: string, next_step: string): void;
  /** What the page's life means beside the autosave. */
  protected alive(): void {}
  /** What is still to be told before a crash is. */
  protected beforeCrash(): void {}

  async open(module: Module, why: string[], threads: number, options: Options): Promise<void> {
    const opened = new Promise<void>((resolve, reject) => (this.opened = { resolve, reject }));
    const url = new URL(__MODULES__[module], document.baseURI);
    this.send({
      kind: "open",
      url: url.href,
      threads,
      channel: this.channel,
      config: options.config ?? null,
      checkpoint: options.checkpoint ?? null,
      link: options.link ?? location.hash,
      device: this.wished,
    });
    this.autosave = options.checkpoint ?? null;
    this.keptRuns = await loadRuns(this.room).catch(() => []);
    await opened;
    const { threads: used } = this.backend;
    const inUse = module.startsWith("threads") ? [`${used} ${used === 1 ? "thread trains" : "threads train"} on one shared memory.`] : [];
    Object.assign(this.backend, { module, why: [...inUse, ...why] });
    keep([url.href, url.href.replace(/\.js$/, "_bg.wasm")]);
    this.live();
  }

  /** The worker is ready. */
  protected ready(backend: Backend): void {
    this.backend = { ...backend, module: "", why: [] };
    this.opened.resolve();
  }

  /** Takes what any worker tells; false where it is something else. */
  protected common(message: Tells): void {
    if (message.kind === "autosave") this.keepAutosave(message.bytes);
    else if (message.kind === "crash" || message.kind === "failed") this.crashed(message.text, false);
    else {
      const asked = this.asked.get(message.id);
      this.asked.delete(message.id);
      if (message.kind === "answer") asked?.resolve(message.value);
      else asked?.reject(new Error(message.text));
    }
  }

  /** Autosave, and what the page's own life means for the worker. */
  private live(): void {
    const { signal } = this.closing;
    const timer = setInterval(() => this.send({ kind: "autosave" }), this.autosaveMs);
    signal.addEventListener("abort", () => clearInterval(timer));
    const seen = () => {
      this.send({ kind: "visible", visible: !document.hidden });
      if (document.hidden) this.send({ kind: "autosave" });
    };
    document.addEventListener("visibilitychange", seen, { signal });
    addEventListener("pagehide", () => this.send({ kind: "autosave" }), { signal });
    seen();
    this.alive();
    this.ownAutosave();
  }

  /** One tab keeps the autosave; another says so, and takes over when the first is closed. */
  private ownAutosave(): void {
    const { signal } = this.closing;
    const released = new Promise<void>((release) => signal.addEventListener("abort", () => release()));
    const own = () => {
      this.storing = true;
      return released;
    };
    if (!("locks" in navigator)) {
      own(); // then no other tab can be asked either
      return;
    }
    const lock = `hothouse-autosave${this.room === "control" ? "" : `-${this.room}`}`;
    const first = navigator.locks.request(lock, { ifAvailable: true }, (lock_) => {
      if (lock_) return own();
      this.notice(
        "info",
        "Hothouse is open in another tab, and that tab keeps the autosave.",
        "This run trains as well; save it to a file to keep it.",
      );
      navigator.locks.request(lock, { signal }, own).catch(() => {}); // closed before its turn came
    });
    first.catch(own);
  }

  private keepAutosave(bytes: Uint8Array): void {
    this.autosave = bytes;
    if (!this.storing) return;
    saveRun(this.room, bytes).catch((error) => {
      this.storing = false;
      this.notice(
        "warning",
        `This browser refused to store the run (${error instanceof Error ? error.message : error}).`,
        "Training goes on; save it to a file before you close the page.",
      );
    });
  }

  /** Told by the panicking thread (with the text), by the worker, or by the browser: once. */
  private crashed(text: string, final: boolean): void {
    if (this.closing.signal.aborted) return;
    const first = this.crashText === null;
    if (first || final) this.crashText = text;
    if (!first) return;
    setTimeout(() => {
      if (this.closing.signal.aborted) return;
      this.beforeCrash();
      const crash = { text: this.crashText ?? text, autosave: this.autosave };
      this.close();
      this.opened.reject(new Error(crash.text));
      for (const listen of this.crashListeners) listen(crash);
    }, CRASH_GATHER_MS);
  }

  protected send(message: object): void {
    this.worker.postMessage(message);
  }

  /** Asks the worker, which answers between two slices of its work or refuses in words. */
  protected ask<T>(question: object): Promise<T> {
    const id = this.questions++;
    return new Promise((resolve, reject) => {
      this.asked.set(id, { resolve: resolve as (value: unknown) => void, reject });
      this.send({ kind: "ask", id, ...question });
    });
  }

  onCrash = (callback: (crash: Crash) => void): void => void this.crashListeners.push(callback);
  panic = (inPool = false): void => this.send({ kind: "panic", inPool });
  failGpu = (how: GpuFailure): void => this.send({ kind: "fail_gpu", how });
  abstract save: () => Promise<Uint8Array>;

  async leave(): Promise<Uint8Array | null> {
    const late = new Promise<null>((resolve) => setTimeout(resolve, LEAVE_MS, null));
    const bytes = await Promise.race([this.save(), late]).catch(() => null);
    if (bytes) this.keepAutosave(bytes);
    this.close();
    return this.autosave;
  }

  close(): void {
    this.closing.abort();
    this.worker.terminate();
    this.panics.close();
    for (const { reject } of this.asked.values()) reject(new Error("The experiment was closed."));
    this.asked.clear();
  }
}
