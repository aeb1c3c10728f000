// Histograms of a learner's weights, gradients and activations over the iterations, one layer at a time. They are sampled while they are on
// the screen.

import type { Histogram, TensorView } from "../run/protocol";
import { font, pen, stroke } from "./canvas";
import { h, labelled, select, write } from "./dom";
import { capital, count, figure } from "./format";
import { animate, Surface } from "./loop";
import { Table } from "./table";
import { onTheme, palette, type Colour } from "./theme";

const ASK_EVERY_MS = 1000;
/** Maximum share of the worker's time that the requests for histograms may take. */
const MOST_SHARE = 0.05;
const MOST_SAMPLES = 120;
/** Width of the axis labels on the left of a picture, in px. */
const GUTTER = 64;
/** Distance from the mean, in standard deviations, beyond which values are not drawn. */
const FAR = 4;

const ABOUT =
  "Each column is the distribution of a tensor's values at a time: more values give a stronger colour. Time runs to the right, and the " +
  "latest numbers are below. Values beyond four standard deviations are not drawn.";

type TensorKind = "weights" | "gradients" | "activations";
/** Values of which a strip shows the distribution. */
type Distribution = { kind: TensorKind; words: string; colour: Colour };
/** `samples` names the states in which activations are computed. */
const distributions = (samples: string): Distribution[] => [
  { kind: "weights", words: "Weights", colour: "agent" },
  { kind: "gradients", words: "Average gradient: Adam’s first moment", colour: "training" },
  { kind: "activations", words: `Activations of the layer in ${samples}`, colour: "plus" },
];

type Sample = { iteration: number; tensors: TensorView[] };
/** Histogram of a tensor at one iteration, drawn as a column. */
type Column = { iteration: number; histogram: Histogram };

/**
 * Samples of a run, evenly spaced. If there are more than `MOST_SAMPLES`, every second sample is dropped and the spacing of later samples
 * doubles.
 */
class Samples {
  readonly kept: Sample[] = [];
  private every = 1;
  private skipped = 0;
  /** True if the last sample lies between two evenly spaced samples. The next sample then replaces the last sample. */
  private temporary = false;

  push(sample: Sample): void {
    const paused = this.kept.at(-1)?.iteration === sample.iteration;
    if (paused || this.temporary) this.kept.pop();
    this.kept.push(sample);
    if (paused) return;
    this.temporary = ++this.skipped < this.every;
    if (this.temporary) return;
    this.skipped = 0;
    if (this.kept.length <= MOST_SAMPLES) return;
    this.kept.splice(0, this.kept.length, ...this.kept.filter((_, k) => k % 2 === 0));
    this.every *= 2;
  }

  columns(tensor: string, kind: TensorKind): Column[] {
    return this.kept.flatMap(({ iteration, tensors }) => {
      const histogram = tensors.find(({ name }) => name === tensor)?.[kind];
      return histogram ? [{ iteration, histogram }] : [];
    });
  }
}

/** Returns the name of the layer that contains a tensor: `policy.0` for `policy.0.weight`. */
const layerOf = (tensor: string): string => tensor.split(".").slice(0, -1).join(".") || tensor;

const numbersOf = ({ min, max, mean, deviation }: Histogram): string[] => [
  `min ${figure(min)}`,
  `max ${figure(max)}`,
  `mean ${figure(mean)}`,
  `deviation ${figure(deviation)}`,
];

/** A picture of a tensor's distribution over the iterations. */
class Strip {
  readonly element: HTMLElement;
  private readonly canvas = h("canvas", { role: "img", "aria-label": "Nothing yet" });
  private readonly surface = new Surface(this.canvas, () => this.draw());
  private readonly numbers = Array.from({ length: 4 }, () => h("span"));
  private columns: Column[] = [];

  constructor(
    private readonly tensor: string,
    readonly of: Distribution,
  ) {
    this.element = h("figure", h("figcaption.small", of.words), this.canvas, h("p.tensor-numbers.small", this.numbers));
  }

