// The choice between a room's trained agent and the visitor's own agent.

import type { Answerer } from "../run/trained";
import { Choice } from "./dom";
import type { TrainedAgent } from "./trained";

export class TrainedChoice {
  readonly element: HTMLElement;
  private readonly choice: Choice<Answerer>;
  /** Agent that the visitor chose; undefined before the first choice. */
  private chosen: Answerer | undefined;
  private agent: Pick<TrainedAgent, "state" | "overtaken"> = { state: "none", overtaken: false };

  /** `does` begins the titles of both options. `word` is the room's noun for an agent. `changed` is called when the visitor chooses. */
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
   * Agent that answers. Without a loaded trained agent, the visitor's agent answers. With a loaded one, the visitor's choice decides.
   * Before a choice, the trained agent answers until the visitor's agent overtakes it.
   */
  get answerer(): Answerer {
    const { state, overtaken } = this.agent;
    return state === "here" ? (this.chosen ?? (overtaken ? "own" : "trained")) : "own";
  }

  /** Sets the choice from the program. Does not call `changed`. */
  choose(chosen: Answerer): void {
    this.chosen = chosen;
    this.choice.value = this.answerer;
  }

  /**
   * Updates the choice after a change of the trained agent. While that agent is expected, the choice is invisible but occupies its space.
   */
  set({ state, overtaken }: Pick<TrainedAgent, "state" | "overtaken">): void {
    this.agent = { state, overtaken };
    this.element.hidden = state === "none";
    this.element.style.visibility = state === "here" ? "" : "hidden";
    this.choice.value = this.answerer;
  }
}
