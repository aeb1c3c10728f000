// The client of a run of this room.

import type { Client } from "../../run/client";
import type { Answers, Experiment, Question, Shows } from "./protocol";

export type LogicClient = Client<Question, Answers>;

/** The experiment of the client's variant. */
export const experimentOf = (client: LogicClient): Experiment => client.variant.about as Experiment;

/** The selected member of the population (by the visitor, otherwise the best member), its state, and the colours of its cells. */
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
