// Colours of the shapes that environments draw. A test compares them with those of the crate `worlds`.

/** Red, green and blue of each colour, from 0 to 255. */
export const COLOURS: Record<string, readonly [number, number, number]> = {
  black: [46, 52, 60],
  gray: [128, 134, 142],
  lightgray: [200, 204, 208],
  white: [255, 255, 255],
  red: [200, 70, 60],
  orange: [214, 122, 62],
  yellow: [242, 190, 84],
  green: [74, 140, 90],
  lightgreen: [190, 216, 176],
  darkgreen: [44, 92, 62],
  blue: [64, 118, 164],
  lightblue: [196, 220, 236],
  darkblue: [36, 56, 84],
  purple: [126, 100, 172],
  pink: [228, 158, 176],
  brown: [140, 96, 66],
};
/** Background colour of a picture, the same as in the Python package. */
export const PAPER = [250, 250, 247] as const;
