// State that tells who has read it when it changes, so that a view is written from state and nobody marks by hand what is out of date.

/** What is read within `derived` or `effect` is followed from there on. */
export interface Readable<T> {
  readonly value: T;
}
export interface State<T> {
  value: T;
}

/** Puts off what is to be done again. */
export type Schedule = (again: () => void) => void;

type Readers = Set<Reader>;
type Reader = { follows: Set<Readers>; changed(): void };

let reading: Reader | undefined;

function follow(readers: Readers): void {
  if (!reading) return;
  readers.add(reading);
  reading.follows.add(readers);
}

function forget(reader: Reader): void {
  for (const readers of reader.follows) readers.delete(reader);
  reader.follows.clear();
}

function tell(readers: Readers): void {
  for (const reader of [...readers]) reader.changed();
}

/** Follows what is read from here on, and nothing that was read before. */
function followed<T>(reader: Reader, read: () => T): T {
  forget(reader);
  const outer = reading;
  reading = reader;
  try {
    return read();
  } finally {
    reading = outer;
  }
}

/** Reads without following. */
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
      follow(readers);
      return now;
    },
    set value(next) {
      if (Object.is(now, next)) return;
      now = next;
      tell(readers);
    },
  };
}

/** Computed when it is read and something that it was computed from has changed. */
export function derived<T>(compute: () => T): Readable<T> {
  const readers: Readers = new Set();
  let known: { value: T } | undefined;
  const reader: Reader = {
    follows: new Set(),
    changed: () => {
      known = undefined;
      forget(reader);
      tell(readers);
    },
  };
  return {
    get value() {
      follow(readers);
      known ??= { value: followed(reader, compute) };
      return known.value;
    },
  };
}

/** At once. */
export const atOnce: Schedule = (again) => again();

/** Soon, and at most every `ms`. */
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

/** Does something now, and again after what it has read has changed, as often as `schedule` lets it; returns how to stop. */
export function effect(run: () => void, schedule: Schedule): () => void {
  let [due, ended] = [false, false];
  const again = (): void => {
    due = false;
    if (!ended) followed(reader, run);
  };
  const reader: Reader = {
    follows: new Set(),
    changed: () => {
      if (due || ended) return;
      due = true;
      schedule(again);
    },
  };
  again();
  return () => {
    ended = true;
    forget(reader);
  };
}
