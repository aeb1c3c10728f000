// The unfolded cube: either a small picture, or a grid of buttons that the visitor paints. Tab moves the focus to one of the buttons; arrow
// keys move the focus to another button.

import { h, write } from "../../parts/dom";
import { arrowOf, modified } from "../../parts/keys";
import { COLOURS, FACES, faceletName, PLACES, sizeOf } from "./stickers";

/** Column and row of each face in the net, counted in faces from 0. */
const AT: Record<string, [number, number]> = { U: [1, 0], L: [0, 1], F: [1, 1], R: [2, 1], B: [3, 1], D: [1, 2] };

/** Returns the CSS style of a sticker: its colour and the colour of its letter. */
export const coloured = (letter: string): string => {
  const face = letter.toLowerCase();
  return `--face:var(--cube-${face});--on-face:var(--cube-on-${face})`;
};

export function smallNet(stickers: string, words: string): HTMLElement {
  const size = sizeOf(stickers);
  const cells = Array.from(stickers).map((letter, k) => {
    const [column, row] = cellOf(size, k);
    return h("span.sticker", { style: `grid-column:${column};grid-row:${row};${coloured(letter)}` });
  });
  return h("span.small-net", { role: "img", "aria-label": words, style: `--cells:${4 * size}` }, ...cells);
}

function cellOf(size: number, k: number): [number, number] {
  const face = FACES[Math.floor(k / (size * size))]!;
  const within = k % (size * size);
  const [x, y] = AT[face]!;
  return [x * size + (within % size) + 1, y * size + Math.floor(within / size) + 1];
}

export class PaintNet {
  readonly element = h("div.net", {
    role: "group",
    "aria-label": "The unfolded cube: arrow keys move, a letter or enter paints",
  });
  private cells: HTMLButtonElement[] = [];
  private stickers: string[] = [];
  private size = 0;
  private at = 0;

  constructor(
    private readonly colour: () => string,
    private readonly painted: () => void,
  ) {
    this.element.addEventListener("keydown", (event) => this.key(event));
    // A drag paints all stickers that it crosses.
    this.element.addEventListener("pointerover", (event) => {
      if (event.buttons !== 1 || event.pointerType === "touch") return;
      const k = this.cells.indexOf(event.target as HTMLButtonElement);
      if (k >= 0) this.paint(k, this.colour());
    });
  }

  get text(): string {
    return this.stickers.join("");
  }

  show(stickers: string): void {
    const size = sizeOf(stickers);
    this.stickers = Array.from(stickers);
    if (size !== this.size) this.build(size);
    this.mark([]);
    this.cells.forEach((_, k) => this.write(k));
  }

  mark(at: number[]): void {
    this.cells.forEach((cell, k) => cell.classList.toggle("wrong", at.includes(k)));
  }

  private build(size: number): void {
    this.size = size;
    this.at = 0;
    this.cells = this.stickers.map((_, k) => {
      const cell = h("button.sticker", { tabindex: k === 0 ? 0 : -1 });
      cell.addEventListener("pointerdown", (event) => {
        // Releases the pointer's implicit capture by this sticker, so that a drag also reaches the other stickers.
        if (cell.hasPointerCapture(event.pointerId)) cell.releasePointerCapture(event.pointerId);
      });
      cell.addEventListener("click", () => this.paint(k, this.colour()));
      cell.addEventListener("focus", () => this.setFocus(k));
      return cell;
    });
    this.element.style.setProperty("--size", String(size));
    const labels = FACES.map((face) => {
      const [x, y] = AT[face]!;
      return h("span.net-face", {
        "aria-hidden": "true",
        style: `grid-column:${x * size + 1} / span ${size};grid-row:${y * size + 1} / span ${size}`,
      });
    });
    this.element.replaceChildren(...labels, ...this.cells);
  }

  private write(k: number): void {
    const cell = this.cells[k]!;
    const letter = this.stickers[k]!;
    const [column, row] = cellOf(this.size, k);
    cell.style.cssText = `grid-column:${column};grid-row:${row};${coloured(letter)}`;
    write(cell, letter);
    cell.setAttribute(
      "aria-label",
      `${faceletName(this.size, k)}, ${PLACES[FACES[Math.floor(k / this.size ** 2)]!]}: ${COLOURS[letter] ?? "no colour"}`,
    );
  }

  private paint(k: number, letter: string): void {
    if (this.stickers[k] === letter) return;
    this.stickers[k] = letter;
    this.write(k);
    this.painted();
  }

  private setFocus(k: number): void {
    this.cells[this.at]!.tabIndex = -1;
    this.at = k;
    this.cells[k]!.tabIndex = 0;
  }

  private key(event: KeyboardEvent): void {
    if (modified(event)) return;
    const step = arrowOf(event);
    const letter = event.key.toUpperCase();
    if (step) this.cells[this.next(step)]!.focus();
    else if (event.key.length === 1 && letter in COLOURS) {
      this.paint(this.at, letter);
      this.cells[Math.min(this.cells.length - 1, this.at + 1)]!.focus();
    } else return;
    event.preventDefault();
  }

  /** Returns the index of the next sticker in a direction, or the current index at the edge of the net. */
  private next([dx, dy]: readonly [number, number]): number {
    let [column, row] = cellOf(this.size, this.at);
    for (;;) {
      [column, row] = [column + dx, row + dy];
      if (column < 1 || row < 1 || column > 4 * this.size || row > 3 * this.size) return this.at;
      const found = this.cells.findIndex((_, k) => cellOf(this.size, k).join() === [column, row].join());
      if (found >= 0) return found;
    }
  }
}
