// A run of this room, as its pictures ask it.

import type { Client } from "../../run/client";
import type { Answers, Puzzle, Question } from "./protocol";

export type CubeClient = Client<Question, Answers>;

/** What is trained, for whoever draws it. */
export const puzzleOf = (client: CubeClient): Puzzle => client.variant.about as Puzzle;
