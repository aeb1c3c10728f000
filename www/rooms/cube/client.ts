// The client of a run of the cube room.

import type { Client } from "../../run/client";
import type { Answers, Puzzle, Question } from "./protocol";

export type CubeClient = Client<Question, Answers>;

/** Returns the description of the puzzle in the client's current variant. */
export const puzzleOf = (client: CubeClient): Puzzle => client.variant.about as Puzzle;
