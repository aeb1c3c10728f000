// Reads the monitor that the wasm module writes: new rows of metrics and tests, without a message and without the
// worker's doing. Where memory is shared it is that of the module; elsewhere a copy that the worker sends a few times a
// second. It refuses to write, and to know how the memory is laid out: the module says so (crates/run/src/monitor.rs).

import type { Cursor, Event, Layout, Progress, TrackLayout } from "./protocol";

/** Where the module keeps its monitor; the memory itself only where it is shared. */
export interface Place {
  layout: Layout;
  offset: number;
  memory: WebAssembly.Memory | null;
}

const WORD = 8;
/** Iteration and seconds of training, before the counters. */
const PROGRESS_HEAD = 2;
/** How often what is being rewritten is looked at again before the next visit. */
const PATIENCE = 100;

/** A record's place among all that was told, and what it says. */
type Placed = [place: number, event: Event];
type Track = { kind: "metrics" | "test"; layout: TrackLayout; next: number };

export class Monitor {
  private readonly layout: Layout;
  /** The same memory twice: for sequence numbers, and for what stands under them. */
  private words: BigUint64Array | undefined;
  private floats: Float64Array | undefined;
  private epoch = 0;
  private readonly tracks: Track[];

  constructor({ layout, offset, memory }: Place) {
    this.layout = layout;
    this.tracks = [
      { kind: "metrics", layout: layout.metrics, next: 0 },
      { kind: "test", layout: layout.tests, next: 0 },
    ];
    if (memory) this.look(memory.buffer, offset, layout.words);
  }

  /** A copy of the part before the histories, as new as the worker could send it. */
  copy(words: ArrayBuffer): void {
    this.look(words, 0, words.byteLength / WORD);
  }

  /** A run has begun, of which all up to here is known. */
  begin(cursor: Cursor): void {
    this.epoch = cursor.epoch;
    this.tracks[0]!.next = cursor.metrics;
    this.tracks[1]!.next = cursor.tests;
  }

  /** What the run told since the last call, in its order. */
  read(): Event[] {
    if (!this.words || this.word(this.layout.epoch) !== this.epoch) return [];
    const before = this.tracks.map(({ next }) => next);
    const rows = this.tracks.flatMap((track) => this.newer(track));
    // A run that began meanwhile comes with its own beginning; what was read may be of either.
    if (this.word(this.layout.epoch) !== this.epoch) {
      this.tracks.forEach((track, t) => (track.next = before[t]!));
      return [];
    }
    return rows.sort((a, b) => a[0] - b[0]).map(([, event]) => event);
  }

  /** How far the run is at this moment. */
  progress(): Progress | undefined {
    return this.words && this.word(this.layout.epoch) === this.epoch ? this.progressAt(this.layout.progress) : undefined;
  }

  private look(buffer: ArrayBufferLike, offset: number, words: number): void {
    this.words = new BigUint64Array(buffer, offset, words);
    this.floats = new Float64Array(buffer, offset, words);
  }

  private word(at: number): number {
    return Number(Atomics.load(this.words!, at));
  }

  private newer(track: Track): Placed[] {
    const { head, ring, ring_records, record } = track.layout;
    const end = this.word(head);
    let first = Math.max(track.next, end - ring_records);
    let rows: Placed[] = [];
    for (let ordinal = first; ordinal < end; ordinal++) {
      const at = ring + record * (ordinal % ring_records);
      const before = this.word(at);
      const row = this.row(track, at);
      if (before === 2 * ordinal + 2 && this.word(at) === before) rows.push(row);
      else {
        // The writer has come round: everything up to here is older than its ring.
        rows = [];
        first = ordinal + 1;
      }
    }
    if (first > track.next) rows = [...this.missed(track, track.next, first), ...rows];
    track.next = Math.max(track.next, end);
    return rows;
  }

  /** What the ring has lost is in the history, if thinner; a copy comes without it. */
  private missed(track: Track, from: number, to: number): Placed[] {
    const { kept, history, history_records, record } = track.layout;
    if (history + record * history_records > this.words!.length) return [];
    for (let tries = 0; tries < PATIENCE; tries++) {
      const generation = this.word(this.layout.generation);
      if (generation % 2) continue;
      const rows: Placed[] = [];
      for (let i = 0; i < Math.min(this.word(kept), history_records); i++) {
        const ordinal = this.word(history + record * i) / 2 - 1;
        if (ordinal >= from && ordinal < to) rows.push(this.row(track, history + record * i));
      }
      if (this.word(this.layout.generation) === generation) return rows;
    }
    return [];
  }

  private row({ kind, layout }: Track, at: number): Placed {
    const from = at + layout.record_head;
    const to = from + PROGRESS_HEAD + layout.counters;
    const values = Array.from(this.floats!.subarray(to, to + layout.values), (value) => (Number.isNaN(value) ? null : value));
    return [this.word(at + 1), { kind, progress: this.progressAt(from), values }];
  }

  private progressAt(at: number): Progress {
    const [iteration, train_s, ...counts] = this.floats!.subarray(at, at + PROGRESS_HEAD + this.layout.metrics.counters);
    return { iteration: iteration!, counts, train_s: train_s! };
  }
}
