// Policy or value over the state plane, as a coloured picture with contour lines.

import { pen } from "../../parts/canvas";
import { palette, rgb, type Colour } from "../../parts/theme";
import { clamp } from "../../parts/keys";
import type { Box } from "./axes";

export type Picture = { width: number; height: number; channels: number; policy: Float32Array; values: Float32Array };
export type Layer = "policy" | "value" | "visits";

export const PICTURE = { width: 48, height: 36 };
const LEVELS = 6;
/** Colour strength of an action with probability 1. It is below 1, so that words and dots over the colour stay legible. */
const INTENSITY = 0.82;
/** Exponent of the colour strength. The exponent is below 1, so that a slight preference for an action is visible. */
const CONTRAST = 0.75;

type Rgb = [number, number, number];
const mixed = (from: Rgb, to: Rgb, t: number): Rgb => [
  from[0] + (to[0] - from[0]) * t,
  from[1] + (to[1] - from[1]) * t,
  from[2] + (to[2] - from[2]) * t,
];

/** Returns the index of a picture's point nearest to a position on the plane. `x` and `y` are from 0 to 1. */
export const pointAt = ({ width, height }: Picture, x: number, y: number): number =>
  Math.round(y * (height - 1)) * width + Math.round(x * (width - 1));

export class Portrait {
  range: [number, number] = [NaN, NaN];
  private readonly background = Object.assign(document.createElement("canvas"), PICTURE);
  private picture: Picture | undefined;
  private layer: Layer = "policy";
  /** Contour lines of the current picture, traced once per size. */
  private lines: { path: Path2D; width: number; height: number } | undefined;

  paint(picture: Picture | undefined, layer: Layer, hues: Colour[]): void {
    [this.picture, this.layer, this.lines] = [picture, layer, undefined];
    if (!picture) this.range = [NaN, NaN];
    if (!picture || layer === "visits") return;
    const { width, height } = picture;
    if (layer === "value") this.range = [picture.values.reduce((a, b) => Math.min(a, b)), picture.values.reduce((a, b) => Math.max(a, b))];
    const colour = layer === "value" ? this.valued(picture) : picture.channels === 1 ? thrown(picture) : chosen(picture, hues);
    const c = this.background.getContext("2d")!;
    const pixels = c.createImageData(width, height);
    for (let point = 0; point < width * height; point++) {
      const row = height - 1 - Math.floor(point / width);
      pixels.data.set([...colour(point), 255], 4 * (row * width + (point % width)));
    }
    c.putImageData(pixels, 0, 0);
  }

  draw(c: CanvasRenderingContext2D, box: Box): void {
    if (!this.picture) return;
    // The outermost points of the picture are on the edges of the box, and a pixel is centred on its point. The picture therefore extends
    // beyond the box by half a pixel on each side.
    const [dx, dy] = [box.width / (PICTURE.width - 1) / 2, box.height / (PICTURE.height - 1) / 2];
    c.imageSmoothingEnabled = true;
    c.imageSmoothingQuality = "high";
    c.drawImage(this.background, box.left - dx, box.top - dy, box.width + 2 * dx, box.height + 2 * dy);
    if (this.lines?.width !== box.width || this.lines.height !== box.height)
      this.lines = { path: this.traced(box, this.picture), width: box.width, height: box.height };
    pen(c, palette.ink, 1);
    c.globalAlpha = 0.4;
    c.stroke(this.lines.path);
    c.globalAlpha = 1;
  }

  private valued({ values }: Picture): (point: number) => Rgb {
    const [low, high] = this.range;
    const [ground, accent] = [rgb("raised"), rgb("agent")];
    return (point) => mixed(ground, accent, 0.06 + (high > low ? (0.94 * (values[point]! - low)) / (high - low) : 0));
  }

  /** Returns the lines of equal value, or the boundaries between areas with different preferred actions. */
  private traced(box: Box, picture: Picture): Path2D {
    const lines = new Path2D();
    const [low, high] = this.range;
    if (this.layer === "value")
      for (let k = 1; k < LEVELS; k++) trace(lines, box, picture, (point) => picture.values[point]! - (low + ((high - low) * k) / LEVELS));
    else if (picture.channels === 1) trace(lines, box, picture, (point) => picture.policy[point]!);
    else for (let choice = 0; choice < picture.channels; choice++) trace(lines, box, picture, (point) => lead(picture, point, choice));
    return lines;
  }
}

/** Returns a function that maps a point to the colour of its continuous action. */
function thrown({ policy }: Picture): (point: number) => Rgb {
  const [ground, left, right] = [rgb("raised"), rgb("minus"), rgb("plus")];
  return (point) => {
    const mean = clamp(policy[point]!, -1, 1);
    return mixed(ground, mean < 0 ? left : right, INTENSITY * Math.abs(mean) ** CONTRAST);
  };
}

/**
 * Returns a function that maps a point to the colour of the policy over discrete actions. An action adds its colour if its probability is
 * above that of a uniform policy. The colour strength grows with the excess over the uniform probability.
 */
function chosen({ channels, policy }: Picture, names: Colour[]): (point: number) => Rgb {
  const ground = rgb("raised");
  const hues = names.map((name) => rgb(name));
  const even = 1 / channels;
  return (point) => {
    const colour: Rgb = [...ground];
    hues.forEach((hue, choice) => {
      const sure = INTENSITY * (Math.max(0, policy[point * channels + choice]! - even) / (1 - even)) ** CONTRAST;
      for (let k = 0; k < 3; k++) colour[k]! += sure * (hue[k]! - ground[k]!);
    });
    return colour;
  };
}

/**
 * Returns the probability of an action minus the probability of the best other action. The difference is 0 on the boundary of the area in
 * which the action is preferred.
 */
function lead({ policy, channels }: Picture, point: number, choice: number): number {
  let other = 0;
  for (let k = 0; k < channels; k++) if (k !== choice) other = Math.max(other, policy[point * channels + k]!);
  return policy[point * channels + choice]! - other;
}

/** Adds the lines on which `level` is 0, traced by marching squares. */
function trace(lines: Path2D, box: Box, { width, height }: Picture, level: (point: number) => number): void {
  const [dx, dy] = [box.width / (width - 1), box.height / (height - 1)];
  for (let row = 0; row + 1 < height; row++)
    for (let column = 0; column + 1 < width; column++) {
      const point = row * width + column;
      const [a, b, d, e] = [level(point), level(point + 1), level(point + width), level(point + width + 1)];
      let begun = false;
      const meet = (from: number, to: number, [x0, y0]: [number, number], [x1, y1]: [number, number]): void => {
        if (from < 0 === to < 0) return;
        const t = from / (from - to);
        const x = box.left + (column + x0 + (x1 - x0) * t) * dx;
        const y = box.top + box.height - (row + y0 + (y1 - y0) * t) * dy;
        if (begun) lines.lineTo(x, y);
        else lines.moveTo(x, y);
        begun = !begun;
      };
      meet(a, b, [0, 0], [1, 0]);
      meet(b, e, [1, 0], [1, 1]);
      meet(e, d, [1, 1], [0, 1]);
      meet(d, a, [0, 1], [0, 0]);
    }
}
