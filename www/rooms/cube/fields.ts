// Form fields that several panes of the cube room use.

import { h, id, labelled, select } from "../../parts/dom";
import { count, short } from "../../parts/format";
import { clamp } from "../../parts/keys";
import type { Puzzle, SearchKind, SolveMethod } from "./protocol";
import { SEARCHES } from "./solver";

export const numberField = (
  label: string,
  value: number,
  min: number,
  max: number,
): { element: HTMLElement; input: HTMLInputElement; value: () => number } => {
  const input = h("input", { type: "number", id: id("number"), value, min, max, step: 1, inputmode: "numeric" });
  const whole = (): number => Math.round(clamp(input.valueAsNumber || Number(input.min), Number(input.min), Number(input.max)));
  input.addEventListener("change", () => (input.value = String(whole())));
  return { element: labelled(label, input), input, value: whole };
};

const numbers = (stem: string, all: number[], words: (n: number) => string): HTMLSelectElement =>
  select(
    stem,
    all.map((n) => [n, words(n)]),
  );

export class MethodFields {
  readonly elements: HTMLElement[];
  private readonly search = h("select", { id: id("search") }, [
    SEARCHES.map(({ search, words, about }) => h("option", { value: search, title: about }, words)),
  ]);
  private readonly width = numbers("width", [1, 4, 16, 64, 256, 1024, 4096, 16384, 65536], count);
  private readonly weight = numbers("weight", [0, 0.2, 0.4, 0.6, 0.8, 1], String);
  private readonly nodes = numbers("nodes", [1e3, 1e4, 1e5, 1e6, 4e6, 16e6], short);
  private readonly widthField = labelled("Width", this.width);
  private readonly weightField = labelled("Weight", this.weight);
  private readonly nodesField = labelled("Node limit", this.nodes);

  constructor() {
    this.elements = [labelled("Method", this.search), this.widthField, this.weightField, this.nodesField];
    this.search.addEventListener("change", () => this.updateFields());
    this.updateFields();
  }

  begin({ exact, method }: Puzzle): void {
    for (const option of this.search.options) option.hidden = option.disabled = option.value === "exact" && !exact;
    this.search.value = method.search;
    choose(this.width, method.width, count);
    choose(this.weight, method.weight, String);
    choose(this.nodes, method.nodes, short);
    this.updateFields();
  }

  get method(): SolveMethod {
    return {
      search: this.search.value as SearchKind,
      width: Number(this.width.value),
      weight: Number(this.weight.value),
      nodes: Number(this.nodes.value),
    };
  }

  private updateFields(): void {
    const { search } = this.method;
    this.nodesField.hidden = this.widthField.hidden = search !== "beam" && search !== "a_star";
    this.weightField.hidden = search !== "a_star";
  }
}

/** Selects a number, rounded to four significant digits. If the number is not an option, adds it to the options. */
function choose(select: HTMLSelectElement, number: number, words: (n: number) => string): void {
  const tidy = Number(number.toPrecision(4));
  if (![...select.options].some(({ value }) => Number(value) === tidy)) select.append(h("option", { value: tidy }, words(tidy)));
  select.value = String(tidy);
}
