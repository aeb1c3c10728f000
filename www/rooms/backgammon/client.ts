// The client of a run of the backgammon room.

import type { Client } from "../../run/client";
import type { Answers, Question } from "./protocol";

export type Backgammon = Client<Question, Answers>;
