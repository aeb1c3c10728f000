// Interface between a room and its page: the room's extension, and the page as the room's views see it.

import type { Client, Options } from "../run/client";
import type { Began, Event as RunEvent, Progress, Value, Variant } from "../run/protocol";
import type { Announcer } from "./announce";
import type { ChartWords, CurveWords } from "./curves";
import type { History } from "./history";
import type { Notices } from "./notices";
import type { Gesture, Shortcut } from "./shortcuts";
import type { Step } from "./tour";

/** Text of an explanation. `equation` is markup in a collapsed section titled `summary`. */
export type Explanation = { heading: string; words: string; equation?: string; summary?: string };
export type Band = { name: string; heading: string; element: HTMLElement; place: "before knobs" | "last" };

/** Optional parts of a room beside its declarations in Rust. `C` is the type of its client, with the room's questions. */
export interface RoomExtension<C extends Client = Client> {
  curves?: CurveWords;
  /** Budgets for a run in a sweep, in units of the first counter. */
  budgets?: number[];
  /** True if a sweep can compare these two variants. */
  comparable?(a: Variant, b: Variant): boolean;
  /** Names of the knobs beside the curve. A variant without them shows its first live knobs. */
  knobs?: string[];
  /** Steps of the tour for new visitors. */
  tour?: Step[];
  /** Features of this room, for its help. */
  can?: string[];
  /** Touch gestures of this room, for its help. */
  gestures?: Gesture[];
  /** Text for "Save and share" about the contents of a saved run and of a link. */
  saved?: string;
  view?(page: RoomPage<C>): View;
}

/** A room's own pictures and texts. */
export interface View {
  /** Returns the top of the page, which must contain the element `curves`. */
  first?(curves: HTMLElement): HTMLElement;
  bands?: Band[];
  /** Handler for a dropped file that is not a saved run; `words` is the label of the drop area. */
  drops?: { words: string; take(file: File): void };
  keys?: Shortcut[];
  /** Keys of a picture, for the list of shortcuts. */
  otherKeys?: Gesture[];
  /** Name of a variant in the switch. */
  nameOf?(variant: Variant): string;
  headline?(): string;
  /** Status of the run in one or two sentences. */
  status?(present: History): string;
  /** Status for a screen reader, if it differs from `status`. With undefined, the page uses its own sentence. */
  spoken?(present: History): string | undefined;
  explanations?(): Explanation[];
  /** Chart texts of the current variant. */
  charts?(): Record<string, ChartWords>;
  /** Growth of the first counter per second at real-time speed, if the room's simulations have such a speed. */
  realTime?(): number;
  /** Called when a run begins; `another` is true for the first run and after a change of variant. */
  began?(began: Began, another: boolean): void;
  /** Called for each event of the run, after the common parts have handled it. */
  take?(event: RunEvent): void;
  /** Called ten times a second. */
  refresh?(): void;
}

export type PageContext = { notices: Notices; announcer: Announcer; open(options: Omit<Options, "room"> & { room?: string }): void };

/** The page as the room's views see it. */
export interface RoomPage<C extends Client = Client> {
  readonly client: C;
  readonly around: PageContext;
  readonly announcer: Announcer;
  /** The current run; undefined until the first one has begun. */
  readonly present: History | undefined;
  /** Current progress of the run. */
  readonly progress: Progress;
  /** Unit of the first counter, in words. */
  readonly unit: string;
  /** Redraws the curves after a change that no event reported. */
  showCurves(): void;
  /** Starts a run on user data, or on the room's own data, with these knobs. Rejects with a message if that is impossible. */
  learnFrom(source: File | string | undefined, knobs: Record<string, Value>): Promise<void>;
  /** Starts a run of a variant with these knobs. */
  begin(variant: Variant, knobs: Record<string, Value>): Promise<void>;
}
