// Numbers about the model and its corpus.

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
  /** True if the corpus is the visitor's text, whose entropy is unknown. */
  private own = false;
  private tokenizer: TokenizerKind = "chars";

  constructor() {
    this.table = new Table("Tensors", ["Tensor", "Shape", "Numbers"], () =>
      this.tensors.map(({ name, shape }) => [name, shape.join(" × "), count(shape.reduce((all, side) => all * side, 1))]),
    );
    this.element = h("div", [
      h("div.facts-parts", [
        h("section.card", { "aria-label": "Model" }, h("h3", "Transformer"), this.model),
        h("section.card", { "aria-label": "Text" }, h("h3", "Text"), this.corpus),
      ]),
      h("div.row", h("h3", "Tensors"), this.table.button),
      h("p.small", "Tensors of a saved run, which is a safetensors file. Names and shapes follow nanoGPT."),
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
      ["Parameters", `${count(model.parameters)}, including ${count(model.embeddings)} in embeddings`],
      ["Layers, heads", `${model.layers} layers of ${model.heads} attention heads`],
      ["Width", `${count(model.width)}, ${model.width / model.heads} per head`],
      ["Context", `${count(model.context)} tokens`],
      ["Vocabulary", `${count(model.vocabulary)} tokens`],
      ["Work per token", `${short(model.flops_per_token)} FLOP, forward and backward`],
      ["Speed", this.rate],
    ]);
    const ofCorpus = facts([
      ["Source", `${corpus.name}, ${short(corpus.characters)} characters`],
      [
        "Tokenizer",
        `${text.tokenizers[corpus.tokenizer]}` +
          `${corpus.tokenizer === "chars" ? "" : `, ${figure(corpus.characters_per_token)} characters per token`}`,
      ],
      ["Training", `${short(corpus.training_tokens)} tokens`],
      ["Validation", `${short(corpus.validation_tokens)} tokens, not used for training`],
      // The entropy is known only for a text that a grammar generates.
      [
        "Entropy",
        entropy === null ? "" : `${figure(entropy)} nats per character (${figure(entropy / Math.LN2)} bits), with unlimited context`,
      ],
      ["Entropy floor", this.floor],
    ]);
    this.model.replaceChildren(...ofModel);
    this.corpus.replaceChildren(...ofCorpus);
  }

  /** Updates the speed of training and the entropy floor. */
  refresh(tokensPerS: number | undefined, floor: number | undefined): void {
    const meaning = this.tokenizer === "bpe" ? "estimated for byte pairs" : "the lowest mean loss with this context";
    write(this.floor, this.own ? "unknown for your own text" : floor === undefined ? "–" : `${figure(floor)} nats per token: ${meaning}`);
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
