// Reads the monitor, a region of memory that the wasm module writes. The worker reads new rows of metrics and tests from the monitor. If
// the memory is shared, the page also reads the current progress. The module provides the layout of the region (crates/run/src/monitor).

import type { Cursor, Event, Layout, Progress, TrackLayout } from "./protocol";

/** Location of the monitor. `offset` is in bytes. `memory` is null if the memory is not shared. */
export interface MonitorLocation {
  layout: Layout;
  offset: number;
  memory: WebAssembly.Memory | null;
}

/** Number of words in a progress before its counters: the iteration and the training seconds. */
const PROGRESS_HEAD = 2;

/** Two views of the same memory. Integers are used for sequence numbers, and floats are used for values. */
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

/** An event, and its position in the order of all records of metrics and tests. */
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

  /** Replaces the views, because a memory that grows has a new buffer. */
  attach(buffer: ArrayBufferLike, offset: number): void {
    this.words = new TwoViews(this.words.layout, buffer, offset);
  }

  begin(cursor: Cursor): void {
    this.epoch = cursor.epoch;
    this.metrics.next = cursor.metrics;
    this.tests.next = cursor.tests;
  }

  /**
   * Returns the rows that were written since the last call, in order. If another run has begun and `begin` has not been called for it,
   * returns no rows.
   */
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
    // Rows that the ring no longer contains are skipped. The run's history contains them.
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

/**
 * The run's progress as the page knows it. With shared memory, this is the current progress. Otherwise, it is the progress in the last
 * message.
 */
export class Heartbeat {
  private readonly words: TwoViews | undefined;
  private epoch = 0;
  private newest: Progress | undefined;

  constructor({ layout, offset, memory }: MonitorLocation) {
    this.words = memory ? new TwoViews(layout, memory.buffer, offset) : undefined;
  }

  /** Stores the progress that arrived with events. If the events begin a run, `epoch` is the run's epoch; otherwise it is null. */
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
