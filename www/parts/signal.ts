// Reactive state. A change of a value notifies all of its readers, so that views update automatically.

/** A value that can be read. `derived` and `effect` track the values that they read. */
export interface Readable<T> {
  readonly value: T;
}
export interface State<T> {
  value: T;
}

/** Function that decides when an effect is repeated. It calls `again` immediately or later. */
export type Schedule = (again: () => void) => void;

type Readers = Set<Reader>;
type Reader = { sources: Set<Readers>; changed(): void };

let reading: Reader | undefined;

function track(readers: Readers): void {
  if (!reading) return;
  readers.add(reading);
  reading.sources.add(readers);
}

function untrack(reader: Reader): void {
  for (const readers of reader.sources) readers.delete(reader);
  reader.sources.clear();
}

function notify(readers: Readers): void {
  for (const reader of [...readers]) reader.changed();
}

/** Runs `read`, and registers `reader` with each value that `read` reads. The registrations of the previous call for `reader` end. */
function tracked<T>(reader: Reader, read: () => T): T {
  untrack(reader);
  const outer = reading;
  reading = reader;
  try {
    return read();
  } finally {
    reading = outer;
  }
}

/** Runs `read` without registering a reader. */
export function untracked<T>(read: () => T): T {
  const outer = reading;
  reading = undefined;
  try {
    return read();
  } finally {
    reading = outer;
  }
}

export function state<T>(first: T): State<T> {
  const readers: Readers = new Set();
  let now = first;
  return {
    get value() {
      track(readers);
      return now;
    },
    set value(next) {
      if (Object.is(now, next)) return;
      now = next;
      notify(readers);
    },
  };
}

/** Creates a value that is computed when it is first read, and when it is read after a change of the values on which it depends. */
export function derived<T>(compute: () => T): Readable<T> {
  const readers: Readers = new Set();
  let cached: { value: T } | undefined;
  const reader: Reader = {
    sources: new Set(),
    changed: () => {
      cached = undefined;
      untrack(reader);
      notify(readers);
    },
  };
  return {
    get value() {
      track(readers);
      cached ??= { value: tracked(reader, compute) };
      return cached.value;
    },
  };
}

/** Schedule that repeats an effect immediately after each change. */
export const atOnce: Schedule = (again) => again();

/** Returns a schedule that repeats an effect asynchronously, at most once in `ms`. */
export function paced(ms: number): Schedule {
  let lastMs = -Infinity;
  return (again) => {
    const due = (): void => {
      lastMs = performance.now();
      again();
    };
    setTimeout(due, Math.max(0, lastMs + ms - performance.now()));
  };
}

/**
 * Calls `run` now, and again after each change of a value that `run` has read. `schedule` decides when the repeated call occurs. The
 * returned function ends the effect.
 */
export function effect(run: () => void, schedule: Schedule): () => void {
  let [due, ended] = [false, false];
  const again = (): void => {
    due = false;
    if (!ended) tracked(reader, run);
  };
  const reader: Reader = {
    sources: new Set(),
    changed: () => {
      if (due || ended) return;
      due = true;
      schedule(again);
    },
  };
  again();
  return () => {
    ended = true;
    untrack(reader);
  };
}
