// Generated text by token, with the probability of each token.

import { copyButton } from "../../parts/dialog";
import { button, h, write } from "../../parts/dom";
import { count, figure, short } from "../../parts/format";
import { Table } from "../../parts/table";
import { placeOf } from "../shared/keys";
import { percent } from "./likely";
import type { Ended, Generated, GenerationView } from "./protocol";
import { label, ofGuess, pieces, spoken, Tokens, type Piece } from "./tokens";

export const ENDED: Record<Ended, string> = {
  length: "Length limit reached.",
  stop: "Stop text reached.",
  asked: "Stopped.",
};

export class Output {
  readonly elements: HTMLElement[];
  private readonly tokens = new Tokens();
  private readonly given = h("span.given");
  private readonly output: HTMLElement;
  private readonly where = h("p.small");
  private readonly message = h("p.unseen", { role: "status" });
  private readonly tools: HTMLElement;
  private readonly table = new Table("Tokens", ["Number", "Token", "Probability"], () =>
    this.all.map(({ text, probability }, k) => [count(k + 1), label(text), percent(probability)]),
  );
  private all: Generated[] = [];
  private text = "";
  private prompt = "";
  private cursor = -1;

  /** `inspect` opens a text in the reading pane. */
  constructor(inspect: (text: string) => void) {
    const { tokens } = this;
    this.output = h(
      "div.output.box",
      { tabindex: 0, role: "group", "aria-label": "Generated text; arrow keys move between tokens", hidden: true },
      [this.given, tokens.element],
    );
    this.output.addEventListener("pointermove", ({ clientX, clientY }) => this.point(tokens.under(clientX, clientY)));
    this.output.addEventListener("pointerleave", () => this.point(undefined));
    this.output.addEventListener("keydown", (event) => this.key(event));
    this.tools = h("div.row", { hidden: true }, [
      copyButton("Copy", () => this.prompt + this.text, "Copied", "Select the text and copy it"),
      button("Inspect", () => inspect(this.prompt + this.text), { class: "small" }),
      this.table.button,
    ]);
    this.elements = [this.output, this.where, this.message, this.tools, this.table.element];
  }

  begin(prompt: string): void {
    this.all = [];
    this.prompt = prompt;
    this.cursor = -1;
    write(this.given, prompt);
    this.output.hidden = this.tools.hidden = false;
  }

  /** Appends new tokens. `ms` is the time since the start of the generation. `vocabulary` is the number of different tokens. */
  take(view: GenerationView, ms: number, vocabulary: number): void {
    const { tokens } = this;
    this.all.push(...view.added);
    this.text = view.text;
    tokens.show(pieces(view.text, this.all));
    tokens.fill((piece) => ofGuess(-Math.log(Math.max(1e-9, this.token(piece).probability)), vocabulary));
    this.table.refresh();
    const rate = ms > 0 && view.tokens > 1 ? `, ${short((1000 * view.tokens) / ms)} a second` : "";
    const ended = view.ended ? ` ${ENDED[view.ended]}` : "";
    write(this.where, `${count(view.tokens)} tokens${rate}. Iteration ${count(view.iteration)}.${ended}`);
  }

  private token({ from }: Piece): Generated {
    return this.all[from]!;
  }

  private point(k: number | undefined): void {
    if (k === undefined && document.activeElement === this.output && this.cursor >= 0) k = this.cursor;
    this.tokens.choose(k);
    const piece = k === undefined ? undefined : this.tokens.pieces[k];
    if (!piece) return;
    const { probability } = this.token(piece);
    write(this.where, `${label(piece.text)}: ${percent(probability)}, surprise ${figure(-Math.log(probability))} nats.`);
  }

  private key(event: KeyboardEvent): void {
    const to = placeOf(event, this.cursor, this.tokens.pieces.length);
    if (to === undefined || this.tokens.pieces.length === 0) return;
    event.preventDefault();
    this.cursor = to;
    this.point(to);
    const piece = this.tokens.pieces[to]!;
    write(this.message, `${spoken(piece.text)}, ${percent(this.token(piece).probability)}`);
  }
}
