// Arrow keys, and the positions that they select.

export const modified = ({ ctrlKey, altKey, metaKey }: KeyboardEvent): boolean => ctrlKey || altKey || metaKey;

const ARROWS: Record<string, readonly [number, number]> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
};
/** Returns the direction of an arrow key as (x, y), with right and down positive; undefined for another key. */
export const arrowOf = ({ key }: KeyboardEvent): readonly [number, number] | undefined => ARROWS[key];

/** Returns the position that a key (left, right, home or end) selects in a row of `count` positions. Returns undefined for another key. */
export const placeOf = ({ key }: KeyboardEvent, at: number, count: number): number | undefined => {
  const to = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: count - 1 }[key];
  return to === undefined ? undefined : clamp(to, 0, count - 1);
};

export const clamp = (n: number, low: number, high: number): number => Math.max(low, Math.min(high, n));
