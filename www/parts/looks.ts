// Letter, dashes and colour of the curves of compared runs.

import { markup } from "./dom";
import type { Colour } from "./theme";

export type Look = { letter: string; colour: Colour; dash: number[] };

export const PRESENT: Look = { letter: "", colour: "training", dash: [] };

export const PAST: Look = { letter: "", colour: "ghost", dash: [] };

/** Styles of compared runs. Their number is the largest number of runs that can be compared. */
export const LOOKS: Look[] = [
  { letter: "A", colour: "agent", dash: [8, 4] },
  { letter: "B", colour: "opponent", dash: [2, 3] },
  { letter: "C", colour: "test", dash: [12, 3, 2, 3] },
  { letter: "D", colour: "error", dash: [4, 2] },
  { letter: "E", colour: "soft", dash: [16, 5] },
  { letter: "F", colour: "muted", dash: [6, 3, 2, 3, 2, 3] },
];

export function swatch({ colour, dash }: Look): Node {
  return markup(
    `<svg class="line-swatch" width="32" height="8" viewBox="0 0 32 8" aria-hidden="true"><path d="M0 4H32" fill="none" ` +
      `stroke="var(--${colour})" stroke-width="2" stroke-dasharray="${dash.join(" ")}"/></svg>`,
  );
}