  show(columns: Column[]): void {
    this.columns = columns;
    const numbers = numbersOf(columns.at(-1)!.histogram);
    numbers.forEach((words, k) => write(this.numbers[k]!, words));
    const { tensor, of } = this;
    this.canvas.setAttribute("aria-label", `${of.words} of ${tensor}, ${columns.length} samples; latest: ${numbers.join(", ")}`);
    this.draw();
  }

  close(): void {
    this.surface.close();
  }

  draw(): void {
    const { columns, surface } = this;
    const c = surface.begin();
    if (columns.length === 0 || surface.width === 0) return;
    const [low, high] = rangeOf(columns);
    const y = (value: number): number => 8 + (surface.height - 16) * ((high - value) / (high - low));
    c.fillStyle = palette[this.of.colour];
    c.save();
    c.beginPath();
    c.rect(0, y(high), surface.width, y(low) - y(high));
    c.clip();
    fillColumns(c, columns, surface.width, y);
    c.restore();
    pen(c, palette.ghost, 1);
    if (low < 0 && high > 0) stroke(c, GUTTER, y(0), surface.width, y(0));
    c.fillStyle = palette.muted;
    c.font = font(12);
    c.textAlign = "right";
    c.textBaseline = "middle";
    for (const value of [low, high]) c.fillText(figure(value), GUTTER - 8, y(value));
    if (Math.min(y(0) - y(high), y(low) - y(0)) > 16) c.fillText("0", GUTTER - 8, y(0));
  }
}

/** Returns the range of the values that are drawn. */
function rangeOf(columns: Column[]): [number, number] {
  const low = Math.min(...columns.map(({ histogram: { min, mean, deviation } }) => Math.max(min, mean - FAR * deviation)));
  const high = Math.max(...columns.map(({ histogram: { max, mean, deviation } }) => Math.min(max, mean + FAR * deviation)));
  const apart = low === high ? Math.abs(low) || 1 : 0;
  return [low - apart, high + apart];
}

/** Fills a column for each sample. A column extends to the iteration of the next sample; a bin with more values is more opaque. */
function fillColumns(c: CanvasRenderingContext2D, columns: Column[], width: number, y: (value: number) => number): void {
  const [first, last] = [columns[0]!.iteration, columns.at(-1)!.iteration];
  const end = last + Math.max(1, (last - first) / Math.max(1, columns.length - 1));
  const x = (iteration: number): number => Math.round(GUTTER + ((width - GUTTER) * (iteration - first)) / (end - first));
  columns.forEach(({ iteration, histogram: { min, max, counts } }, k) => {
    const [from, to] = [x(iteration), x(columns[k + 1]?.iteration ?? end)];
    const most = Math.max(1, ...counts);
    const step = (max - min) / counts.length;
    counts.forEach((values, bin) => {
      if (values === 0) return;
      const top = y(min + (bin + 1) * step);
      // The square root makes bins with few values visible.
      c.globalAlpha = Math.sqrt(values / most);
      c.fillRect(from, top, to - from, Math.max(1, y(min + bin * step) - top));
    });
  });
}

export class Tensors {
  readonly element: HTMLElement;
  private readonly span = h("p.small");
  private readonly layers = select("layer", []);
  private readonly layer = labelled("Layer", this.layers);
  private readonly rows = h("div.tensors");
  private readonly table: Table;
  private samples = new Samples();
  private strips: { tensor: string; strip: Strip }[] = [];
  /** Names of the tensors whose layers the visitor can choose, one name per line. */
  private named = "";
  private asking = false;
  private nextMs = -Infinity;

  private readonly distributions: Distribution[];

