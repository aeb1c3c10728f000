// The client of a run of the logic room.

import type { Client } from "../../run/client";
import type { Answerer } from "../../run/trained";
import type { Answers, Experiment, Question, Shows } from "./protocol";

export type LogicClient = Client<Question, Answers>;

/** Returns the description of the experiment in the client's current variant. */
export const experimentOf = (client: LogicClient): Experiment => client.variant.about as Experiment;

/**
 * Selection of the automaton that the panes show. It is the automaton of the trained run, or a member of the visitor's run. The visitor
 * picks the member; by default it is the best member. `shows` is the kind of colours of the automaton's cells.
 */
export class Chosen {
  best = 0;
  shows: Shows = "channel";
  /** Run whose automaton is shown. */
  of: Answerer = "own";
  private picked: number | undefined;
  private own = { updates: 0, perfect: false };

  constructor(private readonly client: LogicClient) {}

  /** Sends a question to the run whose automaton is shown. */
  ask<Asked extends Question>(question: Asked): Promise<Answers[Asked["ask"] & keyof Answers]> {
    return this.client.ask(question, this.of);
  }

  /** Index of the automaton in its run. The trained run has one automaton. */
  get member(): number {
    return this.isOwn ? this.ownMember : 0;
  }

  get ownMember(): number {
    return this.picked ?? this.best;
  }

  /** Name that identifies the automaton, because two automata have different names. */
  get name(): string {
    return `${this.of} ${this.member}`;
  }

  get updates(): number {
    return this.isOwn ? this.own.updates : 0;
  }

  /** True if the automaton no longer learns: it is perfect, or it is the automaton of the trained run. */
  get done(): boolean {
    return !this.isOwn || this.own.perfect;
  }

  /** Sets the number of updates and the perfection of the shown member of the visitor's run. */
  set(updates: number, perfect: boolean): void {
    this.own = { updates, perfect };
  }

  pick(member: number | undefined): void {
    this.picked = member;
  }

  private get isOwn(): boolean {
    return this.of === "own";
  }
}
