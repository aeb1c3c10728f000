// Functions that draw lines and areas on a canvas. Points are arrays of alternating x and y.

import { palette } from "./theme";

/** Drawing functions that both a canvas and an SVG file (`svg.ts`) have. */
export type Pen = Pick<
  CanvasRenderingContext2D,
  | "arc"
  | "beginPath"
  | "clip"
  | "fill"
  | "fillRect"
  | "fillStyle"
  | "fillText"
  | "font"
  | "globalAlpha"
  | "lineTo"
  | "lineWidth"
  | "measureText"
  | "moveTo"
  | "rect"
  | "restore"
  | "save"
  | "setLineDash"
  | "stroke"
  | "strokeStyle"
  | "strokeText"
  | "textAlign"
  | "textBaseline"
> & {
  /** Names the next path of an SVG file. */
  named?(name: string): void;
};

/** Sets the colour and width of the following lines. */
export function pen(c: Pen, colour: string, width: number): void {
  c.strokeStyle = colour;
  c.lineWidth = width;
}

function through(c: Pen, at: number[]): void {
  c.beginPath();
  for (let k = 0; k < at.length; k += 2) c.lineTo(at[k]!, at[k + 1]!);
}

export function stroke(c: Pen, ...at: number[]): void {
  through(c, at);
  c.stroke();
}

export function fill(c: Pen, ...at: number[]): void {
  through(c, at);
  c.fill();
}

/** Adds a separate segment to the path. */
export function segment(c: Pen, x0: number, y0: number, x1: number, y1: number): void {
  c.moveTo(x0, y0);
  c.lineTo(x1, y1);
}

/** Strokes several pieces as one path. `draw(k)` adds piece `k` to the path. */
export function strokes(c: Pen, pieces: number, draw: (k: number) => void): void {
  c.beginPath();
  for (let k = 0; k < pieces; k++) draw(k);
  c.stroke();
}

/** Returns a value for a canvas's `font`: the page's typeface with a size in px. */
export const font = (px: number, weight = 400): string => `${weight} ${px}px Geologica, system-ui, sans-serif`;

/** Draws a text with an outline, so that the text is readable over lines. `ratio` is the number of canvas pixels per CSS pixel. */
export function outlined(c: Pen, words: string, x: number, y: number, ratio: number): void {
  pen(c, palette.raised, 3 * ratio);
  c.strokeText(words, x, y);
  c.fillText(words, x, y);
}
