// Base class of the room's page and of its frame in another page: the current run, its knobs and its curve.

import type { Client } from "../run/client";
import { textOf } from "../run/notice";
import type { Progress, RunState, Standing } from "../run/protocol";
import type { Announcer } from "./announce";
import type { RunCurves } from "./curves";
import { minus, plural, two } from "./format";
import type { History } from "./history";
import type { Knobs } from "./knobs";
import { Late } from "./late";
import type { Notices } from "./notices";
import { Present } from "./present";
import type { Readout } from "./readout";

export abstract class Shown<Around extends { notices: Notices; announcer: Announcer }> {
  protected readonly state: Present;
  protected abstract readonly knobs: Knobs;
  protected abstract readonly curves: RunCurves;
  protected abstract readonly readout: Readout;
  /** State of the current run that was announced last. */
  private announced: RunState = "learning";

  constructor(
    readonly client: Client,
    readonly around: Around,
  ) {
    this.state = new Present(client.room);
  }

  get announcer(): Announcer {
    return this.around.announcer;
  }

  get present(): History | undefined {
    return this.state.run.value;
  }

  get progress(): Progress {
    return this.client.progress ?? this.present?.progress ?? { iteration: 0, counts: [], train_s: 0 };
  }

  get unit(): string {
    return plural(this.client.room.counters[0]!);
  }

  /** Creates a part that is loaded when its section is first shown. */
  late<Part extends { readonly element: HTMLElement }>(load: () => Promise<() => Part>): Late<Part> {
    const failed = (error: unknown): void =>
      this.around.notices.show(
        "error",
        `This part could not be loaded: ${textOf(error)}`,
        "Check the connection and open the section again.",
      );
    return new Late(load, failed);
  }

  showCurves(): void {
    this.present?.bumpRevision();
  }

  /** Shows the scheduled learning rate beside the knob of the initial rate. */
  protected showLearningRate(): void {
    const lr = this.present?.latest("lr");
    this.knobs.showNow("lr", lr === undefined ? "" : `now ${two(lr)}`);
  }

  /** Shows the leading number, and announces another state. */
  protected showStanding(standing: Standing): void {
    this.curves.lead.show(standing);
    const { state } = standing;
    if (state === this.announced) return;
    this.announced = state;
    if (state !== "learning") this.announcer.say(this.readout.result());
  }

  /** Text of the leading number with its name; undefined before the first test. */
  protected get leadWords(): string | undefined {
    const standing = this.present?.standing.value;
    return standing && standing.value !== null ? `${standing.name} ${minus(standing.number)}` : undefined;
  }

  protected labelOf(knob: string): string {
    return this.client.knobs.find(({ name }) => name === knob)?.label ?? knob;
  }
}