  /** `word` is the room's word for an iteration. `samples` names the states in which activations are computed. */
  constructor(
    private readonly ask: () => Promise<TensorView[]>,
    private readonly iteration: () => number,
    private readonly word: string,
    samples = "sample states",
  ) {
    this.distributions = distributions(samples);
    const titles = ["Tensor", "Values", "Minimum", "Maximum", "Mean", "Standard deviation"];
    this.table = new Table("Weights and gradients", titles, () => this.tableRows(), ["Values"]);
    this.table.caption.textContent = "Latest values of each tensor";
    this.layers.addEventListener("change", () => this.build());
    const head = h("div.head", h("h3", "Weights and gradients"), this.table.button);
    this.element = h("div.card", head, h("p.about", ABOUT), this.layer, this.rows, this.span, this.table.element);
    this.begin();
    animate(this.element, (nowMs) => this.sample(nowMs), ASK_EVERY_MS);
    onTheme(() => this.strips.forEach(({ strip }) => strip.draw()));
  }

  /** Discards the samples of the previous run. */
  begin(): void {
    this.samples = new Samples();
    this.named = "";
    this.nextMs = -Infinity;
    this.layer.hidden = true;
    this.empty();
    this.table.clear();
    write(this.span, "No values yet");
  }

  private sample(nowMs: number): void {
    if (this.asking || nowMs < this.nextMs) return;
    this.asking = true;
    const { samples } = this;
    const [iteration, askedMs] = [this.iteration(), performance.now()];
    this.ask()
      .then((tensors) => samples === this.samples && tensors.length > 0 && this.take({ iteration, tensors }))
      .catch(() => {}) // no worker answers between two runs
      .finally(() => {
        const nowMs = performance.now();
        this.asking = false;
        this.nextMs = nowMs + (nowMs - askedMs) / MOST_SHARE;
      });
  }

  private take(sample: Sample): void {
    this.samples.push(sample);
    const names = sample.tensors.map(({ name }) => name);
    if (names.join("\n") !== this.named) this.offer(names);
    this.show();
    this.table.refresh();
  }

  /** Offers the layers that contain the tensors `names`. The chosen layer remains chosen if it still exists. */
  private offer(names: string[]): void {
    this.named = names.join("\n");
    const chosen = this.layers.value;
    const layers = [...new Set(names.map(layerOf))];
    this.layers.replaceChildren(...layers.map((layer) => h("option", { value: layer, selected: layer === chosen }, layer)));
    this.layer.hidden = layers.length < 2;
    this.build();
  }

  private build(): void {
    this.empty();
    const tensors = this.samples.kept.at(-1)!.tensors.filter(({ name }) => layerOf(name) === this.layers.value);
    for (const tensor of tensors) {
      const strips = this.distributions.filter(({ kind }) => tensor[kind]).map((of) => new Strip(tensor.name, of));
      this.strips.push(...strips.map((strip) => ({ tensor: tensor.name, strip })));
      const title = h("h4", tensor.name, h("span.small", ` ${tensor.shape.map(count).join(" × ")}`));
      this.rows.append(h("article.tensor", title, h("div.tensor-strips", ...strips.map(({ element }) => element))));
    }
    this.show();
  }

  private empty(): void {
    for (const { strip } of this.strips) strip.close();
    this.strips = [];
    this.rows.replaceChildren();
  }

  private show(): void {
    for (const { tensor, strip } of this.strips) strip.show(this.samples.columns(tensor, strip.of.kind));
    const { kept } = this.samples;
    const [first, last] = [kept[0]!, kept.at(-1)!].map(({ iteration }) => count(iteration));
    write(this.span, first === last ? `${capital(this.word)} ${last}` : `${capital(this.word)}s ${first} to ${last}`);
  }

  private tableRows(): string[][] {
    const tensors = this.samples.kept.at(-1)?.tensors ?? [];
    return tensors.flatMap((tensor) =>
      this.distributions.flatMap(({ kind, words }) => {
        const of = tensor[kind];
        return of ? [[tensor.name, words, figure(of.min), figure(of.max), figure(of.mean), figure(of.deviation)]] : [];
      }),
    );
  }
}
