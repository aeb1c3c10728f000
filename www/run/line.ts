// The page's line to the worker of a run: messages, questions and their answers, whether the worker still answers, and what ended it.
// It refuses to know what a run is.

import type { FromWorker, ToWorker } from "./worker";

/** A panic's text and the trap it causes arrive on two ways; the text is worth a short wait. */
const CRASH_GATHER_MS = 200;
/** How often the worker is asked whether it is there. */
const BEAT_MS = 1000;
/** It answers between two slices of its work; after so many beats without an answer it may have been ended. */
const SILENT_BEATS = 15;
/** The same where it has to do what cannot be cut: to begin a run, to test it, to read a file. */
const BUSY_BEATS = 60;

export interface Hears {
  heard(message: FromWorker): void;
  /** The worker does not answer, in words; or, with null, it answers again. */
  silence(text: string | null): void;
  /** The worker has ended, and with it the line. */
  crashed(text: string): void;
}

type Asked = { long: boolean; resolve(value: unknown): void; reject(error: Error): void };

/** Whether an answer may take the worker longer than a slice of its work. */
const isLong = (message: ToWorker): boolean => {
  if (message.kind === "ask") return message.what !== "shared";
  return message.kind !== "question" && message.kind !== "operations";
};

/** Whether a run, or a sweep, is about to begin. */
const begins = (message: ToWorker): boolean =>
  (message.kind === "command" && (message.command.kind === "reset" || message.command.kind === "restore")) ||
  (message.kind === "sweep" && message.spec !== null);

export class Line {
  readonly worker = new Worker(new URL("./worker.ts", import.meta.url), { type: "module", name: "hothouse" });
  /** Where a panic is told: its own among all tabs. (`crypto.randomUUID` is missing where a host has no https.) */
  readonly channel = `hothouse-${Date.now()}-${Math.random()}`;
  private readonly panics = new BroadcastChannel(this.channel);
  private readonly closing = new AbortController();
  private readonly asked = new Map<number, Asked>();
  private questions = 0;
  private opened = false;
  private beginning = true;
  /** Beats since its last answer, and whether that was told. */
  private silence = 0;
  private silent = false;
  private crashText: string | null = null;

  constructor(private readonly hears: Hears) {
    this.panics.onmessage = ({ data }) => this.crashed(String(data), true);
    this.worker.onmessage = ({ data }: MessageEvent<FromWorker>) => this.receive(data);
    this.worker.onerror = (event) => this.crashed(event.message || "the worker could not be loaded", false);
    const timer = setInterval(() => this.beat(), BEAT_MS);
    this.closed.addEventListener("abort", () => clearInterval(timer));
  }

  /** Aborted once the line is closed. */
  get closed(): AbortSignal {
    return this.closing.signal;
  }

  send(message: ToWorker, transfer: Transferable[] = []): void {
    this.beginning ||= begins(message);
    this.worker.postMessage(message, transfer);
  }

  /** The worker answers between two slices of its work, or refuses in words. */
  question<T>(make: (id: number) => ToWorker, transfer: Transferable[] = []): Promise<T> {
    const id = this.questions++;
    return new Promise<T>((resolve, reject) => {
      const message = make(id);
      this.asked.set(id, { long: isLong(message), resolve: resolve as (value: unknown) => void, reject });
      this.send(message, transfer);
    });
  }

  close(): void {
    this.closing.abort();
    this.worker.terminate();
    this.panics.close();
    for (const { reject } of this.asked.values()) reject(new Error("The run was closed."));
    this.asked.clear();
  }

  private receive(message: FromWorker): void {
    switch (message.kind) {
      case "beat":
        return this.answers();
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
    this.hears.heard(message);
  }

  private answered(message: FromWorker & { kind: "answer" | "refused" }): void {
    const asked = this.asked.get(message.id);
    this.asked.delete(message.id);
    if (message.kind === "answer") asked?.resolve(message.value);
    else asked?.reject(new Error(message.text));
  }

  private answers(): void {
    this.silence = 0;
    if (this.silent) this.hears.silence(null);
    this.silent = false;
  }

  /** A browser that ends a worker, as where memory is short, tells nobody: it no longer answers then. */
  private beat(): void {
    if (this.silence++ === 0) this.send({ kind: "beat" });
    const busy = this.beginning || [...this.asked.values()].some(({ long }) => long);
    if (this.silent || this.silence < (busy ? BUSY_BEATS : SILENT_BEATS)) return;
    const text = `The worker that trains has not answered for ${(this.silence * BEAT_MS) / 1000} s`;
    if (!this.opened) return this.crashed(text, true);
    this.silent = true;
    this.hears.silence(text);
  }

  /** Told by the panicking thread (with the text), by the worker, or by the browser: once. */
  private crashed(text: string, final: boolean): void {
    if (this.closed.aborted) return;
    const first = this.crashText === null;
    if (first || final) this.crashText = text;
    if (!first) return;
    setTimeout(() => {
      if (this.closed.aborted) return;
      this.close();
      this.hears.crashed(this.crashText ?? text);
    }, CRASH_GATHER_MS);
  }
}
