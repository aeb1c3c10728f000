// Fields for the sampling settings, and a button that opens the fields.

import { button, h, id, labelled, line } from "../../parts/dom";
import type { Sampling } from "./protocol";

type Setting = { name: string; input: HTMLInputElement; element: HTMLElement };

/** Creates a field for a number, with its name and description. */
function setting(name: string, about: string, range: { min: number; max: number; step: number; value: number }): Setting {
  const inputmode = range.step === 1 ? "numeric" : "decimal";
  const input = h("input", { type: "number", id: id("setting"), ...range, inputmode });
  const element = h("div.field", { title: about }, h("label", { for: input.id }, name), h("span.row", input));
  return { name, input, element };
}

export class SamplingFields {
  readonly element: HTMLElement;
  readonly button: HTMLButtonElement;
  private readonly settings = [
    setting("Temperature", "Below 1: likely tokens. Above 1: more variety. 0: always the likeliest.", {
      ...{ min: 0, max: 5, step: 0.05, value: 0.8 },
    }),
    setting("Top-k (0: all)", "Samples among this many of the likeliest tokens.", { min: 0, max: 100_000, step: 1, value: 0 }),
    setting("Top-p (1: all)", "Samples among the likeliest tokens that together have this probability.", {
      ...{ min: 0.01, max: 1, step: 0.01, value: 1 },
    }),
    setting("Length, tokens", "Ends after this many tokens.", { min: 1, max: 10_000, step: 1, value: 200 }),
    setting("Seed", "The same seed, prompt and weights give the same text.", { min: 0, max: 4294967295, step: 1, value: 1 }),
  ];
  private readonly stopAt = line("stop", { placeholder: "none" });

  constructor() {
    const seed = this.settings.at(-1)!;
    seed.element.lastElementChild!.append(
      button("Another", () => (seed.input.value = String(Math.floor(Math.random() * 1_000_000))), { class: "small" }),
    );
    this.stopAt.removeAttribute("autocapitalize");
    const all = [...this.settings.map(({ element }) => element), labelled("Stop at this text", this.stopAt)];
    this.element = h("div.settings.wrap.foot", { id: id("settings"), hidden: true }, all);
    this.button = button("Options", () => this.open(Boolean(this.element.hidden)), {
      class: "quiet",
      "aria-expanded": "false",
      "aria-controls": this.element.id,
    });
  }

  private open(open: boolean): void {
    this.element.hidden = !open;
    this.button.setAttribute("aria-expanded", String(open));
    if (open) this.element.scrollIntoView({ block: "nearest" });
  }

  get stop(): string {
    return this.stopAt.value;
  }

  /** Returns the settings, or an error message if a field is invalid. */
  read(): { sampling: Sampling; most: number } | string {
    for (const { name, input } of this.settings) {
      const { min, max, step, value } = input;
      const number = Number(value);
      const whole = Number(step) === 1;
      const good = value.trim() !== "" && number >= Number(min) && number <= Number(max) && (!whole || Number.isInteger(number));
      input.setAttribute("aria-invalid", String(!good));
      if (good) continue;
      this.open(true);
      input.focus();
      return `${name.replace(/ ?[(,].*/, "")}: enter a ${whole ? "whole " : ""}number from ${min} to ${max}.`;
    }
    const [temperature, top_k, top_p, most, seed] = this.settings.map(({ input }) => Number(input.value)) as [
      number,
      number,
      number,
      number,
      number,
    ];
    return { sampling: { temperature, top_k, top_p, seed }, most };
  }
}
