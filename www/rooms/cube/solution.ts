// The strip of moves below the cube, and a chart of the agent's estimates and the true distances along a solution.

import { h, icon, lineThrough, svg, write } from "../../parts/dom";
import { placeOf } from "../../parts/keys";
import { value } from "./opinion";

/** A solution as the strip shows it. `names` are the moves. `values` are the agent's estimates, one before each move and one at the end. */
export type Shown = { names: string[]; values: (number | undefined)[]; optimal: number | null };
export type PlaybackActions = { goTo(step: number): void; play(): void };

export class SolutionPane {
  readonly element: HTMLElement;
  readonly chart: HTMLElement;
  private readonly plot = h("div.values-plot", { role: "img", "aria-label": "Moves left along the solution; nothing yet" });
  private readonly most = h("span.values-most", { "aria-hidden": "true" });
  private readonly spot = h("span.values-spot", { "aria-hidden": "true" });
  private readonly playButton = h("button.play-solution", { onclick: () => this.actions.play() });
  private readonly words = h("p.small.scramble-moves");
  private readonly track = h("div.solution-moves", {
    role: "slider",
    tabindex: 0,
    "aria-label": "Moves of the solution",
    "aria-valuemin": 0,
    hidden: true,
  });
  private values: Shown["values"] = [];
  private distances: (number | undefined)[] = [];
  private names: string[] = [];
  private at = 0;

  constructor(private readonly actions: PlaybackActions) {
    this.chart = h("figure.values", { hidden: true }, [h("div.values-field", this.plot, this.most, this.spot)]);
    this.element = h("div.solution", this.playButton, this.track, this.words);
    this.track.addEventListener("click", ({ target }) => {
      const step = Array.from(this.track.children).indexOf((target as Element).closest("span")!);
      if (step >= 0) this.actions.goTo(step);
    });
    this.track.addEventListener("keydown", (event) => this.key(event));
    this.playing(false);
    this.clear();
  }

  /** Shows a text in place of a solution. */
  clear(words = ""): void {
    write(this.words, words);
    this.words.hidden = false;
    this.track.hidden = this.chart.hidden = this.playButton.disabled = true;
  }

  show({ names, values, optimal }: Shown): void {
    this.names = names;
    this.values = values;
    this.distances = optimal === null ? [] : [optimal];
    this.track.replaceChildren(...["Start", ...names].map((name) => h("span", name)));
    this.track.setAttribute("aria-valuemax", String(names.length));
    this.words.hidden = true;
    this.track.hidden = false;
    this.chart.classList.toggle("unknown", optimal === null);
    this.chart.hidden = names.length === 0 || (values.every((one) => one === undefined) && optimal === null);
    this.draw();
    this.setStep(0);
  }

  known(step: number, distance: number): void {
    this.distances[step] = distance;
    this.draw();
    this.setStep(this.at);
  }

  setStep(at: number): void {
    const { names, track } = this;
    this.at = at;
    Array.from(track.children).forEach((item, k) => {
      item.classList.toggle("done", k < at);
      item.classList.toggle("here", k === at);
    });
    const item = track.children[at] as HTMLElement;
    track.scrollLeft = item.offsetLeft - (track.clientWidth - item.offsetWidth) / 2;
    this.playButton.disabled = at >= names.length;
    const [thinks, known] = [this.values[at], this.distances[at]];
    const shown = thinks ?? known;
    this.spot.hidden = shown === undefined;
    if (shown !== undefined) {
      this.spot.style.left = `${(100 * at) / Math.max(1, names.length)}%`;
      this.spot.style.top = `${100 * (1 - Math.max(0, shown) / this.high)}%`;
    }
    const place = `${at} of ${names.length}${at ? `: ${names[at - 1]}` : ""}`;
    track.setAttribute("aria-valuenow", String(at));
    track.setAttribute("aria-valuetext", place);
    const spoken = [thinks === undefined ? "" : `agent's estimate ${value(thinks)}`, known === undefined ? "" : `shortest ${known}`]
      .filter(Boolean)
      .join(", ");
    this.plot.setAttribute("aria-label", `Moves left along the solution: after move ${place}, ${spoken || "unknown"}`);
  }

  playing(playing: boolean): void {
    this.playButton.replaceChildren(icon(playing ? "pause" : "play"), playing ? "Pause moves" : "Play moves");
  }

  private key(event: KeyboardEvent): void {
    const step = placeOf(event, this.at, this.names.length + 1);
    if (step === undefined) return;
    event.preventDefault();
    this.actions.goTo(step);
  }

  private get high(): number {
    return Math.max(1, ...this.values.map((one) => one ?? 0), ...this.distances.map((distance) => distance ?? 0)) * 1.08;
  }

  private draw(): void {
    const { high, names } = this;
    const point = (n: number | undefined, k: number): [number, number] | undefined =>
      n === undefined ? undefined : [(100 * k) / Math.max(1, names.length), 40 * (1 - Math.max(0, n) / high)];
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
