// The choice between a room's trained agent and the visitor's own.

import type { Answerer } from "../run/trained";
import { Choice } from "./dom";
import type { TrainedAgent } from "./trained";

export class TrainedChoice {
  readonly element: HTMLElement;
  private readonly choice: Choice<Answerer>;
  /** The visitor's choice; undefined before a choice. */
  private chosen: Answerer | undefined;
  private agent: Pick<TrainedAgent, "state" | "overtaken"> = { state: "none", overtaken: false };

  /** `does` begins the titles of both options, `word` names the trained agent. `changed` is called after a choice of the visitor. */
  constructor(legend: string, does: string, word: string, changed: () => void = () => {}) {
    this.choice = new Choice<Answerer>(
      legend,
      [
        { value: "trained", words: `Trained ${word}`, title: `${does}: by the ${word} that was trained before your visit` },
        { value: "own", words: "Yours", title: `${does}: by your own ${word}` },
      ],
      "own",
      (chosen) => {
        this.chosen = chosen;
        changed();
      },
    );
    this.element = this.choice.element;
    this.set(this.agent);
  }

  /**
   * Agent that answers: the visitor's choice, by default the trained agent until the visitor's agent overtakes it. Without a loaded trained
   * agent, the visitor's agent answers.
   */
  get answerer(): Answerer {
    const { state, overtaken } = this.agent;
    return state === "here" ? (this.chosen ?? (overtaken ? "own" : "trained")) : "own";
  }

  /** Makes the choice in place of the visitor. */
  choose(chosen: Answerer): void {
    this.chosen = chosen;
    this.choice.value = this.answerer;
  }

  /** Offers the choice. While the trained agent is expected, the choice is invisible and keeps its place. */
  set({ state, overtaken }: Pick<TrainedAgent, "state" | "overtaken">): void {
    this.agent = { state, overtaken };
    this.element.hidden = state === "none";
    this.element.style.visibility = state === "here" ? "" : "hidden";
    this.choice.value = this.answerer;
  }
}
