// Interface between a room and its page: the room's extension of the page, and the page as the room's views use it.

import type { Client, Options } from "../run/client";
import type { Began, Event as RunEvent, Progress, Value, Variant } from "../run/protocol";
import type { Announcer } from "./announce";
import type { ChartWords, CurveWords } from "./curves";
import type { History } from "./history";
import type { Late } from "./late";
import type { Notices } from "./notices";
import type { Command } from "./commands";
import type { Section } from "./places";
import type { Gesture, Shortcut } from "./shortcuts";
import type { Step } from "./tour";
import type { Trained, TrainedAgent, TrainedSources } from "./trained";
import type { UnitsState } from "./units";

/** An explanation. `equation` is markup, shown in a collapsed section titled `summary`. */
export type Explanation = { heading: string; words: string; equation?: string; summary?: string };

/**
 * Everything that a room adds to the page. The page builds the rest from the room's declarations in Rust. `C` is the type of the room's
 * client, which can ask the room's questions.
 */
export interface RoomExtension<C extends Client = Client> {
  curves?: CurveWords;
  /** Budgets that the form of a sweep offers for each run, in units of the first counter. */
  budgets?: number[];
  /** Returns true if a sweep may compare these two variants. */
  comparable?(a: Variant, b: Variant): boolean;
  /** Names of the knobs beside the curve. The variant's first live knobs fill the remaining places. */
  knobs?: string[];
  tour?: Step[];
  /** Features of this room, listed in the help dialog. */
  can?: string[];
  /** Touch gestures of this room, listed in the help dialog. */
  gestures?: Gesture[];
  /** Text about the contents of a saved run and of a link, for the section "Save and share". */
  saved?: string;
  /** Creates the trained agent that answers questions beside the visitor's agent. */
  trained?(client: C, sources: TrainedSources): Trained;
  view?(page: RoomPage<C>): View;
}

/** A variant whose runs need data of the visitor. */
export interface OwnVariant {
  /** Description of the variant before its first run. */
  variant: Variant;
  /** Returns the data of the first run. */
  data(): Promise<File>;
}

/** Pictures and texts of a room. */
export interface View {
  /** The picture of the room, with its main action. In a room without a stage, the curves take its place. */
  stage?: HTMLElement;
  /** Selector of the elements of the stage that a saved picture shows. By default, a saved picture shows the stage's canvases. */
  pictured?: string;
  /** Elements under the curves, beside the stage. */
  beside?: HTMLElement[];
  /** Sections of the tabs, placed before the sections that every room has. */
  sections?: Section[];
  /** The state for which the units of the networks are drawn, if the room's learner has such networks. */
  units?: UnitsState;
  /** A drawing of the learner's network, above the histograms of its weights. It is loaded when its section is first shown. */
  network?: { readonly element: HTMLElement; show(): void };
  /** The variant of the runs on the visitor's own data, if the room's list of variants does not contain it. */
  ownVariant?: OwnVariant;
  /** Handler for a dropped file that is not a saved run. `words` is the label of the drop area. */
  drops?: { words: string; take(file: File): void };
  keys?: Shortcut[];
  /** Keys that a picture handles itself, for the list of shortcuts. */
  otherKeys?: Gesture[];
  /** Returns the name of a variant in the switch between variants. */
  nameOf?(variant: Variant): string;
  headline?(): string;
  /** Returns the status of the run in one or two sentences. */
  status?(present: History): string;
  /**
   * Returns the status for a screen reader, if this text differs from `status`. If the result is undefined, the page uses its own sentence.
   */
  spoken?(present: History): string | undefined;
  explanations?(): Promise<Explanation[]>;
  /** Returns the chart texts for the current variant. */
  charts?(): Record<string, ChartWords>;
  /** Returns the growth of the first counter per second at real-time speed, if the room's simulations have such a speed. */
  realTime?(): number;
  /** Called when a run begins; `another` is true for the first run and after a change of variant. */
  began?(began: Began, another: boolean): void;
  /** Called for each event of the run, after the page has handled it. */
  take?(event: RunEvent): void;
  /** Called when the trained agent arrives, leaves or is overtaken. */
  trained?(agent: TrainedAgent): void;
  /** Called ten times a second. */
  refresh?(): void;
}

export interface PageContext {
  notices: Notices;
  announcer: Announcer;
  open(options: Omit<Options, "room" | "module"> & { room?: string; variant?: string }): void;
  /** Returns the commands of the header, which do not depend on the room. */
  commands(): Command[];
}

/** The page as the room's views use it. */
export interface RoomPage<C extends Client = Client> {
  readonly client: C;
  readonly around: Pick<PageContext, "notices">;
  readonly announcer: Announcer;
  /** The current run; undefined until the first run has begun. */
  readonly present: History | undefined;
  readonly progress: Progress;
  /** Unit of the first counter, in words. */
  readonly unit: string;
  readonly trained: TrainedAgent | undefined;
  /** Redraws the curves after a change that has no event. */
  showCurves(): void;
  /**
   * Starts a run with these knobs on a file or text. Without `source`, the run uses the room's own data. Rejects with a message if the run
   * cannot start.
   */
  learnFrom(source: File | string | undefined, knobs: Record<string, Value>): Promise<void>;
  begin(variant: Variant, knobs: Record<string, Value>): Promise<void>;
  /** Switches to the variant `View.ownVariant`. */
  chooseOwn(): void;
  /** Shows the picture of the room. */
  showStage(): void;
  /** True if the visitor has not been in this room before. Always false in a frame. */
  readonly isFirstVisit: boolean;
  /** True if the page is a frame in another page. A frame has no editor and no tours. */
  readonly framed: boolean;
  /** Sets the speed of training; `index` is the position in `SPEEDS`. */
  setSpeed(index: number): void;
  /** Creates a part that is loaded when its section is first shown. */
  late<Part extends { readonly element: HTMLElement }>(load: () => Promise<() => Part>): Late<Part>;
  /** Starts a tour with these steps. */
  beginTour(steps: Step[]): void;
}
