// Sections that this room adds to the tabs.

import type { SectionWords } from "../../parts/places";

export const SECTIONS = {
  plane: { tab: "explore", name: "plane", heading: "State plane", words: "policy value critic visits" },
  code: { tab: "explore", name: "code", heading: "Your environment", words: "python editor code custom world" },
} satisfies Record<string, SectionWords>;
