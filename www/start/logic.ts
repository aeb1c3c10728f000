import { percent } from "../parts/format";
import { palette } from "../parts/theme";
import type { Subject } from "./tile";

const SIDE = 16;

export const logic: Subject = {
  room: "logic",
  title: "Logic",
  does: "Gates in every cell learn to make a checkerboard.",
  score: { name: "Correct cells", text: percent, range: [0.4, 1] },
  first: Array.from({ length: SIDE * SIDE }, (_, k) => (Math.imul(k, 0x9e3779b1) >>> 20) & 1),
  draw(c, numbers, { width, height }) {
    const cell = Math.floor(Math.min(width, height) / SIDE);
    c.translate(Math.floor((width - SIDE * cell) / 2), Math.floor((height - SIDE * cell) / 2));
    c.fillStyle = palette.raised;
    c.fillRect(0, 0, SIDE * cell, SIDE * cell);
    c.fillStyle = palette.agent;
    for (let k = 0; k < SIDE * SIDE; k++) if (numbers[k]! > 0) c.fillRect((k % SIDE) * cell, Math.floor(k / SIDE) * cell, cell, cell);
  },
};
