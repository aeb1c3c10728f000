// Playback of a solution. It shows the moves, the current step, and the agent's estimate and the true distance before each move.

import { button, h, type Icon, icon, id, lineThrough, svg, write } from "../../parts/dom";
import { moves, value } from "./opinion";
import type { Found } from "./solver";

const PACES = [
  { words: "slow", ms: 1000 },
  { words: "normal", ms: 480 },
  { words: "fast", ms: 190 },
];

export type PlaybackActions = { goTo(step: number): void; play(): void };

const stepButton = (name: Icon, words: string, go: () => void): HTMLButtonElement =>
  button(icon(name), go, { "aria-label": words, title: words });

export class SolutionPane {
  readonly element: HTMLElement;
  private readonly cost = h("p.small.cost");
  private readonly empty = h("p.small.no-solution", "The solution appears here: its moves, and the agent's estimate before each.");
  private readonly plot = h("div.values-plot", { role: "img" });
  private readonly most = h("span.values-most", { "aria-hidden": "true" });
  private readonly spot = h("span.values-spot", { "aria-hidden": "true" });
  private readonly chart = h("figure.values");
  private readonly strip = h("ol.solution-moves", { "aria-label": "Moves of the solution" });
  private readonly pace = h("select", { id: id("pace"), "aria-label": "Speed" }, [
    PACES.map(({ words, ms }) => h("option", { value: ms, selected: words === "normal" }, words)),
  ]);
  private readonly playButton = h("button.strong.play-solution", { onclick: () => this.actions.play() });
  private readonly back = stepButton("left", "One move back", () => this.actions.goTo(this.at - 1));
  private readonly on = stepButton("right", "One move forward", () => this.actions.goTo(this.at + 1));
  private readonly start = stepButton("reset", "Back to the scramble", () => this.actions.goTo(0));
  private buttons: HTMLButtonElement[] = [];
  private values: number[] = [];
  private distances: (number | undefined)[] = [];
  private length = 0;
  private at = 0;

  constructor(private readonly actions: PlaybackActions) {
    this.chart.append(
      h("figcaption.small", h("span.key.thinks", "agent's estimate"), h("span.key.known", "shortest")),
      h("div.values-field", this.plot, this.most, this.spot),
    );
    this.element = h("div.solution.box.none", [
      this.cost,
      h("div.row.player", this.start, this.back, this.playButton, this.on, this.pace),
      this.chart,
      this.strip,
      this.empty,
    ]);
    this.playing(false);
  }

  get paceMs(): number {
    return Number(this.pace.value);
  }

  clear(): void {
    this.element.classList.add("none");
  }

  show({ solution }: Found, words: string): void {
    if (!solution) return;
    this.length = solution.moves.length;
    this.values = solution.values;
    this.distances = solution.optimal === null ? [] : [solution.optimal];
    this.buttons = solution.moves.map((move, k) =>
      h("button.quiet.small", { "aria-label": `Go to move ${k + 1}: ${move}`, onclick: () => this.actions.goTo(k + 1) }, move),
    );
    this.strip.replaceChildren(...this.buttons.map((button) => h("li", button)));
    write(this.cost, words);
    this.element.classList.remove("none");
    this.chart.classList.toggle("unknown", solution.optimal === null);
    this.chart.hidden = this.length === 0 || (this.values.length === 0 && solution.optimal === null);
    this.draw();
    this.setStep(0);
  }

  known(step: number, distance: number): void {
    this.distances[step] = distance;
    this.draw();
    this.setStep(this.at);
  }

  setStep(at: number): void {
    this.at = at;
    this.buttons.forEach((button, k) => {
      button.classList.toggle("done", k < at);
      if (k + 1 === at) {
        button.setAttribute("aria-current", "step");
        const item = button.parentElement!;
        this.strip.scrollTo({ left: item.offsetLeft - this.strip.clientWidth / 2, behavior: "auto" });
      } else button.removeAttribute("aria-current");
    });
    this.back.disabled = this.start.disabled = at === 0;
    this.on.disabled = this.playButton.disabled = at >= this.length;
    const [thinks, known] = [this.values[at], this.distances[at]];
    const shown = thinks ?? known;
    this.spot.hidden = shown === undefined;
    if (shown !== undefined) {
      this.spot.style.left = `${(100 * at) / Math.max(1, this.length)}%`;
      this.spot.style.top = `${100 * (1 - Math.max(0, shown) / this.high)}%`;
    }
    const spoken = [thinks === undefined ? "" : `agent's estimate ${value(thinks)}`, known === undefined ? "" : `shortest ${known}`]
      .filter(Boolean)
      .join(", ");
    this.plot.setAttribute("aria-label", `Moves left along the solution: after ${moves(at)} of ${this.length}, ${spoken || "unknown"}`);
  }

  playing(playing: boolean): void {
    this.playButton.replaceChildren(icon(playing ? "pause" : "play"), playing ? "Pause" : "Play");
  }

  private get high(): number {
    return Math.max(1, ...this.values, ...this.distances.map((distance) => distance ?? 0)) * 1.08;
  }

  private draw(): void {
    const { high, length } = this;
    const point = (n: number | undefined, k: number): [number, number] | undefined =>
      n === undefined ? undefined : [(100 * k) / Math.max(1, length), 40 * (1 - Math.max(0, n) / high)];
    this.plot.replaceChildren(
      svg(
        "svg",
        { viewBox: "0 0 100 40", preserveAspectRatio: "none", "aria-hidden": "true" },
        svg("path", { class: "floor", d: "M0 40H100" }),
        svg("path", { class: "known", d: lineThrough(Array.from(this.distances, point)) }),
        svg("path", { class: "thinks", d: lineThrough(this.values.map(point)) }),
      ),
    );
    write(this.most, String(Math.round(high / 1.08)));
  }
}
