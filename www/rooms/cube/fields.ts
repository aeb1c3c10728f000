// Small parts that the panes of this room share.

import { h, id } from "../../parts/dom";
import { count, short } from "../../parts/format";
import type { Puzzle, SearchKind, SolveMethod } from "./protocol";
import { SEARCHES } from "./solver";

export const numberField = (
  label: string,
  value: number,
  min: number,
  max: number,
): { element: HTMLElement; input: HTMLInputElement; value: () => number } => {
  const input = h("input", { type: "number", id: id("number"), value, min, max, step: 1, inputmode: "numeric" });
  const whole = (): number =>
    Math.round(Math.max(Number(input.min), Math.min(Number(input.max), input.valueAsNumber || Number(input.min))));
  input.addEventListener("change", () => (input.value = String(whole())));
  return { element: h("p", { class: "field" }, h("label", { for: input.id }, label), input), input, value: whole };
};

/** How a search is made. */
export class MethodFields {
  readonly elements: HTMLElement[];
  private readonly search = h(
    "select",
    { id: id("search") },
    ...SEARCHES.map(({ search, words, about }) => h("option", { value: search, title: about }, words)),
  );
  private readonly width = h(
    "select",
    { id: id("width") },
    ...[1, 4, 16, 64, 256, 1024, 4096, 16384, 65536].map((n) => h("option", { value: n }, count(n))),
  );
  private readonly weight = h(
    "select",
    { id: id("weight") },
    ...[0, 0.2, 0.4, 0.6, 0.8, 1].map((n) => h("option", { value: n }, String(n))),
  );
  private readonly widthField = h("p", { class: "field" }, h("label", { for: this.width.id }, "Width"), this.width);
  private readonly weightField = h("p", { class: "field" }, h("label", { for: this.weight.id }, "Weight"), this.weight);
  private readonly nodes = h(
    "select",
    { id: id("nodes") },
    ...[1e3, 1e4, 1e5, 1e6, 4e6, 16e6].map((n) => h("option", { value: n }, short(n))),
  );
  private readonly nodesField = h("p", { class: "field" }, h("label", { for: this.nodes.id }, "Most nodes"), this.nodes);

  constructor() {
    this.elements = [
      h("p", { class: "field" }, h("label", { for: this.search.id }, "Method"), this.search),
      this.widthField,
      this.weightField,
      this.nodesField,
    ];
    this.search.addEventListener("change", () => this.suit());
    this.suit();
  }

  begin({ exact, method }: Puzzle): void {
    for (const option of this.search.options) option.hidden = option.disabled = option.value === "exact" && !exact;
    this.search.value = method.search;
    choose(this.width, method.width, count);
    choose(this.weight, method.weight, String);
    choose(this.nodes, method.nodes, short);
    this.suit();
  }

  get method(): SolveMethod {
    return {
      search: this.search.value as SearchKind,
      width: Number(this.width.value),
      weight: Number(this.weight.value),
      nodes: Number(this.nodes.value),
    };
  }

  private suit(): void {
    const { search } = this.method;
    this.nodesField.hidden = this.widthField.hidden = search !== "beam" && search !== "a_star";
    this.weightField.hidden = search !== "a_star";
  }
}

/** Selects a number, which becomes one of the choices where it is none. */
function choose(select: HTMLSelectElement, number: number, words: (n: number) => string): void {
  const tidy = Number(number.toPrecision(4));
  if (![...select.options].some(({ value }) => Number(value) === tidy)) select.append(h("option", { value: tidy }, words(tidy)));
  select.value = String(tidy);
}
