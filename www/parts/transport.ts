// Play, pause, step, start again, speed; and how fast it goes. It sends wishes and shows what the run says.

import type { Progress } from "../run/protocol";
import { h, icon, id, write } from "./dom";
import { count, seconds, short } from "./format";

/** How many times real time; null is as fast as it goes. */
export const SPEEDS: { name: string; spoken: string; times: number | null }[] = [
  { name: "×1", spoken: "real time", times: 1 },
  { name: "×4", spoken: "4 times real time", times: 4 },
  { name: "×16", spoken: "16 times real time", times: 16 },
  { name: "Max", spoken: "as fast as it goes", times: null },
];

export type Wishes = {
  run: (running: boolean) => void;
  step: () => void;
  reset: () => void;
  speed: (index: number) => void;
};

export class Transport {
  readonly element: HTMLElement;
  private readonly play = h("button", { type: "button", class: "play" });
  private readonly speeds: HTMLInputElement[];
  private readonly rate = h("output", { class: "number" });
  private readonly steps = h("output", { class: "number" });
  private readonly time = h("output", { class: "number" });
  private readonly iterations = h("output", { class: "number" });
  private running = true;

  constructor(private readonly wishes: Wishes) {
    const group = id("speed");
    this.speeds = SPEEDS.map((speed, index) =>
      h("input", {
        type: "radio",
        name: group,
        id: `${group}-${index}`,
        checked: speed.times === null,
        "aria-label": `Speed: ${speed.spoken}`,
        onchange: () => wishes.speed(index),
      }),
    );
    this.play.addEventListener("click", () => this.toggle());
    this.element = h(
      "section",
      { class: "transport", "aria-label": "Transport" },
      h(
        "div",
        { class: "row" },
        this.play,
        h("button", { type: "button", title: "One iteration (s)", "aria-label": "Step: one iteration", onclick: wishes.step }, icon("step"), h("span", { class: "wide" }, "Step")),
        h("button", { type: "button", title: "Start again (r)", "aria-label": "Start again from nothing", onclick: wishes.reset }, icon("reset"), h("span", { class: "wide" }, "Start again")),
      ),
      h(
        "fieldset",
        { class: "speeds" },
        h("legend", { class: "unseen" }, "Speed"),
        ...SPEEDS.flatMap((speed, index) => [
          this.speeds[index]!,
          h("label", { for: `${group}-${index}`, title: `Speed: ${speed.spoken} (${index + 1})` }, speed.name),
        ]),
      ),
      h(
        "dl",
        { class: "figures" },
        ...this.pair("steps a second", this.rate),
        ...this.pair("steps", this.steps),
        ...this.pair("iterations", this.iterations),
        ...this.pair("training time", this.time),
      ),
    );
    this.setRunning(true);
  }

  private pair(name: string, value: HTMLElement): HTMLElement[] {
    return [h("div", {}, h("dt", {}, name), h("dd", {}, value))];
  }

  toggle(): void {
    this.wishes.run(!this.running);
  }

  setRunning(running: boolean): void {
    this.running = running;
    this.play.replaceChildren(icon(running ? "pause" : "play"), h("span", {}, running ? "Pause" : "Play"));
    this.play.title = running ? "Pause (space)" : "Play (space)";
    write(this.rate, running ? "–" : "paused");
  }

  setSpeed(index: number): void {
    const radio = this.speeds[index];
    if (!radio) return;
    radio.checked = true;
    this.wishes.speed(index);
  }

  /** `stepsPerS` only while it runs. */
  show(progress: Progress, stepsPerS: number | undefined): void {
    write(this.steps, short(progress.env_steps));
    write(this.iterations, count(progress.iteration));
    write(this.time, seconds(progress.train_s));
    if (this.running && stepsPerS !== undefined) write(this.rate, short(stepsPerS));
  }
}
