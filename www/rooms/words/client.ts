// A run of this room, as its pictures ask it.

import type { Client } from "../../run/client";
import { sentence } from "../../run/notice";
import type { Answers, Question } from "./protocol";

export type WordsClient = Client<Question, Answers>;

/** What was refused, as a sentence. */
export const reason = (error: unknown): string => sentence(error instanceof Error ? error.message : String(error));
