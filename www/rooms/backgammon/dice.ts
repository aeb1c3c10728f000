// Functions that format and parse two dice.

import { line, type Attributes } from "../../parts/dom";

export type Roll = [number, number];

/** Formats dice, such as `3-1`. Returns an empty string for `null`. */
export const rollText = (dice: Roll | null): string => (dice ? `${dice[0]}-${dice[1]}` : "");

/** Returns the numbers that a roll allows to play. A double counts as four dice. */
export const allOf = (dice: Roll): number[] => (dice[0] === dice[1] ? [...dice, ...dice] : dice);

export const diceField = (attributes: Attributes<"input">): HTMLInputElement =>
  line("dice", { class: "dice-field", inputmode: "numeric", ...attributes });

export const DICE_ASKED = "Enter two dice such as 3 1, or none.";
/**
 * Parses typed dice. Returns `null` for empty text, and `undefined` for text that is not two digits. The worker checks that each digit is
 * from 1 to 6.
 */
export function readDice(text: string): Roll | null | undefined {
  const digits = text.replaceAll(/[\s,-]+/g, "");
  if (digits === "") return null;
  return /^\d\d$/.test(digits) ? (digits.split("").map(Number) as Roll) : undefined;
}
