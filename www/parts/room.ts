// What a room brings for its page, and what its pictures may know of the page that they stand in.

import type { Client, Options } from "../run/client";
import type { Began, Event as RunEvent, Progress, Value, Variant } from "../run/protocol";
import type { Announcer } from "./announce";
import type { ChartWords, CurveWords } from "./curves";
import type { History } from "./history";
import type { Notices } from "./notices";
import type { Gesture, Shortcut } from "./shortcuts";
import type { Step } from "./tour";

/** `equation` is markup behind a word, which is `summary` where it is not the equation alone. */
export type Explanation = { heading: string; words: string; equation?: string; summary?: string };
export type Band = { name: string; heading: string; element: HTMLElement; place: "before knobs" | "last" };

/** What a room brings beside what it declares in Rust. All of it may be left out. `C` is a client that can ask the room's questions. */
export interface RoomExtension<C extends Client = Client> {
  curves?: CurveWords;
  /** How much of the first counter a learner of a sweep may be given. */
  budgets?: number[];
  /** Whether a sweep may set these two variants side by side. */
  comparable?(a: Variant, b: Variant): boolean;
  /** Names of the knobs that stand beside the curve; a variant without them shows its first live ones. */
  knobs?: string[];
  /** From what one sees to a knob and to the curve, for who comes for the first time. */
  tour?: Step[];
  /** What one can do in this room alone, for its help, and how a finger does it. */
  can?: string[];
  gestures?: Gesture[];
  /** What a saved run holds, and what a link does. */
  saved?: string;
  view?(page: RoomPage<C>): View;
}

/** A room's own pictures and words. */
export interface View {
  /** What stands first on the page, around the curves of the house. */
  first?(curves: HTMLElement): HTMLElement;
  bands?: Band[];
  /** What becomes of a file that is dropped on the page and is no saved run, and the words for both. */
  drops?: { words: string; take(file: File): void };
  keys?: Shortcut[];
  /** Keys that belong to a picture, for the list of them. */
  otherKeys?: Gesture[];
  /** As the switch names a variant. */
  nameOf?(variant: Variant): string;
  headline?(): string;
  /** How the run stands, in a sentence or two. */
  status?(present: History): string;
  /** The same for a screen reader, where it differs; undefined leaves that to the house. */
  spoken?(present: History): string | undefined;
  explanations?(): Explanation[];
  /** Of the variant that is trained. */
  charts?(): Record<string, ChartWords>;
  /** How fast the first counter grows in real time, where there is such a thing. */
  realTime?(): number;
  /** A run has begun; `another` variant than before, or the first. */
  began?(began: Began, another: boolean): void;
  /** Whatever the run tells, after the house has taken it. */
  take?(event: RunEvent): void;
  /** Ten times a second. */
  refresh?(): void;
}

export type Surroundings = { notices: Notices; announcer: Announcer; open(options: Omit<Options, "room"> & { room?: string }): void };

/** The page of a room, as the room's own pictures know it. */
export interface RoomPage<C extends Client = Client> {
  readonly client: C;
  readonly around: Surroundings;
  readonly announcer: Announcer;
  /** The run that is shown; undefined until the first is heard of. */
  readonly present: History | undefined;
  /** How far the run is at this moment. */
  readonly progress: Progress;
  /** What is counted first, in words. */
  readonly unit: string;
  /** There is something new to draw that the run did not tell. */
  showCurves(): void;
  /** A new run that learns from what is brought, or else from the room's own, with these knobs. What cannot be is refused in words. */
  learnFrom(source: File | string | undefined, knobs: Record<string, Value>): Promise<void>;
  /** A new run of a variant with these knobs. */
  begin(variant: Variant, knobs: Record<string, Value>): Promise<void>;
}
