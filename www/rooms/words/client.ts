// The client of a run of the words room.

import type { Client } from "../../run/client";
import type { Answers, Question } from "./protocol";

export type WordsClient = Client<Question, Answers>;
