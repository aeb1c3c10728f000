// A run of this room, as its pictures ask it.

import type { Client } from "../../run/client";
import type { Answers, Question } from "./protocol";

export type ControlClient = Client<Question, Answers>;
