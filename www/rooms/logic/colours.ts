// Colours of cells and gates, as numbers for pictures and in CSS form.

import { rgb } from "../../parts/theme";
import type { Shows } from "./protocol";

export type Rgb = [number, number, number];

/** Softened colours of the eight combinations of three channels. The index has bit 0 for red, bit 1 for green and bit 2 for blue. */
const EIGHT: Rgb[] = [
  [22, 24, 26],
  [222, 52, 48],
  [38, 160, 84],
  [247, 205, 56],
  [38, 84, 190],
  [190, 72, 178],
  [52, 184, 206],
  [250, 249, 244],
];
const NAMES = ["black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"];

/** Returns the colours of cells by value. There are two colours (off and on), or eight colours for three channels. */
export function cellColours(shows: Shows): Rgb[] {
  return shows === "rgb" ? EIGHT : [rgb("raised"), rgb("agent")];
}

export const cellName = (shows: Shows, value: number): string => (shows === "rgb" ? NAMES[value]! : value ? "on" : "off");

/** Converts a colour to a pixel of `ImageData`. */
export const packed = ([r, g, b]: Rgb): number => (0xff000000 | (b << 16) | (g << 8) | r) >>> 0;
export const css = ([r, g, b]: Rgb): string => `rgb(${r} ${g} ${b})`;

/**
 * Writes a pixel for each cell to `out`. The pixel is the mean of the colours, weighted by the probability of each value in the cell's soft
 * state. `soft` contains the states of all cells for the first channel, then for the second, and so on.
 */
export function mixed(colours: Rgb[], soft: Float32Array, cells: number, out: Uint32Array): void {
  const channels = Math.log2(colours.length);
  for (let cell = 0; cell < cells; cell++) {
    let [r, g, b] = [0, 0, 0];
    for (let value = 0; value < colours.length; value++) {
      let share = 1;
      for (let channel = 0; channel < channels; channel++) {
        const on = Math.min(1, Math.max(0, soft[channel * cells + cell]!));
        share *= (value >> channel) & 1 ? on : 1 - on;
      }
      const colour = colours[value]!;
      r += share * colour[0];
      g += share * colour[1];
      b += share * colour[2];
    }
    out[cell] = packed([Math.round(r), Math.round(g), Math.round(b)]);
  }
}

/** Colours of the operations 0 to 7, for the light and the dark theme. The complement of an operation has the same colour and a notch. */
const FAMILIES: [light: string, dark: string][] = [
  ["#3f4641", "#bfc4bc"], // false, true
  ["#2560a8", "#6ea6f0"], // and
  ["#16888f", "#4fc6cd"], // a and not b
  ["#9aa198", "#6d756d"], // a
  ["#8d4bc0", "#c69af2"], // b and not a
  ["#b09a68", "#8f7b4e"], // b
  ["#b3382c", "#f0806f"], // xor
  ["#c07a10", "#eab04a"], // or
];

/** Returns the colour of an operation. `opposite` is true if the operation is the complement of one in `FAMILIES`. */
export function opColour(op: number): { colour: string; opposite: boolean } {
  const opposite = op > 7;
  const family = FAMILIES[opposite ? 15 - op : op]!;
  return { colour: family[document.documentElement.dataset.theme === "dark" ? 1 : 0], opposite };
}
