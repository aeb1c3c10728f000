// The page's handle on the room of backgammon: a run, and beside it a table and an analysis. It refuses to draw anything.

import type { Answers, FromWorker, Question, ToWorker } from "./worker";
import type { GpuFailure } from "../gpu";
import type { Device, DeviceWish, Knob, Level } from "../protocol";
import type { Act, Analysis, Branch, Command, Engine, Event, Inquiry, Learner, Review, Setup, Table, Unfold } from "./protocol";
import { Handle, openFastest, type Crash, type InUse, type Options, type Tells } from "../handle";
import type { Saved } from "../store";

export interface Parlour {
  /** Of the learner that learns; another has others. */
  readonly knobs: Knob[];
  readonly learners: Learner[];
  readonly backend: InUse;
  /** What trains, once that is decided for this run. */
  readonly device: Device | undefined;
  /** What was wished for when the room opened. */
  readonly wished: DeviceWish;
  /** The runs of earlier visits that this browser held when the room opened, the newest first. */
  readonly keptRuns: Saved[];
  /** As it stood when the newest run began. */
  readonly table: Table | null;
  command(command: Command): void;
  save(): Promise<Uint8Array>;
  /** `#/backgammon?env=…`: the run as a link, with its newest digest where no knob was changed live. */
  permalink(): Promise<string>;
  nativeCommand(): Promise<string>;
  /** These answer between two slices of training, and where they refuse, their error says why. */
  analyse(inquiry: Inquiry): Promise<Analysis>;
  unfold(unfold: Unfold): Promise<Branch[]>;
  sit(setup: Setup): Promise<Table>;
  act(act: Act): Promise<Table>;
  /** For whoever is to move at the table. */
  hint(engine: Engine): Promise<Analysis>;
  /** Of the person's last turn. */
  review(engine: Engine): Promise<Review>;
  /** The match so far as text that other programs read. */
  transcript(): Promise<string>;
  /** Adds a listener. Events from before the first one are kept for it. */
  onEvent(callback: (event: Event) => void): void;
  onCrash(callback: (crash: Crash) => void): void;
  /** Panics on purpose, to see what follows; for tests and the console. */
  panic(inPool?: boolean): void;
  /** Lets the GPU fail in a way of one's choice, likewise. */
  failGpu(how: GpuFailure): void;
  /** Closes it with its autosave as new as can be, which it gives back. */
  leave(): Promise<Uint8Array | null>;
  close(): void;
}

/** A run takes some twenty megabytes, which is much for a disk to write more often. */
const AUTOSAVE_MS = 30_000;

declare global {
  /** The newest parlour, which is `hothouse` as long as this room is open. */
  var parlour: Parlour | undefined;
}

export async function connect(options: Options = {}): Promise<Parlour> {
  const parlour = await openFastest(options, (wished) => new WorkerParlour(wished));
  globalThis.parlour = parlour;
  return parlour;
}

class WorkerParlour extends Handle implements Parlour {
  knobs: Knob[] = [];
  learners: Learner[] = [];
  table: Table | null = null;

  private early: Event[] = [];
  private readonly listeners: ((event: Event) => void)[] = [];

  constructor(wished: DeviceWish) {
    super(wished, new Worker(new URL("./worker.ts", import.meta.url), { type: "module", name: "hothouse-backgammon" }), "backgammon", AUTOSAVE_MS);
  }

  protected override receive(message: FromWorker): void {
    if (message.kind === "events") for (const event of message.events) this.tell(event);
    else if (message.kind === "run") {
      this.knobs = message.knobs;
      this.table = message.table;
    }
    else if (message.kind === "opened") {
      this.knobs = message.knobs;
      this.learners = message.learners;
      this.table = message.table;
      this.ready(message.backend);
    } else this.common(message satisfies Tells);
  }

  private tell(event: Event): void {
    if (event.kind === "began") this.device = undefined;
    if (event.kind === "device") this.device = event;
    if (this.listeners.length === 0) this.early.push(event);
    for (const listen of this.listeners) listen(event);
  }

  protected override notice(level: Level, text: string, next_step: string): void {
    this.tell({ kind: "notice", level, text, next_step });
  }

  protected override send(message: ToWorker): void {
    super.send(message);
  }

  private question<Name extends keyof Answers>(what: Question & { what: Name }): Promise<Answers[Name]> {
    return this.ask(what);
  }

  command = (command: Command) => this.send({ kind: "command", command });
  save = () => this.question({ what: "save" });
  permalink = () => this.question({ what: "permalink" });
  nativeCommand = () => this.question({ what: "native_command" });
  analyse = (inquiry: Inquiry) => this.question({ what: "analyse", inquiry });
  unfold = (unfold: Unfold) => this.question({ what: "unfold", unfold });
  sit = (setup: Setup) => this.question({ what: "sit", setup });
  act = (act: Act) => this.question({ what: "act", act });
  hint = (engine: Engine) => this.question({ what: "hint", engine });
  review = (engine: Engine) => this.question({ what: "review", engine });
  transcript = () => this.question({ what: "transcript" });

  onEvent = (callback: (event: Event) => void) => {
    this.listeners.push(callback);
    for (const event of this.early.splice(0)) callback(event);
  };
}

