// A grid of cells on a canvas. The visitor paints cells with a pointer, or with a cursor that keys move.

import { pen } from "../../parts/canvas";
import { h } from "../../parts/dom";
import { Surface } from "../../parts/loop";
import { onTheme, palette } from "../../parts/theme";
import { arrowOf, clamp, modified } from "../../parts/keys";
import { cellColours, packed } from "./colours";
import type { Picture, Shows } from "./protocol";

/** Minimum size of a cell for which grid lines are drawn, in CSS pixels. */
const LINED = 7;

export type CellCallbacks = {
  /** Called when a pointer or a key touches a cell. */
  touched(x: number, y: number): void;
  moved?(x: number, y: number): void;
  /** Handles a key other than the arrow keys and Enter. Returns true if the key has an effect. */
  key?(key: string): boolean;
};

export class Cells {
  readonly element: HTMLCanvasElement;
  cursor = { x: 0, y: 0 };
  /** Radius of the disc of cells that a touch changes, in cells; 0 for a single cell. */
  reach = 0;
  marked = false;
  private readonly surface: Surface;
  private readonly picture = document.createElement("canvas");
  private image: ImageData | undefined;
  private width = 0;
  private height = 0;
  /** Cell under the pointer. */
  private over: { x: number; y: number } | undefined;
  /** Cell that the pressed pointer reached last; undefined if no pointer is pressed. */
  private last: { x: number; y: number } | undefined;
  private readonly stop: () => void;

  /** Without callbacks the grid is read-only. */
  constructor(
    label: string,
    private readonly callbacks?: CellCallbacks,
    /** Called after a change of the theme. */
    recolour: () => void = () => {},
  ) {
    this.element = h("canvas.cells", { role: callbacks ? "application" : "img", tabindex: callbacks ? 0 : undefined, "aria-label": label });
    this.surface = new Surface(this.element, () => this.draw());
    this.stop = onTheme(() => (recolour(), this.draw()));
    if (!callbacks) return;
    this.element.addEventListener("pointerdown", (event) => this.down(event));
    this.element.addEventListener("pointermove", (event) => this.move(event));
    this.element.addEventListener("pointerup", (event) => this.up(event));
    this.element.addEventListener("pointercancel", () => (this.last = undefined));
    this.element.addEventListener("pointerleave", () => this.hover(undefined));
    this.element.addEventListener("keydown", (event) => this.key(event));
    for (const kind of ["focus", "blur"]) this.element.addEventListener(kind, () => this.draw());
  }

  close(): void {
    this.surface.close();
    this.stop();
  }

  label(words: string): void {
    if (this.element.getAttribute("aria-label") !== words) this.element.setAttribute("aria-label", words);
  }

  /** Returns the pixels of a grid of this size, one number per cell. The caller writes the pixels before it calls `draw`. */
  pixels(width: number, height: number): Uint32Array {
    if (width !== this.width || height !== this.height) {
      this.cursor = { x: width >> 1, y: height >> 1 };
      [this.width, this.height] = [width, height];
      [this.picture.width, this.picture.height] = [width, height];
      this.image = new ImageData(width, height);
      this.element.style.aspectRatio = `${width} / ${height}`;
      this.element.style.setProperty("--ratio", String(width / height));
    }
    return new Uint32Array(this.image!.data.buffer);
  }

  /** Shows a picture of cell values. Each value has a colour. */
  show({ width, height, values }: Picture, shows: Shows): void {
    const colours = cellColours(shows).map(packed);
    const pixels = this.pixels(width, height);
    values.forEach((value, cell) => (pixels[cell] = colours[value]!));
    this.draw();
  }

  draw(): void {
    if (!this.image || this.surface.width === 0) return;
    const { width, height, surface } = this;
    this.picture.getContext("2d")!.putImageData(this.image, 0, 0);
    const c = surface.begin();
    const cell = surface.width / width;
    // The picture is smoothed only if cells are smaller than device pixels.
    c.imageSmoothingEnabled = cell * (this.element.width / surface.width) < 1;
    c.drawImage(this.picture, 0, 0, surface.width, surface.height);
    if (cell >= LINED) {
      pen(c, palette.paper, 1);
      c.beginPath();
      for (let x = 1; x < width; x++) c.moveTo(x * cell, 0), c.lineTo(x * cell, surface.height);
      for (let y = 1; y < height; y++) c.moveTo(0, y * cell), c.lineTo(surface.width, y * cell);
      c.stroke();
    }
    if (!this.callbacks) return;
    const keyed = this.element.matches(":focus-visible");
    const at = this.over ?? (keyed || this.marked ? this.cursor : undefined);
    if (at) this.outline(c, at, cell);
  }

