// Stickers of a cube and their movement by turns. The page computes turns itself, so that a layer follows the pointer without delay. The
// worker evaluates and validates states.
//
// The x axis points to the face R, y to U and z to F. The origin is the centre of the cube, and the unit is the edge of a cubie. Facelets
// are ordered by face (U, R, F, D, L, B), and row by row within a face.

export type Vector = readonly [number, number, number];
export type Face = "U" | "R" | "F" | "D" | "L" | "B";

export const FACES: Face[] = ["U", "R", "F", "D", "L", "B"];
export const COLOURS: Record<string, string> = { U: "white", R: "red", F: "green", D: "yellow", L: "orange", B: "blue" };
export const PLACES: Record<Face, string> = { U: "top", R: "right", F: "front", D: "bottom", L: "left", B: "back" };

const NORMAL: Record<Face, Vector> = { U: [0, 1, 0], R: [1, 0, 0], F: [0, 0, 1], D: [0, -1, 0], L: [-1, 0, 0], B: [0, 0, -1] };
/** Direction from one column of a face to the next column, seen from outside the cube. */
const ACROSS: Record<Face, Vector> = { U: [1, 0, 0], R: [0, 0, -1], F: [1, 0, 0], D: [1, 0, 0], L: [0, 0, 1], B: [-1, 0, 0] };
/** Direction from one row of a face to the next row, seen from outside the cube. */
const DOWN: Record<Face, Vector> = { U: [0, 0, 1], R: [0, -1, 0], F: [0, -1, 0], D: [0, 0, -1], L: [0, -1, 0], B: [0, -1, 0] };
/** Middle layers by name. A layer turns in the same direction as the given face. */
const MIDDLE: Record<string, Face> = { M: "L", E: "D", S: "F" };

export const dot = (a: Vector, b: Vector): number => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
export const cross = (a: Vector, b: Vector): Vector => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
export const along = (at: Vector, by: number, direction: Vector): Vector => [
  at[0] + by * direction[0],
  at[1] + by * direction[1],
  at[2] + by * direction[2],
];

/**
 * Position of a sticker. `cell` contains the coordinates of the sticker's cubie, from `-(size - 1) / 2` in steps of 1. The other vectors
 * are the directions of the face.
 */
export type Facelet = { face: Face; cell: Vector; normal: Vector; across: Vector; down: Vector };

/** Turn of a layer by a number of quarter turns. A positive number is anticlockwise, seen from the positive end of the axis. */
export type Turn = { axis: 0 | 1 | 2; layer: number; quarters: number };

const facelets = new Map<number, Facelet[]>();

export function faceletsOf(size: number): Facelet[] {
  let all = facelets.get(size);
  if (!all) {
    const half = (size - 1) / 2;
    all = FACES.flatMap((face) =>
      Array.from({ length: size * size }, (_, k) => {
        const [normal, across, down] = [NORMAL[face], ACROSS[face], DOWN[face]];
        const cell = along(along(along([0, 0, 0], half, normal), (k % size) - half, across), Math.floor(k / size) - half, down);
        return { face, cell, normal, across, down };
      }),
    );
    facelets.set(size, all);
  }
  return all;
}

/** Returns the cubies that have stickers. `stickers` contains the indices of a cubie's stickers. */
export function cubiesOf(size: number): { cell: Vector; stickers: number[] }[] {
  const cubies = new Map<string, { cell: Vector; stickers: number[] }>();
  faceletsOf(size).forEach(({ cell }, k) => {
    const name = cell.join();
    cubies.set(name, { cell, stickers: [...(cubies.get(name)?.stickers ?? []), k] });
  });
  return [...cubies.values()];
}

export const solved = (size: number): string => FACES.map((face) => face.repeat(size * size)).join("");
export const sizeOf = (stickers: string): number => Math.round(Math.sqrt(stickers.length / 6));

function quarter(axis: number, [x, y, z]: Vector): Vector {
  return axis === 0 ? [x, -z, y] : axis === 1 ? [z, y, -x] : [-y, x, z];
}

const permutations = new Map<string, number[]>();
const key = (cell: Vector, normal: Vector): string => [...cell, ...normal].map((n) => n + 0).join();

/** Returns, for each position of a sticker, the index of the sticker that the turn moves there. */
function permutation(size: number, { axis, layer, quarters }: Turn): number[] {
  const times = ((quarters % 4) + 4) % 4;
  const name = [size, axis, layer, times].join();
  let from = permutations.get(name);
  if (!from) {
    const all = faceletsOf(size);
    const at = new Map(all.map(({ cell, normal }, k) => [key(cell, normal), k]));
    from = all.map((_, k) => k);
    all.forEach(({ cell, normal }, k) => {
      if (cell[axis] !== layer) return;
      let [to, faces] = [cell, normal];
      for (let n = 0; n < times; n++) [to, faces] = [quarter(axis, to), quarter(axis, faces)];
      from![at.get(key(to, faces))!] = k;
    });
    permutations.set(name, from);
  }
  return from;
}

