// The transport bar: buttons for play, pause, step, new run and speed, with the run's rate and counters.

import { button, Choice, h, icon, write } from "./dom";

/** Speeds that the visitor can select. `times` is a multiple of real time; null is unlimited. */
export const SPEEDS: { name: string; spoken: string; times: number | null }[] = [
  { name: "×¼", spoken: "a quarter of real time", times: 0.25 },
  { name: "×1", spoken: "real time", times: 1 },
  { name: "×4", spoken: "4 times real time", times: 4 },
  { name: "Max", spoken: "maximum", times: null },
];

export type TransportActions = {
  run: (running: boolean) => void;
  step: () => void;
  reset: () => void;
  /** Sets the speed; `index` is the position in `SPEEDS`. Missing in rooms without a real-time speed. */
  speed?: (index: number) => void;
};

/** Texts of a room: labels of the rate and of the counters, and the unit of a step. */
export type Counted = { rate: string; figures: string[]; step: string };

const speedChoice = (chosen: (index: number) => void): Choice<string> =>
  new Choice(
    "Speed",
    SPEEDS.map(({ name, spoken }, k) => ({ value: name, words: name, title: `Speed: ${spoken} (${k + 1})` })),
    SPEEDS.at(-1)!.name,
    (value) => chosen(SPEEDS.findIndex(({ name }) => name === value)),
    "speeds",
  );

export class Transport {
  readonly element: HTMLElement;
  private readonly play = h("button.play");
  private readonly speeds: Choice<string> | undefined;
  private readonly rate = h("output.number");
  private readonly figures: HTMLElement[];
  private running = true;

  constructor(
    private readonly actions: TransportActions,
    counted: Counted,
  ) {
    const { speed: chosen } = actions;
    this.figures = counted.figures.map(() => h("output.number"));
    this.speeds = chosen && speedChoice(chosen);
    this.play.addEventListener("click", () => this.toggle());
    this.element = h("section.transport", { "aria-label": "Transport" }, [
      h("div.row", [
        this.play,
        button([icon("step"), "Step"], actions.step, { title: `One ${counted.step} (s)` }),
        button([icon("reset"), "New run"], actions.reset, { title: "New run (r)" }),
      ]),
      this.speeds?.element,
      h("dl.figures", this.pair(counted.rate, this.rate), ...counted.figures.map((name, k) => this.pair(name, this.figures[k]!))),
    ]);
    this.setRunning(true);
  }

  private pair(name: string, value: HTMLElement): HTMLElement {
    return h("div", h("dt", name), h("dd", value));
  }

  toggle(): void {
    this.actions.run(!this.running);
  }

  setRunning(running: boolean): void {
    this.running = running;
    this.play.replaceChildren(icon(running ? "pause" : "play"), running ? "Pause" : "Play");
    this.play.title = running ? "Pause (space)" : "Play (space)";
    write(this.rate, running ? "–" : "paused");
  }

  setSpeed(index: number): void {
    if (!this.speeds) return;
    this.speeds.value = SPEEDS[index]!.name;
    this.actions.speed?.(index);
  }

  /** Shows the counters, and the rate if the run is not paused. */
  show(rate: string | undefined, figures: string[]): void {
    figures.forEach((text, k) => write(this.figures[k]!, text));
    if (this.running && rate !== undefined) write(this.rate, rate);
  }
}
