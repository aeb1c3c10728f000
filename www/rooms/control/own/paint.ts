// Drawing of an environment's shapes on a canvas. The point (0, 0) is the upper left corner, and y points down. The line width and the text
// height are those of crates/python/python/hothouse/_picture.py.

import { font } from "../../../parts/canvas";
import type { Drawn } from "../protocol";
import { COLOURS, PAPER } from "./colours";

export interface Scene {
  /** Width and height of the picture, in the environment's units. */
  size: [width: number, height: number];
  /** Shapes in the order of drawing: later shapes cover earlier shapes. */
  shapes: Drawn[];
}

/** Width of a line, as a share of the smaller side of the picture. */
const LINE = 0.01;
/** Height of a capital letter, as a share of the picture's height. */
const TEXT = 0.06;
/** Size of the typeface at which a capital letter is measured, in px. */
const MEASURED_PX = 100;

const css = (rgb: readonly number[]): string => `rgb(${rgb.join(" ")})`;
const FILLS: Record<string, string> = Object.fromEntries(Object.entries(COLOURS).map(([name, rgb]) => [name, css(rgb)]));

/** A rectangle on a canvas, in canvas pixels. */
export interface Box {
  left: number;
  top: number;
  width: number;
  height: number;
}

/** Upper left corner of a picture on a canvas, in canvas pixels, and the scale of the picture. */
interface Place {
  left: number;
  top: number;
  /** Number of canvas pixels per unit of the environment. */
  scale: number;
}

/**
 * Fits a picture into a box. The picture is as large as possible and in the middle of the box. Its upper left corner is at whole pixels.
 */
function placeOf([width, height]: Scene["size"], box: Box): Place {
  const scale = Math.min(box.width / width, box.height / height);
  const left = Math.round(box.left + (box.width - width * scale) / 2);
  return { left, top: Math.round(box.top + (box.height - height * scale) / 2), scale };
}

/** Fills a rectangle whose edges are rounded to whole pixels, so that no gap appears between adjacent rectangles. */
function rect(c: CanvasRenderingContext2D, { left, top, scale }: Place, [x = 0, y = 0, w = 0, h = 0]: number[]): void {
  const [x0, x1] = [x, x + w].map((at) => Math.round(left + at * scale)).sort((a, b) => a - b) as [number, number];
  const [y0, y1] = [y, y + h].map((at) => Math.round(top + at * scale)).sort((a, b) => a - b) as [number, number];
  if (w && h) c.fillRect(x0, y0, Math.max(x1 - x0, 1), Math.max(y1 - y0, 1));
}

function circle(c: CanvasRenderingContext2D, { left, top, scale }: Place, [x = 0, y = 0, r = 0]: number[]): void {
  if (r <= 0) return;
  c.beginPath();
  c.arc(left + x * scale, top + y * scale, r * scale, 0, 2 * Math.PI);
  c.fill();
}

function polygon(c: CanvasRenderingContext2D, { left, top, scale }: Place, numbers: number[]): void {
  c.beginPath();
  for (let k = 0; k + 1 < numbers.length; k += 2) c.lineTo(left + numbers[k]! * scale, top + numbers[k + 1]! * scale);
  c.fill("evenodd");
}

function line(c: CanvasRenderingContext2D, { left, top, scale }: Place, [x1 = 0, y1 = 0, x2 = 0, y2 = 0]: number[], [w, h]: Scene["size"]) {
  c.lineWidth = Math.min(w, h) * LINE * scale;
  c.beginPath();
  c.moveTo(left + x1 * scale, top + y1 * scale);
  c.lineTo(left + x2 * scale, top + y2 * scale);
  c.stroke();
}

/** Writes a text with the middle of its capital letters at a point. */
function text(c: CanvasRenderingContext2D, { left, top, scale }: Place, [x = 0, y = 0]: number[], words: string, height: number): void {
  const capital = height * TEXT * scale;
  c.font = font(MEASURED_PX, 500);
  c.font = font((MEASURED_PX * capital) / c.measureText("H").actualBoundingBoxAscent, 500);
  c.textAlign = "center";
  c.textBaseline = "alphabetic";
  c.fillText(words, left + x * scale, top + y * scale + capital / 2);
}

function draw(c: CanvasRenderingContext2D, place: Place, { kind, numbers, text: words, colour }: Drawn, size: Scene["size"]): void {
  c.fillStyle = c.strokeStyle = FILLS[colour] ?? FILLS.black!;
  if (kind === "rect") rect(c, place, numbers);
  else if (kind === "circle") circle(c, place, numbers);
  else if (kind === "line") line(c, place, numbers, size);
  else if (kind === "polygon") polygon(c, place, numbers);
  else text(c, place, numbers, words ?? "", size[1]);
}

/** Draws a picture in the middle of a box, as large as the box permits. Shapes are clipped at the edges of the picture. */
export function paint(
  c: CanvasRenderingContext2D,
  { size, shapes }: Scene,
  box: Box = { left: 0, top: 0, width: c.canvas.width, height: c.canvas.height },
): void {
  const place = placeOf(size, box);
  c.save();
  c.setTransform(1, 0, 0, 1, 0, 0);
  c.clearRect(box.left, box.top, box.width, box.height);
  c.beginPath();
  c.rect(place.left, place.top, Math.round(size[0] * place.scale), Math.round(size[1] * place.scale));
  c.clip();
  c.fillStyle = css(PAPER);
  c.fill();
  for (const shape of shapes) draw(c, place, shape, size);
  c.restore();
}
