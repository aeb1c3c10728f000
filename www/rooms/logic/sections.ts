// Sections that this room adds to the tabs.

import type { SectionWords } from "../../parts/places";

export const SECTIONS = {
  circuit: { tab: "explore", name: "circuit", heading: "The circuit", words: "export verilog gates" },
  big: { tab: "explore", name: "big-grid", heading: "The circuit on a big grid", words: "million cells" },
  population: { tab: "explore", name: "population", heading: "Population", words: "members" },
  own: { tab: "explore", name: "own-target", heading: "Your own target", words: "draw rule" },
} satisfies Record<string, SectionWords>;
