// A run of this room, as its pictures ask it.

import type { Client } from "../../run/client";
import { sentence } from "../../run/notice";
import type { Answers, Experiment, Question } from "./protocol";

export type LogicClient = Client<Question, Answers>;

/** What is learned, for whoever draws it. */
export const experimentOf = (client: LogicClient): Experiment => client.variant.about as Experiment;

/** What was refused, as a sentence. */
export const reason = (error: unknown): string => sentence(error instanceof Error ? error.message : String(error));

/** Which member of the population one looks at: the best, whichever that is, or one that was chosen. */
export class Chosen {
  best = 0;
  private picked: number | undefined;

  get member(): number {
    return this.picked ?? this.best;
  }

  get follows(): boolean {
    return this.picked === undefined;
  }

  pick(member: number | undefined): void {
    this.picked = member;
  }
}
