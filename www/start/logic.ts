import { percent } from "../parts/format";
import { palette } from "../parts/theme";
import type { Subject } from "./tile";

const SIDE = 16;

export const logic: Subject = {
  room: "logic",
  title: "Logic",
  does: "Gates in every cell learn to make a checkerboard.",
  score: { name: "Cells right", text: percent, range: [0.4, 1] },
  first: Array.from({ length: SIDE * SIDE }, () => 0),
  draw(c, numbers, { width, height }) {
    const cell = Math.min(width, height) / SIDE;
    c.translate((width - SIDE * cell) / 2, (height - SIDE * cell) / 2);
    c.fillStyle = palette.raised;
    c.fillRect(0, 0, SIDE * cell, SIDE * cell);
    c.fillStyle = palette.agent;
    for (let k = 0; k < SIDE * SIDE; k++)
      if (numbers[k]! > 0) c.fillRect((k % SIDE) * cell, Math.floor(k / SIDE) * cell, cell + 0.2, cell + 0.2);
  },
};
