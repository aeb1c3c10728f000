// A grid of cells on a canvas: shown, painted by pointer, and walked over by keys with a cursor.

import { pen } from "../../parts/canvas";
import { h } from "../../parts/dom";
import { Surface } from "../../parts/loop";
import { onTheme, palette } from "../../parts/theme";
import { arrowOf, clamp, modified } from "../shared/keys";
import { cellColours, packed } from "./colours";
import type { Picture, Shows } from "./protocol";

/** Between cells as large as this there are lines, in CSS pixels. */
const LINED = 7;

export type Hands = {
  /** A cell was touched, by a pointer that came from there, or by keys. */
  touched(x: number, y: number): void;
  moved?(x: number, y: number): void;
  /** Another key than those of the cursor; true where it was for the grid. */
  key?(key: string): boolean;
};

export class Cells {
  readonly element: HTMLCanvasElement;
  cursor = { x: 0, y: 0 };
  /** Cells around the cursor that a touch reaches. */
  reach = 0;
  marked = false;
  private readonly surface: Surface;
  private readonly picture = document.createElement("canvas");
  private image: ImageData | undefined;
  private width = 0;
  private height = 0;
  /** Where the pointer is, and since it was put down, whether it painted. */
  private over: { x: number; y: number } | undefined;
  private last: { x: number; y: number } | undefined;
  private readonly stop: () => void;

  /** Without hands it is a picture. */
  constructor(
    label: string,
    private readonly hands?: Hands,
    /** The colours are made anew. */
    recolour: () => void = () => {},
  ) {
    this.element = h("canvas.cells", { role: hands ? "application" : "img", tabindex: hands ? 0 : undefined, "aria-label": label });
    this.surface = new Surface(this.element, () => this.draw());
    this.stop = onTheme(() => (recolour(), this.draw()));
    if (!hands) return;
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

  /** The pixels of a grid of this size, a word a cell, to be written before `draw`. */
  pixels(width: number, height: number): Uint32Array {
    if (width !== this.width || height !== this.height) {
      this.cursor = { x: width >> 1, y: height >> 1 };
      [this.width, this.height] = [width, height];
      [this.picture.width, this.picture.height] = [width, height];
      this.image = new ImageData(width, height);
      this.element.style.aspectRatio = `${width} / ${height}`;
    }
    return new Uint32Array(this.image!.data.buffer);
  }

  /** A picture: each cell in the colour of its value. */
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
    // A large grid on few pixels is blended, a small one is not.
    c.imageSmoothingEnabled = cell * (this.element.width / surface.width) < 1;
    c.drawImage(this.picture, 0, 0, surface.width, surface.height);
    if (cell >= LINED) {
      pen(c, palette.paper, 1);
      c.beginPath();
      for (let x = 1; x < width; x++) c.moveTo(x * cell, 0), c.lineTo(x * cell, surface.height);
      for (let y = 1; y < height; y++) c.moveTo(0, y * cell), c.lineTo(surface.width, y * cell);
      c.stroke();
    }
    if (!this.hands) return;
    const keyed = this.element.matches(":focus-visible");
    const at = this.over ?? (keyed || this.marked ? this.cursor : undefined);
    if (at) this.outline(c, at, cell);
  }

  /** The cells that a touch would reach, light on dark so that it shows on every colour. */
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
    // A finger may be about to scroll: it touches where it is lifted, or pulled along.
    if (event.pointerType !== "touch") this.touch(this.last);
  }

  private move(event: PointerEvent): void {
    if (!this.image) return;
    const at = this.at(event);
    if (event.pointerType !== "touch") this.hover(at);
    if (!this.last || (at.x === this.last.x && at.y === this.last.y)) return;
    // A quick pull leaves no gaps.
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
    this.stand(x, y);
    this.hands!.touched(x, y);
  }

  private stand(x: number, y: number): void {
    this.cursor = { x, y };
    this.hands!.moved?.(x, y);
    this.draw();
  }

  private key(event: KeyboardEvent): void {
    if (modified(event) || !this.image) return;
    const step = arrowOf(event);
    const { x, y } = this.cursor;
    if (step) {
      this.over = undefined;
      this.stand(clamp(x + step[0], 0, this.width - 1), clamp(y + step[1], 0, this.height - 1));
    } else if (event.key === "Enter") this.hands!.touched(x, y);
    else if (!this.hands!.key?.(event.key)) return;
    event.preventDefault();
  }
}
