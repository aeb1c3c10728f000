// Notices that wasm throws when it refuses a request, and functions that format their texts. The texts of libraries' errors begin with a
// lower-case letter and have no full stop at the end; `sentence` corrects this.

import type { Event } from "./protocol";

export type Notice = Event & { kind: "notice" };
export type Refusal = Pick<Notice, "text" | "next_step">;
export const isNotice = (thrown: unknown): thrown is Notice => (thrown as Event | null)?.kind === "notice";

/** Returns the message of a thrown value of any type. */
export const textOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** Matches a text that begins with a name whose letters matter: a file such as `catch.py`, or a knob such as `lr = 2`. */
const NAMED = /^\S+\.\w|^\w+ = /;

/** Returns a text as a sentence: with a capital letter at the beginning, unless it begins with a name, and a full stop at the end. */
export function sentence(text: string): string {
  const whole = NAMED.test(text) ? text : text.charAt(0).toUpperCase() + text.slice(1);
  return whole === "" || /[.!?]$/.test(whole) ? whole : `${whole}.`;
}

export const inWords = ({ text, next_step }: Refusal): string => [text, next_step].filter(Boolean).map(sentence).join(" ");
