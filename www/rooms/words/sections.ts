// Sections that this room adds to the tabs.

import type { SectionWords } from "../../parts/places";

export const SECTIONS = {
  reading: { tab: "explore", name: "reading", heading: "Read a text", words: "surprise attention heads inspect" },
  model: { tab: "explore", name: "model", heading: "The model", words: "transformer parameters corpus tokenizer" },
  own: { tab: "settings", name: "own-text", heading: "Your own text", words: "paste open file train" },
} satisfies Record<string, SectionWords>;
