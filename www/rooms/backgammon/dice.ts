// Two dice, written and read.

import { line, type Attributes } from "../../parts/dom";

export type Roll = [number, number];

/** `3-1`; nothing where none were thrown. */
export const rollText = (dice: Roll | null): string => (dice ? `${dice[0]}-${dice[1]}` : "");

/** What there is to play with them: a double counts twice. */
export const allOf = (dice: Roll): number[] => (dice[0] === dice[1] ? [...dice, ...dice] : dice);

export const diceField = (attributes: Attributes<"input">): HTMLInputElement =>
  line("dice", { class: "dice-field", inputmode: "numeric", ...attributes });

export const DICE_ASKED = "Give two dice like 3 1, or none.";
/** What somebody typed: two dice or none; undefined where it is neither. */
export function readDice(text: string): Roll | null | undefined {
  const digits = text.replaceAll(/[\s,-]+/g, "");
  if (digits === "") return null;
  return /^\d\d$/.test(digits) ? (digits.split("").map(Number) as Roll) : undefined;
}
