// The client of a run of this room.

import type { Client } from "../../run/client";
import type { Answers, Puzzle, Question } from "./protocol";

export type CubeClient = Client<Question, Answers>;

/** The puzzle of the client's variant. */
export const puzzleOf = (client: CubeClient): Puzzle => client.variant.about as Puzzle;
