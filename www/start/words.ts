import { font } from "../parts/canvas";
import { figure } from "../parts/format";
import { palette } from "../parts/theme";
import type { Subject } from "./tile";

const PROMPT = "Once upon a time, a ";
const TYPE_PX = 14;
const LINE_PX = 20;

/** Words, with the spaces before them. A longer word, which only an untrained network writes, can continue in the next line. */
const PIECES = /\s*\S{1,16}|\s+$/g;

export const words: Subject = {
  room: "words",
  title: "Words",
  does: "A small transformer learns to write stories.",
  score: { name: "Training loss", text: (score) => `${figure(score)} bits per character`, range: [0, 5] },
  first: Array.from(PROMPT, (character) => character.codePointAt(0)!),
  draw(c, numbers, { width, height }) {
    c.font = font(TYPE_PX);
    let [x, y, at] = [0, LINE_PX, 0];
    for (const word of String.fromCodePoint(...Array.from(numbers)).match(PIECES) ?? []) {
      const length = c.measureText(word).width;
      const wraps = x > 0 && x + length > width;
      if (wraps) [x, y] = [0, y + LINE_PX];
      if (y > height) return;
      c.fillStyle = at + word.length <= PROMPT.length ? palette.muted : palette.ink;
      c.fillText(wraps ? word.trimStart() : word, x, y);
      x += wraps ? c.measureText(word.trimStart()).width : length;
      at += word.length;
    }
  },
};
