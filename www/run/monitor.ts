// Reads the monitor that the wasm module writes. The worker takes new rows of metrics and tests from it, for the page; where memory is
// shared, the page reads from it how far the run is at any moment. Both refuse to write, and to know how the memory is laid out: the
// module says so (crates/run/src/monitor).

import type { Cursor, Event, Layout, Progress, TrackLayout } from "./protocol";

/** Where the module keeps its monitor; the memory itself only where it is shared. */
export interface Place {
  layout: Layout;
  offset: number;
  memory: WebAssembly.Memory | null;
}

/** Iteration and seconds of training, before the counters. */
const PROGRESS_HEAD = 2;

/** The same memory twice: for sequence numbers, and for what stands under them. */
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

/** A record's place among all that was told, and what it says. */
type Placed = [place: number, event: Event];
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

  /** Memory that grows is another buffer. */
  look(buffer: ArrayBufferLike, offset: number): void {
    this.words = new TwoViews(this.words.layout, buffer, offset);
  }

  begin(cursor: Cursor): void {
    this.epoch = cursor.epoch;
    this.metrics.next = cursor.metrics;
    this.tests.next = cursor.tests;
  }

  /** What the run told since the last call, in its order. A run that has begun meanwhile comes with its own beginning. */
  read(): Event[] {
    if (!this.isOfRun()) return [];
    const rows = [...this.newer(this.metrics), ...this.newer(this.tests)];
    return rows.sort((a, b) => a[0] - b[0]).map(([, event]) => event);
  }

  progress(): Progress | null {
    return this.isOfRun() ? this.words.progress() : null;
  }

  private isOfRun(): boolean {
    return this.words.at(this.words.layout.epoch) === this.epoch;
  }

  private newer(track: Track): Placed[] {
    const { head, ring, ring_records, record } = track.layout;
    const end = this.words.at(head);
    const rows: Placed[] = [];
    // Whatever is older than the ring is in the run's own history.
    for (let ordinal = Math.max(track.next, end - ring_records); ordinal < end; ordinal++)
      rows.push(this.row(track, ring + record * (ordinal % ring_records)));
    track.next = end;
    return rows;
  }

  private row({ kind, layout }: Track, at: number): Placed {
    const from = at + layout.record_head;
    const to = from + PROGRESS_HEAD + layout.counters;
    const values = this.words.values(to, to + layout.values);
    return [this.words.at(at + 1), { kind, progress: this.words.progress(from), values }];
  }
}

/** How far a run is, for the page: at this moment where memory is shared, and else as it was told last. */
export class Heartbeat {
  private readonly words: TwoViews | undefined;
  private epoch = 0;
  private newest: Progress | undefined;

  constructor({ layout, offset, memory }: Place) {
    this.words = memory ? new TwoViews(layout, memory.buffer, offset) : undefined;
  }

  /** What came with events, and the epoch of a run that began with them. */
  told(progress: Progress | null, epoch: number | null): void {
    this.newest = progress ?? this.newest;
    if (epoch !== null) this.epoch = epoch;
  }

  progress(): Progress | undefined {
    const { words } = this;
    if (!words) return this.newest;
    return words.at(words.layout.epoch) === this.epoch ? words.progress() : undefined;
  }
}
