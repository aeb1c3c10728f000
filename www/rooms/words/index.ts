// The room of words: a transformer that learns to write from nothing, and shows what it expects, where it looks and what it writes.

import type { Brings } from "../../parts/room";
import { knobToCurve } from "../../parts/tour";
import type { WordsClient } from "./client";
import * as text from "./text";
import { WordsView } from "./view";
import "./style.css";

export const brings: Brings<WordsClient> = {
  curves: { front: ["above", "bits", "speed", "lr"], charts: text.charts },
  knobs: ["lr", "weight_decay", "temperature"],
  tour: [
    {
      at: ".samples",
      heading: "It learns to write",
      words:
        "A transformer, begun from random weights when the page opened. At each test it goes on from the same prompt: babble at first.",
    },
    {
      at: ".returns",
      heading: "The curve",
      words:
        "The loss: how surprised it is by the next token. The dashed line is the entropy floor: the lowest mean loss for characters, " +
        "an estimate for byte pairs.",
    },
    ...knobToCurve("Drag the learning rate far to the right: too large, and the loss rises."),
    { at: ".reading", heading: "Now you", words: "Type a text of your own and see which tokens surprise it, and where its heads look." },
  ],
  can: [
    "Have it write, with your prompt and temperature.",
    "Read a text with it: surprise, expectations and attention, token by token.",
    "Give it a text of your own to learn from.",
  ],
  gestures: [{ shown: "touch a token", does: "shows what was expected there, and where a head looks" }],
  view: (page) => new WordsView(page),
};
