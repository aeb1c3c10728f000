// What the model and its text are, in numbers.

import { facts, h, write } from "../../parts/dom";
import { count, figure, short } from "../../parts/format";
import { Table } from "../../parts/table";
import type { AboutView, TensorView, TokenizerKind } from "./protocol";
import * as text from "./text";

export class ModelPane {
  readonly element: HTMLElement;
  private readonly model = h("dl.facts");
  private readonly corpus = h("dl.facts");
  private readonly rate = h("dd");
  private readonly floor = h("dd");
  private readonly table: Table;
  private tensors: TensorView[] = [];
  private flops = 0;
  /** Of a text of one's own nobody knows its entropy. */
  private own = false;
  private tokenizer: TokenizerKind = "chars";

  constructor() {
    this.table = new Table("Tensors", ["Tensor", "Shape", "Numbers"], () =>
      this.tensors.map(({ name, shape }) => [name, shape.join(" × "), count(shape.reduce((all, side) => all * side, 1))]),
    );
    this.table.caption.textContent = "As they stand in a saved run, which is a safetensors file. Names and shapes are nanoGPT's.";
    this.element = h("div", [
      h("div.facts-parts", [
        h("section", { "aria-label": "Model" }, h("h3", "Transformer"), this.model),
        h("section", { "aria-label": "Text" }, h("h3", "Text"), this.corpus),
      ]),
      h("div.row", h("h3", "Tensors"), this.table.button),
      this.table.element,
    ]);
  }

  begin(): void {
    this.model.replaceChildren();
    this.corpus.replaceChildren();
    this.flops = 0;
    this.tensors = [];
    this.table.clear();
  }

  ready({ model, corpus }: AboutView): void {
    if (!model || !corpus) return;
    const { entropy } = corpus;
    this.flops = model.flops_per_token;
    this.own = corpus.own;
    this.tokenizer = corpus.tokenizer;
    this.tensors = model.tensors;
    const ofModel = facts([
      ["Parameters", `${count(model.parameters)}, of them ${count(model.embeddings)} of embeddings`],
      ["Layers, heads", `${model.layers} layers of ${model.heads} attention heads`],
      ["Width", `${count(model.width)}, ${model.width / model.heads} a head`],
      ["Context", `${count(model.context)} tokens`],
      ["Vocabulary", `${count(model.vocabulary)} tokens`],
      ["Work of a token", `${short(model.flops_per_token)} FLOP, forward and backward`],
      ["Speed", this.rate],
    ]);
    const ofCorpus = facts([
      ["Text", `${corpus.name}, ${short(corpus.characters)} characters`],
      [
        "Tokenizer",
        `${text.tokenizers[corpus.tokenizer]}` +
          `${corpus.tokenizer === "chars" ? "" : `, ${figure(corpus.characters_per_token)} characters a token`}`,
      ],
      ["Training", `${short(corpus.training_tokens)} tokens`],
      ["Validation", `${short(corpus.validation_tokens)} tokens, never trained on`],
      // Of a text that is not drawn from a grammar it is not known.
      ["Entropy", entropy === null ? "" : `${figure(entropy)} nats a character (${figure(entropy / Math.LN2)} bits), if one remembers all`],
      ["Entropy floor", this.floor],
    ]);
    this.model.replaceChildren(...ofModel);
    this.corpus.replaceChildren(...ofCorpus);
  }

  /** How fast it trains of late, and the floor once it is found. */
  refresh(tokensPerS: number | undefined, floor: number | undefined): void {
    const meaning = this.tokenizer === "bpe" ? "an estimate, as tokens are byte pairs" : "the lowest mean loss with this context";
    write(
      this.floor,
      this.own ? "nobody knows it of a text like this" : floor === undefined ? "–" : `${figure(floor)} nats a token: ${meaning}`,
    );
    write(
      this.rate,
      tokensPerS === undefined || !this.flops
        ? "–"
        : `${short(tokensPerS)} tokens/s, ${short(tokensPerS * this.flops)
            .replace("G", " G")
            .replace("M", " M")}FLOP/s`,
    );
  }
}
