// The words room: a transformer that learns to write from scratch, with its predictions, attention and samples.

import type { RoomExtension } from "../../parts/room";
import { knobToCurve } from "../../parts/tour";
import type { WordsClient } from "./client";
import * as text from "./text";
import { WordsView } from "./view";
import "./style.css";

export const extension: RoomExtension<WordsClient> = {
  curves: { front: ["above", "bits", "speed", "lr"], charts: text.charts },
  knobs: ["lr", "weight_decay", "temperature"],
  budgets: [30_000, 100_000, 300_000, 1_000_000],
  tour: [
    {
      at: ".text-stage",
      heading: "It learns to write",
      words: "The network starts from random weights. Each test continues the same prompt: babble at first, sentences later.",
    },
    {
      at: ".returns",
      heading: "The curve",
      words: "The loss is the model's surprise at the next token. The dotted line is the lowest possible loss.",
    },
    ...knobToCurve("Drag the learning rate far to the right. If it is too large, the loss rises."),
  ],
  can: [
    "Generate text with your prompt and temperature, and see the predictions at each token.",
    "Inspect a text: surprise and attention, token by token.",
    "Train on a text of your own.",
  ],
  gestures: [{ shown: "touch a token", does: "shows the predictions there, and where a head looks" }],
  view: (page) => new WordsView(page),
};
