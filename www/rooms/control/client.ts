// The client of a run of the control room.

import type { Client } from "../../run/client";
import type { Answers, Question } from "./protocol";

export type ControlClient = Client<Question, Answers>;
