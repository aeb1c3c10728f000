// The frame of a picture: title, description, axis label and legend around a drawing, in the current theme.

import { font, pen, stroke, type Pen } from "./canvas";
import type { Look } from "./looks";
import { palette } from "./theme";

/** Size of the drawing in px, and the texts around it. */
export type Framed = {
  width: number;
  height: number;
  title: string;
  about: string;
  axis?: string;
  runs?: (Look & { name: string })[];
};

const PAD = 20;
const LINE = 18;
const GAP = 18;
/** Distance of the drawing from the upper edge of the picture, in px. */
const TOP = PAD + 24 + LINE;

const measure = document.createElement("canvas").getContext("2d")!;

/** Distributes the entries of a legend over as many lines as necessary. */
function legend(runs: NonNullable<Framed["runs"]>, width: number): { text: string; x: number; line: number }[] {
  measure.font = font(12);
  let [x, line] = [0, 0];
  return runs.map(({ letter, name }) => {
    const text = letter ? `${letter}  ${name}` : name;
    const size = 40 + measure.measureText(text).width;
    if (x > 0 && x + size > width) [x, line] = [0, line + 1];
    const place = { text, x, line };
    x += size + GAP;
    return place;
  });
}

/** Returns the size of a picture with its frame. */
export function outer({ width, height, axis, runs = [] }: Framed): { width: number; height: number } {
  const lines = runs.length ? legend(runs, width).at(-1)!.line + 1 : 0;
  return { width: width + 2 * PAD, height: TOP + height + (axis ? LINE : 0) + lines * LINE + PAD };
}

/** Draws the frame, and calls `inside` to draw the picture with its upper left corner at (`left`, `top`). */
export function drawFramed(c: Pen, framed: Framed, inside: (left: number, top: number) => void): void {
  const { width, height, title, about, axis, runs = [] } = framed;
  const size = outer(framed);
  c.fillStyle = palette.paper;
  c.fillRect(0, 0, size.width, size.height);
  const write = (
    text: string,
    left: number,
    y: number,
    [size, weight]: [size: number, weight?: number],
    colour: string,
    align: CanvasTextAlign = "left",
  ): void => {
    Object.assign(c, { font: font(size, weight), fillStyle: colour, textAlign: align, textBaseline: "middle" });
    c.fillText(text, left, y, width);
  };
  write(title, PAD, PAD + 8, [16, 600], palette.ink);
  write(about, PAD, PAD + 28, [12], palette.muted);
  inside(PAD, TOP);
  if (axis) write(axis, PAD + width, TOP + height + 8, [12], palette.muted, "right");
  const places = legend(runs, width);
  runs.forEach(({ colour, dash }, k) => {
    const { text, x, line } = places[k]!;
    const y = TOP + height + (axis ? LINE : 0) + (line + 0.5) * LINE;
    pen(c, palette[colour], 2);
    c.setLineDash(dash);
    stroke(c, PAD + x, y, PAD + x + 32, y);
    c.setLineDash([]);
    write(text, PAD + x + 40, y, [12], palette.ink);
  });
}

/** Returns the bytes of a canvas as PNG. */
export async function pngBytes(canvas: HTMLCanvasElement): Promise<Uint8Array> {
  const blob = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve, "image/png"));
  if (!blob) throw new Error("the browser could not encode the picture");
  return new Uint8Array(await blob.arrayBuffer());
}
