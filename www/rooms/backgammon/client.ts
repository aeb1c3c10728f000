// The client of a run of the backgammon room.

import type { Client } from "../../run/client";
import type { Answers, Question } from "./protocol";

export type Backgammon = Client<Question, Answers>;

/**
 * Run in which a match is played: the visitor's run or the trained agent's run. `agent` is the name of the run's agent within a sentence.
 */
export type MatchRun = Pick<Backgammon, "ask"> & { readonly agent: string };
