import { pen, segment, strokes } from "../parts/canvas";
import { palette } from "../parts/theme";
import type { Subject } from "./tile";

const COLUMNS = 4;
const ROWS = 3;
/** Numbers of a pole: position of the cart, angle of the pole, and 1 after a fall. */
const EACH = 3;
/** Maximum distance of a cart from the middle, m. */
const LIMIT_M = 2.4;
const MOST_STEPS = 500;

export const control: Subject = {
  room: "control",
  title: "Control",
  does: "Carts learn to balance their poles.",
  score: { name: "Training return: steps upright", text: (score) => `${score.toFixed(0)} of ${MOST_STEPS}`, range: [0, MOST_STEPS] },
  first: Array.from({ length: COLUMNS * ROWS * EACH }, () => 0),
  draw(c, numbers, { width, height }) {
    const [cell, row] = [width / COLUMNS, height / ROWS];
    const reach = cell * 0.34;
    const cart = cell * 0.1;
    const pole = Math.min(row * 0.78, cell * 0.9);
    const thick = Math.max(3, pole / 28);
    const place = (k: number): [x: number, y: number] => {
      const x = Math.max(-1, Math.min(1, numbers[EACH * k]! / LIMIT_M));
      return [((k % COLUMNS) + 0.5) * cell + x * reach, (Math.floor(k / COLUMNS) + 1) * row - 4];
    };
    const poles = (fallen: boolean): void =>
      strokes(c, COLUMNS * ROWS, (k) => {
        if (numbers[EACH * k + 2]! > 0 !== fallen) return;
        const [[x, y], angle] = [place(k), numbers[EACH * k + 1]!];
        segment(c, x, y, x + pole * Math.sin(angle), y - pole * Math.cos(angle));
      });
    pen(c, palette.hair, 1);
    strokes(c, COLUMNS * ROWS, (k) => {
      const [x, y] = [((k % COLUMNS) + 0.5) * cell, place(k)[1] + 1.5];
      segment(c, x - reach - cart, y, x + reach + cart, y);
    });
    c.lineCap = "round";
    pen(c, palette.agent, thick);
    poles(false);
    pen(c, palette.error, thick);
    poles(true);
    c.lineCap = "butt";
    pen(c, palette.soft, thick + 1);
    strokes(c, COLUMNS * ROWS, (k) => {
      const [x, y] = place(k);
      segment(c, x - cart, y, x + cart, y);
    });
  },
};