  /**
   * Outlines the cells that a touch would change. A line in the colour of the paper lies on a wider line in the colour of the ink. The
   * outline therefore has contrast with every cell colour.
   */
  private outline(c: CanvasRenderingContext2D, { x, y }: { x: number; y: number }, cell: number): void {
    const { reach } = this;
    c.beginPath();
    for (let dy = -reach; dy <= reach; dy++)
      for (let dx = -reach; dx <= reach; dx++) {
        if (dx * dx + dy * dy > reach * reach) continue;
        const inside = (i: number, j: number): boolean => i * i + j * j <= reach * reach;
        const [left, top] = [(x + dx) * cell, (y + dy) * cell];
        if (!inside(dx, dy - 1)) c.moveTo(left, top), c.lineTo(left + cell, top);
        if (!inside(dx, dy + 1)) c.moveTo(left, top + cell), c.lineTo(left + cell, top + cell);
        if (!inside(dx - 1, dy)) c.moveTo(left, top), c.lineTo(left, top + cell);
        if (!inside(dx + 1, dy)) c.moveTo(left + cell, top), c.lineTo(left + cell, top + cell);
      }
    c.lineCap = "square";
    for (const [colour, width] of [
      [palette.ink, 4],
      [palette.paper, 1.5],
    ] as const) {
      pen(c, colour, width);
      c.stroke();
    }
  }

  private at(event: PointerEvent): { x: number; y: number } {
    const box = this.element.getBoundingClientRect();
    const place = (from: number, size: number, cells: number): number => clamp(Math.floor((from / size) * cells), 0, cells - 1);
    return { x: place(event.clientX - box.left, box.width, this.width), y: place(event.clientY - box.top, box.height, this.height) };
  }

  private down(event: PointerEvent): void {
    if (event.button !== 0 || !this.image) return;
    this.element.setPointerCapture(event.pointerId);
    this.last = this.at(event);
    // A touch may become a scroll. It therefore paints only when the finger moves to another cell or is lifted.
    if (event.pointerType !== "touch") this.touch(this.last);
  }

  private move(event: PointerEvent): void {
    if (!this.image) return;
    const at = this.at(event);
    if (event.pointerType !== "touch") this.hover(at);
    if (!this.last || (at.x === this.last.x && at.y === this.last.y)) return;
    // A quick drag skips cells, so the cells on the line between two positions are painted too.
    const steps = Math.max(Math.abs(at.x - this.last.x), Math.abs(at.y - this.last.y));
    const from = this.last;
    const stride = this.reach + 1;
    for (let k = Math.min(stride, steps); k <= steps; k += k < steps ? Math.min(stride, steps - k) : 1)
      this.touch({ x: Math.round(from.x + ((at.x - from.x) * k) / steps), y: Math.round(from.y + ((at.y - from.y) * k) / steps) });
    this.last = at;
  }

  private up(event: PointerEvent): void {
    if (this.last && event.pointerType === "touch") this.touch(this.last);
    this.last = undefined;
  }

  private hover(at: { x: number; y: number } | undefined): void {
    if (at?.x === this.over?.x && at?.y === this.over?.y) return;
    this.over = at;
    this.draw();
  }

  private touch({ x, y }: { x: number; y: number }): void {
    this.moveCursor(x, y);
    this.callbacks!.touched(x, y);
  }

  private moveCursor(x: number, y: number): void {
    this.cursor = { x, y };
    this.callbacks!.moved?.(x, y);
    this.draw();
  }

  private key(event: KeyboardEvent): void {
    if (modified(event) || !this.image) return;
    const step = arrowOf(event);
    const { x, y } = this.cursor;
    if (step) {
      this.over = undefined;
      this.moveCursor(clamp(x + step[0], 0, this.width - 1), clamp(y + step[1], 0, this.height - 1));
    } else if (event.key === "Enter") this.callbacks!.touched(x, y);
    else if (!this.callbacks!.key?.(event.key)) return;
    event.preventDefault();
  }
}
