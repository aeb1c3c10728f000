// A few words of MathML, which browsers draw by themselves.

export const i = (name: string): string => `<mi>${name}</mi>`;
export const n = (value: string): string => `<mn>${value}</mn>`;
export const o = (operator: string): string => `<mo>${operator}</mo>`;
/** A name of more than one letter, upright. */
export const w = (word: string): string => `<mi mathvariant="normal">${word}</mi>`;
export const gap = '<mspace width="0.35em"></mspace>';
export const row = (...parts: string[]): string => `<mrow>${parts.join("")}</mrow>`;
export const sub = (base: string, low: string): string => `<msub>${base}${low}</msub>`;
export const sup = (base: string, high: string): string => `<msup>${base}${high}</msup>`;
export const subsup = (base: string, low: string, high: string): string => `<msubsup>${base}${low}${high}</msubsup>`;
export const frac = (over: string, under: string): string => `<mfrac>${over}${under}</mfrac>`;
export const over = (base: string, mark: string): string => `<mover accent="true">${base}<mo stretchy="false">${mark}</mo></mover>`;
export const sum = (low: string): string => `<munder><mo movablelimits="false">∑</mo>${low}</munder>`;
export const paren = (...parts: string[]): string => row(o("("), ...parts, o(")"));

/** An equation on a line of its own, with the words that a screen reader says in its place. A narrow page scrolls it, by keys too. */
export const equation = (spoken: string, ...parts: string[]): string =>
  `<p class="equation" tabindex="0"><math display="block" aria-label="${spoken}">${row(...parts)}</math></p>`;
