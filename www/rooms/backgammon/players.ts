// Whom one can play or ask: the agent as it is, as it was, and the baselines; and how far they look ahead.

import { FREEZE_MINUTES, type Frozen, type PlayerKind } from "./protocol";
import { h, id } from "../../parts/dom";

const minutes = (n: number): string => (n === 1 ? "1 minute" : `${n} minutes`);

const CHOICES: { value: string; words: string; who: PlayerKind }[] = [
  { value: "now", words: "the agent as it is now", who: { kind: "now" } },
  ...FREEZE_MINUTES.map((n) => ({
    value: `at-${n}`,
    words: `the agent after ${minutes(n)}`,
    who: { kind: "frozen", minutes: n } as PlayerKind,
  })),
  { value: "linear", words: "Tesauro's pubeval", who: { kind: "linear" } },
  { value: "random", words: "random moves", who: { kind: "random" } },
];

const LOOK_AHEAD: { evals: number; words: string }[] = [
  { evals: 0, words: "none" },
  { evals: 100, words: "100 positions" },
  { evals: 400, words: "400 positions" },
];

export const capital = (words: string): string => words.charAt(0).toUpperCase() + words.slice(1);
/** A player's name as a sentence begins with it. */
export const whoIs = (name: string): string => capital(name.startsWith("agent") ? `the ${name}` : name);

/** A labelled choice of whom. */
export class WhoField {
  readonly element: HTMLElement;
  private readonly select = h("select", { id: id("who") });

  /** Baselines have no opinion to tell, so where one is asked for they are left out. */
  constructor(label: string, baselines: boolean, changed: () => void = () => {}) {
    const choices = CHOICES.filter(({ who }) => baselines || who.kind === "now" || who.kind === "frozen");
    this.select.append(...choices.map(({ value, words }) => h("option", { value }, words)));
    this.select.addEventListener("change", changed);
    this.element = h("p", { class: "field" }, h("label", { for: this.select.id }, label), this.select);
    this.offer([]);
  }

  get who(): PlayerKind {
    return CHOICES.find(({ value }) => value === this.select.value)?.who ?? { kind: "now" };
  }

  /** The agents that there are by now. */
  offer(frozen: Frozen[]): void {
    for (const option of this.select.options) {
      const choice = CHOICES.find(({ value }) => value === option.value);
      if (choice?.who.kind !== "frozen") continue;
      const { minutes: n } = choice.who;
      option.disabled = !frozen.some((one) => one.minutes === n);
      option.textContent = option.disabled ? `${choice.words} (not reached yet)` : choice.words;
    }
    if (this.select.selectedOptions[0]?.disabled) this.select.value = "now";
  }
}

export function lookAheadField(label: string, evals: number): { element: HTMLElement; evals: () => number } {
  const select = h(
    "select",
    { id: id("evals") },
    ...LOOK_AHEAD.map((one) => h("option", { value: one.evals, selected: one.evals === evals }, one.words)),
  );
  return { element: h("p", { class: "field" }, h("label", { for: select.id }, label), select), evals: () => Number(select.value) };
}
