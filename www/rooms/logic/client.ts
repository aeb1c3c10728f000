// A run of this room, as its pictures ask it.

import type { Client } from "../../run/client";
import type { Answers, Experiment, Question, Shows } from "./protocol";

export type LogicClient = Client<Question, Answers>;

/** What is learned, for whoever draws it. */
export const experimentOf = (client: LogicClient): Experiment => client.variant.about as Experiment;

/** What one looks at: a member of the population, the best, whichever that is, or one that was chosen; and its cells in colours or not. */
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
