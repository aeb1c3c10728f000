import { fill } from "../parts/canvas";
import { percent } from "../parts/format";
import { along, FACES, faceletsOf, type Facelet, type Vector } from "../rooms/cube/stickers";
import "../rooms/cube/colours.css";
import type { Subject } from "./tile";

const SIZE = 2;
const EACH = SIZE * SIZE;
/** Half of a sticker's edge and of a cubie's edge. */
const [STICKER, CUBIE] = [0.44, 0.5];
const SHOWN = faceletsOf(SIZE).flatMap((facelet, at) => ("URF".includes(facelet.face) ? [{ facelet, at }] : []));

let colours: Record<string, string> = {};
/** Theme of `colours`. */
let theme: string | undefined;

/** Reads the colours of the current theme from the style sheet, if the theme has changed. */
function readColours(): void {
  const root = document.documentElement;
  if (theme === root.dataset.theme) return;
  theme = root.dataset.theme;
  const style = getComputedStyle(root);
  colours = Object.fromEntries(["plastic", ...FACES].map((name) => [name, style.getPropertyValue(`--cube-${name.toLowerCase()}`)]));
}

/** Projects a point so that the faces U, R and F are seen at equal angles. */
const project = ([x, y, z]: Vector): [x: number, y: number] => [(x - z) * Math.cos(Math.PI / 6), (x + z) * Math.sin(Math.PI / 6) - y];

/** Returns the corners of a square on a facelet, as alternating x and y. */
function square({ cell, normal, across, down }: Facelet, half: number): number[] {
  const middle = along(cell, CUBIE, normal);
  const corners = [
    [-half, -half],
    [half, -half],
    [half, half],
    [-half, half],
  ] as const;
  return corners.flatMap(([right, below]) => project(along(along(middle, right, across), below, down)));
}

export const cube: Subject = {
  room: "cube",
  title: "Cube",
  does: "A network learns to solve scrambled cubes.",
  score: { name: "Scrambled cubes solved", text: percent, range: [0, 1] },
  first: FACES.flatMap((_, face) => Array.from({ length: EACH }, () => face)),
  draw(c, numbers, { width, height }) {
    readColours();
    const unit = Math.min(width, height) / (2 * SIZE + 0.3);
    c.translate(width / 2, height / 2);
    c.scale(unit, unit);
    c.fillStyle = colours.plastic!;
    for (const { facelet } of SHOWN) fill(c, ...square(facelet, CUBIE + 0.01));
    for (const { facelet, at } of SHOWN) {
      c.fillStyle = colours[FACES[numbers[at]!]!]!;
      fill(c, ...square(facelet, STICKER));
    }
  },
};
