// Reads the monitor, a memory region that the wasm module writes. The worker reads new metrics and test rows from it. With shared
// memory, the page also reads the current progress from it. The module passes the layout (crates/run/src/monitor).

import type { Cursor, Event, Layout, Progress, TrackLayout } from "./protocol";

/** Location of the monitor. `memory` is null unless it is shared. */
export interface MonitorLocation {
  layout: Layout;
  offset: number;
  memory: WebAssembly.Memory | null;
}

/** Words before the counters: iteration and training seconds. */
const PROGRESS_HEAD = 2;

/** Two views of the same memory: integers for sequence numbers, floats for values. */
class TwoViews {
  private readonly words: BigUint64Array;
  private readonly floats: Float64Array;

  constructor(
    readonly layout: Layout,
    buffer: ArrayBufferLike,
    offset: number,
  ) {
    this.words = new BigUint64Array(buffer, offset, layout.words);
    this.floats = new Float64Array(buffer, offset, layout.words);
  }

  at(word: number): number {
    return Number(Atomics.load(this.words, word));
  }

  values(from: number, to: number): (number | null)[] {
    return Array.from(this.floats.subarray(from, to), (value) => (Number.isNaN(value) ? null : value));
  }

  progress(at = this.layout.progress): Progress {
    const [iteration = 0, train_s = 0, ...counts] = this.floats.subarray(at, at + PROGRESS_HEAD + this.layout.metrics.counters);
    return { iteration, counts, train_s };
  }
}

/** A record's position in the order of all records, and its event. */
type Positioned = [position: number, event: Event];
type Track = { kind: "metrics" | "test"; layout: TrackLayout; next: number };

export class Monitor {
  private words: TwoViews;
  private epoch = 0;
  private readonly metrics: Track;
  private readonly tests: Track;

  constructor(layout: Layout, buffer: ArrayBufferLike, offset: number) {
    this.words = new TwoViews(layout, buffer, offset);
    this.metrics = { kind: "metrics", layout: layout.metrics, next: 0 };
    this.tests = { kind: "test", layout: layout.tests, next: 0 };
  }

  /** Replaces the views; growing a memory creates a new buffer. */
  attach(buffer: ArrayBufferLike, offset: number): void {
    this.words = new TwoViews(this.words.layout, buffer, offset);
  }

  begin(cursor: Cursor): void {
    this.epoch = cursor.epoch;
    this.metrics.next = cursor.metrics;
    this.tests.next = cursor.tests;
  }

  /** Rows written since the last call, in order. Empty if another run has begun and `begin` has not yet received its cursor. */
  read(): Event[] {
    if (!this.isCurrentRun()) return [];
    const rows = [...this.newer(this.metrics), ...this.newer(this.tests)];
    return rows.sort((a, b) => a[0] - b[0]).map(([, event]) => event);
  }

  progress(): Progress | null {
    return this.isCurrentRun() ? this.words.progress() : null;
  }

  private isCurrentRun(): boolean {
    return this.words.at(this.words.layout.epoch) === this.epoch;
  }

  private newer(track: Track): Positioned[] {
    const { head, ring, ring_records, record } = track.layout;
    const end = this.words.at(head);
    const rows: Positioned[] = [];
    // Rows that have left the ring remain in the run's history.
    for (let ordinal = Math.max(track.next, end - ring_records); ordinal < end; ordinal++)
      rows.push(this.row(track, ring + record * (ordinal % ring_records)));
    track.next = end;
    return rows;
  }

  private row({ kind, layout }: Track, at: number): Positioned {
    const from = at + layout.record_head;
    const to = from + PROGRESS_HEAD + layout.counters;
    const values = this.words.values(to, to + layout.values);
    return [this.words.at(at + 1), { kind, progress: this.words.progress(from), values }];
  }
}

/** Progress of a run for the page: current with shared memory, otherwise as of the last message. */
export class Heartbeat {
  private readonly words: TwoViews | undefined;
  private epoch = 0;
  private newest: Progress | undefined;

  constructor({ layout, offset, memory }: MonitorLocation) {
    this.words = memory ? new TwoViews(layout, memory.buffer, offset) : undefined;
  }

  /** Takes the progress sent with events; `epoch` is set if they begin a run. */
  update(progress: Progress | null, epoch: number | null): void {
    this.newest = progress ?? this.newest;
    if (epoch !== null) this.epoch = epoch;
  }

  progress(): Progress | undefined {
    const { words } = this;
    if (!words) return this.newest;
    return words.at(words.layout.epoch) === this.epoch ? words.progress() : undefined;
  }
}
