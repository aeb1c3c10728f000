// Converts equations in a TeX-like notation to MathML.

const ACCENTS: Record<string, string> = { hat: "ˆ", dot: "˙", ddot: "¨" };
const TOKENS = /'[^']+'|[A-Za-z]+|[\d.½]+|\S/gu;

const row = (parts: string[]): string => (parts.length === 1 ? parts[0]! : `<mrow>${parts.join("")}</mrow>`);
const operator = (sign: string): string => `<mo>${sign}</mo>`;
const upright = (word: string): string => `<mi mathvariant="normal">${word}</mi>`;

class Reader {
  private readonly tokens: string[];

  constructor(text: string) {
    this.tokens = text.match(TOKENS) ?? [];
  }

  /** Returns the MathML of the tokens before `close`, or of all tokens if `close` is undefined. */
  parts(close?: string): string[] {
    const parts: string[] = [];
    while (this.tokens.length && this.tokens[0] !== close) parts.push(this.scripted());
    this.tokens.shift();
    return parts;
  }

  /** Returns an atom with its subscript and superscript. */
  private scripted(): string {
    const isSum = this.tokens[0] === "∑";
    const base = this.atom();
    const low = this.script("_");
    const high = this.script("^");
    if (isSum && low) return `<munder>${base}${low}</munder>`;
    if (low && high) return `<msubsup>${base}${low}${high}</msubsup>`;
    return low ? `<msub>${base}${low}</msub>` : high ? `<msup>${base}${high}</msup>` : base;
  }

  private script(mark: string): string | undefined {
    if (this.tokens[0] !== mark) return undefined;
    this.tokens.shift();
    return this.atom();
  }

  private atom(): string {
    const token = this.tokens.shift() ?? "";
    if (token === "{") return row(this.parts("}"));
    if (token === "(") return row([operator("("), ...this.parts(")"), operator(")")]);
    if (token === "frac") return `<mfrac>${this.atom()}${this.atom()}</mfrac>`;
    if (token === "sqrt") return `<msqrt>${this.atom()}</msqrt>`;
    if (token in ACCENTS) return `<mover accent="true">${this.atom()}<mo stretchy="false">${ACCENTS[token]}</mo></mover>`;
    if (token === "∑") return `<mo movablelimits="false">∑</mo>`;
    if (token === "~") return '<mspace width="0.35em"></mspace>';
    if (token.startsWith("'")) return upright(token.slice(1, -1));
    if (/^[\d½]/.test(token)) return `<mn>${token}</mn>`;
    if (!/^\p{L}/u.test(token)) return operator(token);
    return token.length > 1 ? upright(token) : `<mi>${token}</mi>`;
  }
}

/**
 * Returns the markup of a display equation. `spoken` is its text for screen readers. On a narrow page the equation scrolls, also by keys.
 * In `text`, `_`, `^`, `{}`, `frac`, `sqrt`, `hat`, `dot` and `ddot` are as in TeX, and `~` is a gap. Words and 'quoted' text are upright.
 */
export const equation = (spoken: string, text: string): string =>
  `<p class="equation" tabindex="0"><math display="block" aria-label="${spoken}">${row(new Reader(text).parts())}</math></p>`;
