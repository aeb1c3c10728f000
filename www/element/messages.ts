// Messages between the element of an outer page and its frame (`embed.html`). Each message contains the version of this protocol.

export const PROTOCOL = 1;

/** Elements of the frame besides picture and curve: the buttons (`play`), the three knobs (`knobs`), both (`all`), or neither (`none`). */
export type Controls = "all" | "play" | "knobs" | "none";
/** Colours of the frame; `auto` follows the system. */
export type Theme = "auto" | "light" | "dark";

/** A run that has begun. */
export interface Began {
  /** Name of the room, for example `control`. */
  room: string;
  /** Name of the variant, for example `CartPole-v1`. */
  variant: string;
  /** Link to the run, for example `#/control?variant=CartPole-v1&seed=1&v=2`. */
  link: string;
  /** Number of threads that train. */
  threads: number;
  /** True if the frame is cross-origin isolated, which threads require. */
  isolated: boolean;
}

/** Leading number and state of the run, as all programs of Hothouse show them. */
export interface Standing {
  state: "learning" | "solved" | "still_solved" | "lost_again" | "failed";
  /** State in words, for example `solved at 852 thousand steps and still so`. */
  words: string;
  /** Name of the leading number, for example `average of 100 test episodes`. */
  name: string;
  /** Leading number, a value of the latest test; null if there is none. */
  value: number | null;
  /** Leading number as text, for example `496.3`. */
  number: string;
}

/** State of the run after an iteration. Names of counters and columns are those of the room, as in the events of the terminal. */
export interface Progress {
  iteration: number;
  counts: Record<string, number>;
  /** Seconds of training, without pauses. */
  trainSeconds: number;
  metrics: Record<string, number | null>;
  /** Values of the latest test; empty before the first test. */
  tests: Record<string, number | null>;
  standing: Standing | null;
}

/** Progress at which the run was solved, and its goal. */
export interface Solved {
  iteration: number;
  counts: Record<string, number>;
  trainSeconds: number;
  /** Value that the goal requires. */
  goal: number;
}

export interface Failure {
  message: string;
}

/** Message of the frame to the outer page. The first message is `listening`. */
export type FromFrame =
  | { kind: "listening" }
  | { kind: "began"; detail: Began }
  | { kind: "progress"; detail: Progress }
  | { kind: "solved"; detail: Solved }
  | { kind: "error"; detail: Failure };

export type ToFrame =
  | { kind: "open"; link: string }
  | { kind: "run"; running: boolean }
  | { kind: "knob"; name: string; value: number | string }
  | { kind: "look"; controls: string; theme: string };

/** Adds the version to a message. */
export const posted = (message: FromFrame | ToFrame): object => ({ hothouse: PROTOCOL, ...message });

/** Returns the version of a message of this protocol; undefined for any other data. */
export function versionOf(data: unknown): number | undefined {
  const version = (data as { hothouse?: unknown } | null)?.hothouse;
  return typeof version === "number" ? version : undefined;
}
