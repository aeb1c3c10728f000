// Fields that choose a player and the look-ahead, for a match or an analysis. The players are the current agent, earlier agents, and
// baselines.

import { FREEZE_MINUTES, type Engine, type Frozen, type PlayerKind } from "./protocol";
import { h, id, labelled, select } from "../../parts/dom";
import { capital } from "../../parts/format";
import type { TrainedAgent } from "../../parts/trained";
import type { Answerer } from "../../run/trained";

const minutes = (n: number): string => (n === 1 ? "1 minute" : `${n} minutes`);

const CHOICES: { value: string; words: string; who: PlayerKind }[] = [
  { value: "now", words: "current agent", who: { kind: "now" } },
  ...FREEZE_MINUTES.map((n) => ({
    value: `at-${n}`,
    words: `agent after ${minutes(n)}`,
    who: { kind: "frozen", minutes: n } as PlayerKind,
  })),
  { value: "linear", words: "pubeval, a program of 1993", who: { kind: "linear" } },
  { value: "random", words: "random moves", who: { kind: "random" } },
];

const LOOK_AHEAD: [evals: number, words: string][] = [
  [0, "none"],
  [100, "100 positions"],
  [400, "400 positions"],
];

/** Name of the trained agent in the visitor's view. The run of the trained agent calls it `agent`. */
export const TRAINED = "trained agent";

/** Returns the name of a player as it appears within a sentence. */
export const within = (name: string): string => (name.startsWith("agent") || name === TRAINED ? `the ${name}` : name);
/** Returns the name of a player as it appears at the start of a sentence. */
export const whoIs = (name: string): string => capital(within(name));

/** Player that reviews the visitor's actions. */
export const JUDGE: Engine = { who: { kind: "now" }, evals: 100 };

export class WhoField {
  readonly element: HTMLElement;
  private readonly select = h("select", { id: id("who") });
  private readonly trained = h("option", { value: "trained" }, TRAINED);
  /** True after the visitor has chosen a player. */
  private chosen = false;

  /** Offers the agents. If `baselines` is true, also offers the baselines, which give no equities. */
  constructor(label: string, baselines: boolean) {
    const choices = CHOICES.filter(({ who }) => baselines || who.kind === "now" || who.kind === "frozen");
    this.select.append(...choices.map(({ value, words }) => h("option", { value }, words)));
    this.select.addEventListener("change", () => (this.chosen = true));
    this.element = labelled(label, this.select);
    this.offer([]);
  }

  /**
   * Run that contains the chosen player: the trained agent's run or the visitor's run. In the trained agent's run, only the current agent
   * can be chosen.
   */
  get run(): Answerer {
    return this.select.value === this.trained.value ? "trained" : "own";
  }

  /**
   * Adds the trained agent as the first option, or removes it. If the visitor has not chosen a player, the trained agent becomes the
   * selected option unless it is overtaken.
   */
  offerTrained({ state, overtaken }: TrainedAgent): void {
    if (state === "here") this.select.prepend(this.trained);
    else this.trained.remove();
    if (!this.chosen || this.select.selectedIndex < 0) this.select.value = state === "here" && !overtaken ? "trained" : "now";
  }

  get who(): PlayerKind {
    return CHOICES.find(({ value }) => value === this.select.value)?.who ?? { kind: "now" };
  }

  offer(frozen: Frozen[]): void {
    for (const option of this.select.options) {
      const choice = CHOICES.find(({ value }) => value === option.value);
      if (choice?.who.kind !== "frozen") continue;
      const { minutes: n } = choice.who;
      option.disabled = option.hidden = !frozen.some((one) => one.minutes === n);
    }
    if (this.select.selectedOptions[0]?.disabled) this.select.value = "now";
  }
}

export function lookAheadField(label: string, evals: number): { element: HTMLElement; evals: () => number } {
  const chosen = select("evals", LOOK_AHEAD, evals);
  return { element: labelled(label, chosen), evals: () => Number(chosen.value) };
}
