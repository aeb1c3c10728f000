// Sections that this room adds to the tabs.

import type { SectionWords } from "../../parts/places";

export const SECTIONS = {
  own: { tab: "explore", name: "own-cube", heading: "Your own cube", words: "scramble solve enter" },
  methods: { tab: "explore", name: "methods", heading: "Method comparison", words: "beam search a* greedy" },
  inside: { tab: "explore", name: "inside", heading: "Inside the learner", words: "curriculum replay" },
} satisfies Record<string, SectionWords>;
