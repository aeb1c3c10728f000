// The page's connection to the worker of a run: messages, questions with answers, heartbeats, and reports of crashes. The connection does
// not depend on the room.

import type { FromWorker, ToWorker } from "./worker";

/** Wait for the text of a panic after the first sign of a crash. The text and the trap of the worker arrive through different channels. */
const CRASH_GATHER_MS = 200;
/** Interval between heartbeats. The worker replies to each heartbeat. */
const BEAT_MS = 1000;
/** Number of intervals without a reply after which the worker counts as silent. The worker normally replies after each slice. */
const SILENT_BEATS = 15;
/**
 * Number of intervals without a reply after which a busy worker counts as silent. A busy worker starts a run, tests, or reads a file, and
 * this work is not divided into slices.
 */
const BUSY_BEATS = 60;

export interface LineListener {
  received(message: FromWorker): void;
  /** Called with a text when the worker has become silent, and with null when it replies again. */
  silence(text: string | null): void;
  /** Called when the worker has ended, after the line was closed. */
  crashed(text: string): void;
}

type PendingQuestion = { long: boolean; resolve(value: unknown): void; reject(error: Error): void };

/** Returns true if the worker may need more time than a slice to answer a message. */
const isLong = (message: ToWorker): boolean => {
  if (message.kind === "ask") return message.what !== "shared";
  return message.kind !== "question" && message.kind !== "operations";
};

/** Returns true if a message starts a run or a sweep. */
const begins = (message: ToWorker): boolean =>
  (message.kind === "command" && (message.command.kind === "reset" || message.command.kind === "restore")) ||
  (message.kind === "sweep" && message.spec !== null);

export class Line {
  readonly worker = new Worker(new URL("./worker.ts", import.meta.url), { type: "module", name: "hothouse" });
  /**
   * Name of the channel that reports panics. The name is unique among tabs. It is not made with `crypto.randomUUID`, which is missing
   * without https.
   */
  readonly channel = `hothouse-${Date.now()}-${Math.random()}`;
  private readonly panics = new BroadcastChannel(this.channel);
  private readonly closing = new AbortController();
  private readonly pending = new Map<number, PendingQuestion>();
  private questions = 0;
  private opened = false;
  private beginning = true;
  /** Number of intervals since the last reply to a heartbeat. */
  private silence = 0;
  /** True if the listener has been notified of the silence. */
  private silent = false;
  private crashText: string | null = null;

  constructor(private readonly listener: LineListener) {
    this.panics.onmessage = ({ data }) => this.crashed(String(data), true);
    this.worker.onmessage = ({ data }: MessageEvent<FromWorker>) => this.receive(data);
    this.worker.onerror = (event) => this.crashed(event.message || "the worker could not be loaded", false);
    const timer = setInterval(() => this.beat(), BEAT_MS);
    this.closed.addEventListener("abort", () => clearInterval(timer));
  }

  /** Signal that aborts when the line closes. */
  get closed(): AbortSignal {
    return this.closing.signal;
  }

  send(message: ToWorker, transfer: Transferable[] = []): void {
    this.beginning ||= begins(message);
    this.worker.postMessage(message, transfer);
  }

  /**
   * Sends a question, which the worker answers between two slices. If the worker refuses the question, rejects with the worker's message.
   */
  question<T>(make: (id: number) => ToWorker, transfer: Transferable[] = []): Promise<T> {
    const id = this.questions++;
    return new Promise<T>((resolve, reject) => {
      const message = make(id);
      this.pending.set(id, { long: isLong(message), resolve: resolve as (value: unknown) => void, reject });
      this.send(message, transfer);
    });
  }

  close(): void {
    this.closing.abort();
    this.worker.terminate();
    this.panics.close();
    for (const { reject } of this.pending.values()) reject(new Error("The run was closed."));
    this.pending.clear();
  }

  private receive(message: FromWorker): void {
    switch (message.kind) {
      case "beat":
        return this.endSilence();
      case "answer":
      case "refused":
        return this.answered(message);
      case "failed":
      case "crash":
        return this.crashed(message.text, false);
      case "opened":
        this.opened = true;
        break;
      case "events":
      case "sweep":
        this.beginning = false;
    }
    this.listener.received(message);
  }

  private answered(message: FromWorker & { kind: "answer" | "refused" }): void {
    const question = this.pending.get(message.id);
    this.pending.delete(message.id);
    if (message.kind === "answer") question?.resolve(message.value);
    else question?.reject(new Error(message.text));
  }

  private endSilence(): void {
    this.silence = 0;
    if (this.silent) this.listener.silence(null);
    this.silent = false;
  }

  /**
   * Sends a heartbeat and checks whether the worker is silent. This check is needed, because a browser that kills a worker, for example to
   * free memory, sends no event.
   */
  private beat(): void {
    if (this.silence++ === 0) this.send({ kind: "beat" });
    const busy = this.beginning || [...this.pending.values()].some(({ long }) => long);
    if (this.silent || this.silence < (busy ? BUSY_BEATS : SILENT_BEATS)) return;
    const text = `The training worker has not answered for ${(this.silence * BEAT_MS) / 1000} s`;
    if (!this.opened) return this.crashed(text, true);
    this.silent = true;
    this.listener.silence(text);
  }

  /**
   * Reports a crash once. The panicking thread, the worker and the browser may each cause a call. A `final` text, such as the text of the
   * panic, replaces the text of an earlier call.
   */
  private crashed(text: string, final: boolean): void {
    if (this.closed.aborted) return;
    const first = this.crashText === null;
    if (first || final) this.crashText = text;
    if (!first) return;
    setTimeout(() => {
      if (this.closed.aborted) return;
      this.close();
      this.listener.crashed(this.crashText ?? text);
    }, CRASH_GATHER_MS);
  }
}
