// Grid of attention heads with one row per layer. Each head is a small picture of its weights, and one head is chosen.

import { h, id, write } from "../../parts/dom";
import { onTheme, rgb } from "../../parts/theme";

export class HeadsGrid {
  readonly element = h("fieldset.heads");
  layer = 0;
  head = 0;
  private inputs: HTMLInputElement[] = [];
  private canvases: HTMLCanvasElement[] = [];
  /** Attention weights in the picture of each head; undefined if the weights are unknown. */
  private weights: (Float32Array | undefined)[] = [];
  private heads = 0;
  private readonly legend = h("legend.small");

  constructor(private readonly chosen: () => void) {
    onTheme(() => this.canvases.forEach((_, k) => this.draw(k)));
  }

  get count(): number {
    return this.inputs.length;
  }

  begin(layers: number, heads: number): void {
    this.weights = Array.from({ length: layers * heads });
    this.heads = heads;
    [this.layer, this.head] = [0, 0];
    const name = id("head");
    const all = Array.from({ length: layers * heads }, (_, k) => {
      const [layer, head] = [Math.floor(k / heads), k % heads];
      const input = h("input.unseen", {
        type: "radio",
        name,
        id: `${name}-${k}`,
        checked: k === 0,
        "aria-label": `Layer ${layer + 1}, head ${head + 1}`,
      });
      input.addEventListener("change", () => {
        [this.layer, this.head] = [layer, head];
        this.chosen();
      });
      const canvas = h("canvas", { width: 1, height: 1, "aria-hidden": "true" });
      return { input, canvas, label: h("label", { for: input.id, title: `Layer ${layer + 1}, head ${head + 1}` }, canvas) };
    });
    this.inputs = all.map(({ input }) => input);
    this.canvases = all.map(({ canvas }) => canvas);
    write(this.legend, "Rows: layers. Columns: heads. In each picture, row tokens attend to column tokens.");
    this.element.style.setProperty("--heads", String(heads));
    this.element.replaceChildren(this.legend, h("div.heads-grid", ...all.flatMap(({ input, label }) => [input, label])));
  }

  at(k: number): { layer: number; head: number } {
    return { layer: Math.floor(k / this.heads), head: k % this.heads };
  }

  /** Shows the weights of head `k`: a square matrix, stored row by row. */
  show(k: number, weights: Float32Array | undefined): void {
    if (this.weights[k] === weights) return;
    this.weights[k] = weights;
    this.draw(k);
  }

  private draw(k: number): void {
    const canvas = this.canvases[k]!;
    const weights = this.weights[k];
    const side = Math.sqrt(weights?.length ?? 1);
    if (canvas.width !== side) [canvas.width, canvas.height] = [side, side];
    const context = canvas.getContext("2d")!;
    if (!weights) return context.clearRect(0, 0, side, side);
    const image = context.createImageData(side, side);
    const [red, green, blue] = rgb("agent");
    for (let from = 0; from < side; from++)
      for (let to = 0; to <= from; to++) {
        // The square root makes small weights visible.
        const alpha = 255 * Math.sqrt(weights[from * side + to]!);
        image.data.set([red, green, blue, alpha], 4 * (from * side + to));
      }
    context.putImageData(image, 0, 0);
  }
}
