import { fill, pen } from "../parts/canvas";
import { percent } from "../parts/format";
import { palette } from "../parts/theme";
import type { Size, Subject } from "./tile";

const POINTS = 24;
const BAR = 25;
/** Number of places of a side: checkers borne off, the points and the bar. */
const PLACES = BAR + 1;
/** Columns of the board: twelve points, the bar, and the checkers borne off. */
const COLUMNS = 14;
/** Number of checkers in a stack that do not overlap. */
const STACK = 5;

const START = Array.from({ length: PLACES }, (_, place) => ({ 6: 5, 8: 3, 13: 5, 24: 2 })[place] ?? 0);

type Board = { c: CanvasRenderingContext2D; column: number; height: number };

/** Returns the colours of a side's pieces. The second side is light in both themes. */
function piecesOf(second: boolean): { own: string; edge: string } {
  if (!second) return { own: palette.agent, edge: palette.paper };
  const isDark = document.documentElement.dataset.theme === "dark";
  return isDark ? { own: palette.ink, edge: palette.paper } : { own: palette.raised, edge: palette.ink };
}

/** Returns the middle of a place's column, and 1 if its stack grows from the lower edge, otherwise -1. The first side counts the points. */
function middleOf(point: number, column: number): [x: number, up: number] {
  const lower = point <= 12;
  const across = lower ? 12 - point : point - 13;
  return [(across + (across >= 6 ? 1 : 0) + 0.5) * column, lower ? 1 : -1];
}

function stack({ c, column, height }: Board, count: number, x: number, up: number): void {
  const radius = Math.min(column * 0.45, height * 0.044);
  const step = 2 * radius * Math.min(1, (STACK - 1) / Math.max(1, count - 1));
  for (let k = 0; k < count; k++) {
    const fromEdge = radius + 1 + k * step;
    c.beginPath();
    c.arc(x, up > 0 ? height - fromEdge : fromEdge, radius, 0, 2 * Math.PI);
    c.fill();
    c.stroke();
  }
}

function field({ c, column, height }: Board): void {
  for (let point = 1; point <= POINTS; point++) {
    const [x, up] = middleOf(point, column);
    const edge = up > 0 ? height : 0;
    c.fillStyle = point % 2 ? palette.hair : palette.line;
    fill(c, x - column / 2, edge, x + column / 2, edge, x, edge - up * height * 0.42);
  }
  c.fillStyle = palette.hair;
  c.fillRect(6 * column, 0, column, height);
  c.fillRect(13 * column, 0, column, height);
}

/** Draws the checkers of a side. The second side counts the points from the other end. */
function side(board: Board, count: (place: number) => number, second: boolean): void {
  const { c, column } = board;
  const { own, edge } = piecesOf(second);
  c.fillStyle = own;
  pen(c, edge, 1);
  for (let place = 1; place <= POINTS; place++) stack(board, count(place), ...middleOf(second ? BAR - place : place, column));
  stack(board, count(BAR), 6.5 * column, second ? 1 : -1);
  stack(board, count(0), 13.5 * column, second ? -1 : 1);
}

/** Places of the pips of a die, from -1 to 1, by its number. */
const PIPS: [number, number][][] = [
  [[0, 0]],
  [
    [-1, -1],
    [1, 1],
  ],
  [
    [-1, -1],
    [0, 0],
    [1, 1],
  ],
  [
    [-1, -1],
    [1, -1],
    [-1, 1],
    [1, 1],
  ],
  [
    [-1, -1],
    [1, -1],
    [0, 0],
    [-1, 1],
    [1, 1],
  ],
  [
    [-1, -1],
    [1, -1],
    [-1, 0],
    [1, 0],
    [-1, 1],
    [1, 1],
  ],
];

function die({ c, column, height }: Board, number: number, x: number, second: boolean): void {
  const half = column * 0.42;
  const { own, edge } = piecesOf(second);
  c.fillStyle = own;
  pen(c, edge, 1);
  c.beginPath();
  c.roundRect(x - half, height / 2 - half, 2 * half, 2 * half, half / 3);
  c.fill();
  c.stroke();
  c.fillStyle = edge;
  for (const [across, down] of PIPS[number - 1] ?? []) {
    c.beginPath();
    c.arc(x + across * half * 0.55, height / 2 + down * half * 0.55, half * 0.17, 0, 2 * Math.PI);
    c.fill();
  }
}

export const backgammon: Subject = {
  room: "backgammon",
  title: "Backgammon",
  does: "An agent learns by games against itself.",
  score: { name: "Games won against random moves", text: percent, range: [0.4, 1] },
  first: [...START, ...START, 0, 0, 0],
  draw(c, numbers, { width, height }: Size) {
    const board = { c, column: width / COLUMNS, height };
    field(board);
    side(board, (place) => numbers[place]!, false);
    side(board, (place) => numbers[PLACES + place]!, true);
    const [high, low, second] = [numbers[2 * PLACES]!, numbers[2 * PLACES + 1]!, numbers[2 * PLACES + 2]! > 0];
    if (high === 0) return;
    const middle = (second ? 3 : 10) * board.column;
    die(board, high, middle - 0.6 * board.column, second);
    die(board, low, middle + 0.6 * board.column, second);
  },
};
