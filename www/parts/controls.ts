// Controls that panes build alike.

import { h, id, type Attributes, type Child } from "./dom";

export const button = (words: Child, does: () => unknown, attributes: Attributes<"button"> = {}): HTMLButtonElement =>
  h("button", { onclick: () => void does(), ...attributes }, words);

/** An input below its name. */
export const labelled = (label: string, input: HTMLElement, kind = "field"): HTMLElement =>
  h("p", { class: kind }, h("label", { for: input.id }, label), input);

/** A box or a switch before its name. */
export const ticked = (input: HTMLElement, label: string): HTMLElement => h("span.row", input, h("label", { for: input.id }, label));

export const select = (stem: string, options: [value: string | number, words: string][], chosen?: string | number): HTMLSelectElement =>
  h("select", { id: id(stem) }, ...options.map(([value, words]) => h("option", { value, selected: value === chosen }, words)));

/** A line of text that no browser corrects. */
export const line = (stem: string, attributes: Attributes<"input"> = {}): HTMLInputElement =>
  h("input", { type: "text", id: id(stem), autocomplete: "off", autocapitalize: "off", spellcheck: "false", ...attributes });

export function form(kind: string, submit: () => unknown, ...children: Child[]): HTMLFormElement {
  const element = h("form", { class: kind }, ...children);
  element.addEventListener("submit", (event) => {
    event.preventDefault();
    void submit();
  });
  return element;
}

/** What is wrong with an input, for who reads it and for who hears it. */
export function markInvalid(input: HTMLElement, invalid: boolean): void {
  if (invalid) input.setAttribute("aria-invalid", "true");
  else input.removeAttribute("aria-invalid");
}

/** One of a few, side by side. */
export class Choice<V extends string> {
  readonly element: HTMLElement;
  private readonly inputs: Map<V, HTMLInputElement>;

  constructor(
    legend: string,
    options: { value: V; words: string; label?: string | undefined; title?: string }[],
    chosen: V,
    changed: (value: V) => void,
    kind = "speeds layers",
  ) {
    const name = id("choice");
    this.inputs = new Map(
      options.map(({ value, label }, k) => [
        value,
        h("input", {
          type: "radio",
          name,
          id: `${name}-${k}`,
          checked: value === chosen,
          "aria-label": label,
          onchange: () => changed(value),
        }),
      ]),
    );
    this.element = h("fieldset", { class: kind }, [
      h("legend.unseen", legend),
      ...options.flatMap(({ value, words, title }, k) => [this.inputs.get(value), h("label", { for: `${name}-${k}`, title }, words)]),
    ]);
  }

  set value(value: V) {
    this.inputs.get(value)!.checked = true;
  }
}

/** Of two buttons that stand for each other the one that is due, with the focus that the other had. */
export function swap(shown: HTMLElement, hidden: HTMLElement): void {
  const focused = document.activeElement === hidden;
  shown.hidden = false;
  hidden.hidden = true;
  if (focused) shown.focus();
}
