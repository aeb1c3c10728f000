// Sentences with code between backticks, such as the compiler's messages.

import { h, type Child } from "../../../parts/dom";

/** Converts the parts of a sentence between backticks to code elements. */
export const coded = (sentence: string): Child[] => sentence.split("`").map((part, k) => (k % 2 ? h("code", part) : part));
