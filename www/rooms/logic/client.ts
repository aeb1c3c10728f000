// The client of a run of the logic room.

import type { Client } from "../../run/client";
import type { Answers, Experiment, Question, Shows } from "./protocol";

export type LogicClient = Client<Question, Answers>;

/** Description of the experiment in the client's current variant. */
export const experimentOf = (client: LogicClient): Experiment => client.variant.about as Experiment;

/**
 * Selection of the member that the panes show: the member that the visitor picked, otherwise the best. `updates`, `perfect` and `shows`
 * (the kind of cell colours) describe this member.
 */
export class Chosen {
  best = 0;
  updates = 0;
  perfect = false;
  shows: Shows = "channel";
  private picked: number | undefined;

  get member(): number {
    return this.picked ?? this.best;
  }

  pick(member: number | undefined): void {
    this.picked = member;
  }
}
