// Sections that this room adds to the tabs.

import type { SectionWords } from "../../parts/places";

export const SECTIONS = {
  analysis: { tab: "explore", name: "analysis", heading: "Analyse a position", words: "best move import" },
} satisfies Record<string, SectionWords>;