export const turned = (stickers: string, turn: Turn): string =>
  permutation(sizeOf(stickers), turn)
    .map((from) => stickers[from])
    .join("");

export const inverse = (turn: Turn): Turn => ({ ...turn, quarters: -turn.quarters });

/** Returns the number of quarter turns, from −1 to 2, that has the same result as `quarters`. */
const shortest = (quarters: number): number => ((((quarters + 1) % 4) + 4) % 4) - 1;

/** Returns the name of a turn, such as `R`, `U2` or `F'`. The 3x3x3 also has middle layers. */
export function nameOf(size: number, { axis, layer, quarters }: Turn): string {
  const half = (size - 1) / 2;
  const faces = layer === 0 ? Object.entries(MIDDLE) : FACES.map((face) => [face, face] as const);
  const [name, face] = faces.find(
    ([, face]) => Math.abs(NORMAL[face][axis]!) === 1 && (layer === 0 || NORMAL[face][axis]! * half === layer),
  )!;
  // "Clockwise" is meant as seen from outside the face.
  const clockwise = shortest(-quarters * NORMAL[face][axis]!);
  return `${name}${clockwise === 2 ? "2" : clockwise === -1 ? "'" : ""}`;
}

/** Returns the turn of a given name, or undefined if a cube of this size has no such turn. */
export function turnOf(size: number, name: string): Turn | undefined {
  const [, letter = "", how = ""] = /^([URFDLBMES])(2|')?$/.exec(name) ?? [];
  const middle = MIDDLE[letter];
  if (!letter || (middle && size % 2 === 0)) return undefined;
  const normal = NORMAL[middle ?? (letter as Face)];
  const axis = normal.findIndex((n) => n !== 0) as 0 | 1 | 2;
  const clockwise = how === "2" ? 2 : how === "'" ? -1 : 1;
  return { axis, layer: middle ? 0 : normal[axis]! * ((size - 1) / 2), quarters: -clockwise * normal[axis]! };
}

/** Returns the stickers after a sequence of named turns. Skips unknown names. */
export const after = (stickers: string, moves: string[]): string =>
  moves.reduce((state, name) => {
    const turn = turnOf(sizeOf(stickers), name);
    return turn ? turned(state, turn) : state;
  }, stickers);

export const isSolved = (stickers: string): boolean => {
  const each = stickers.length / 6;
  return Array.from(stickers).every((letter, k) => letter === stickers[k - (k % each)]);
};

/** Returns the name of a sticker: its face and its number from 1, such as `U1` or `B9`. */
export const faceletName = (size: number, at: number): string => `${FACES[Math.floor(at / (size * size))]}${(at % (size * size)) + 1}`;

/** Returns the indices of the stickers of a cubie. `place` names the cubie's position by faces, such as `URF`. */
export function stickersAt(size: number, place: string): number[] {
  const faces = Array.from(place).map((letter) => NORMAL[letter as Face]);
  const half = (size - 1) / 2;
  const all = faceletsOf(size);
  return all.flatMap(({ cell, normal }, k) => {
    const here = faces.every((face) => Math.abs(dot(cell, face) - half) < 1e-9) && faces.some((face) => dot(normal, face) === 1);
    const outer = cell.filter((n) => Math.abs(n) === half).length;
    return here && outer === (size === 2 ? 3 : faces.length) ? [k] : [];
  });
}

/** Faces by the initials of their usual colours. */
const NAMED: Record<string, Face> = { W: "U", R: "R", G: "F", Y: "D", O: "L", B: "B" };

/**
 * Converts stickers to face letters. The text may use face letters or colour letters. It may also use at most six other letters; these are
 * assigned to the faces in order of appearance. Returns undefined if the text has more than six other letters.
 */
export function normalised(text: string): string | undefined {
  const letters = Array.from(text.replaceAll(/\s+/g, "").toUpperCase());
  const found = [...new Set(letters)];
  if (found.every((letter) => FACES.includes(letter as Face))) return letters.join("");
  if (found.every((letter) => letter in NAMED)) return letters.map((letter) => NAMED[letter]).join("");
  if (found.length > 6) return undefined;
  return letters.map((letter) => FACES[found.indexOf(letter)]).join("");
}

/** Describes the stickers for screen readers. */
export function spoken(stickers: string): string {
  const each = stickers.length / 6;
  const size = Math.sqrt(each);
  return FACES.map((face, f) => {
    const own = Array.from(stickers.slice(f * each, (f + 1) * each));
    const rows = Array.from({ length: size }, (_, row) =>
      own
        .slice(row * size, (row + 1) * size)
        .map((letter) => COLOURS[letter] ?? "no colour")
        .join(" "),
    );
    const first = COLOURS[own[0]!] ?? "no colour";
    return `${PLACES[face]}: ${own.every((letter) => letter === own[0]) ? `all ${first}` : rows.join("; ")}`;
  }).join(". ");
}
