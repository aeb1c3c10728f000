// Pictures of parts of the page: their comparison within a tolerance, and small PNG files of them.
import { crc32, deflateSync } from "node:zlib";

/**
 * Tolerance of a comparison. A pixel is compared with the 3x3 pixels around the same position of the other picture. It differs if one of
 * its channels (0 to 255) is more than `colour` outside the range of these pixels. Two pictures differ if, in some tile of `tile` by `tile`
 * pixels, more than the share `share` of the pixels differ. The comparison tolerates a changed edge of a letter and a shift by 1 px, but
 * not another colour of a control or a shift by 2 px.
 */
const TOLERANCE = { colour: 6, tile: 32, share: 0.02 };
/** Maximum difference per channel of two colours that a saved picture merges. The more common colour replaces the other. */
const NEAR = 5;
/** Maximum number of colours of a saved picture. */
const MOST_COLOURS = 256;

/**
 * Runs in a page: compares two PNG files tile by tile. Returns the tile that differs most and the number of tiles that differ, or undefined
 * if no tile differs.
 */
async function worstTile([one, other, { colour, tile, share }]) {
  const decode = (png) => createImageBitmap(new Blob([Uint8Array.from(atob(png), (byte) => byte.charCodeAt(0))]));
  const images = await Promise.all([one, other].map(decode));
  const [width, height] = ["width", "height"].map((side) => Math.max(...images.map((image) => image[side])));
  const [a, b] = images.map((image) => {
    const context = new OffscreenCanvas(width, height).getContext("2d", { willReadFrequently: true });
    context.drawImage(image, 0, 0);
    return context.getImageData(0, 0, width, height).data;
  });
  /** Returns true if a channel of pixel `at` in `from` is outside the range of the 3x3 pixels around this position in `within`. */
  const outside = (from, within, at) =>
    [0, 1, 2, 3].some((channel) => {
      const [x, y] = [(at / 4) % width, Math.floor(at / 4 / width)];
      let [low, high] = [255, 0];
      for (let v = Math.max(0, y - 1); v <= Math.min(height - 1, y + 1); v++)
        for (let u = Math.max(0, x - 1); u <= Math.min(width - 1, x + 1); u++) {
          const value = within[4 * (v * width + u) + channel];
          [low, high] = [Math.min(low, value), Math.max(high, value)];
        }
      return from[at + channel] < low - colour || from[at + channel] > high + colour;
    });
  const counts = new Map();
  for (let at = 0; at < a.length; at += 4) {
    if (![0, 1, 2, 3].some((channel) => Math.abs(a[at + channel] - b[at + channel]) > colour)) continue;
    if (!outside(a, b, at) && !outside(b, a, at)) continue;
    const place = [(at / 4) % width, Math.floor(at / 4 / width)].map((side) => tile * Math.floor(side / tile)).join(", ");
    counts.set(place, (counts.get(place) ?? 0) + 1);
  }
  const tiles = [...counts].filter(([, count]) => count > share * tile ** 2).sort(([, a], [, b]) => b - a);
  return tiles.length ? { tiles: tiles.length, place: tiles[0][0], share: tiles[0][1] / tile ** 2 } : undefined;
}

/** Describes the difference of two PNG files; returns undefined if they are equal within the tolerance. `page` is any page. */
export async function difference(page, one, other) {
  const found = await page.evaluate(worstTile, [one.toString("base64"), other.toString("base64"), TOLERANCE]);
  return found && `${found.tiles} tiles differ; ${Math.round(100 * found.share)}% of the tile at ${found.place}`;
}

/**
 * Runs in a page: returns a PNG file's size, its palette, and the palette index of each pixel. A near common colour replaces a rare one.
 */
async function indexed([png, near, most]) {
  const image = await createImageBitmap(new Blob([Uint8Array.from(atob(png), (byte) => byte.charCodeAt(0))]));
  const { width, height } = image;
  const context = new OffscreenCanvas(width, height).getContext("2d");
  context.drawImage(image, 0, 0);
  const pixels = new Uint32Array(context.getImageData(0, 0, width, height).data.buffer);
  const counts = new Map();
  for (const pixel of pixels) counts.set(pixel, (counts.get(pixel) ?? 0) + 1);
  const colours = [];
  const index = new Map();
  for (const [pixel] of [...counts].sort(([, a], [, b]) => b - a)) {
    const own = [pixel & 255, (pixel >> 8) & 255, (pixel >> 16) & 255];
    const distances = colours.map((colour) => Math.max(...colour.map((value, k) => Math.abs(value - own[k]))));
    const least = Math.min(...distances);
    const known = least <= near || colours.length === most;
    index.set(pixel, known ? distances.indexOf(least) : colours.push(own) - 1);
  }
  // Playwright passes a text much faster than an array.
  const text = (bytes) => Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
  return { width, height, colours: colours.flat(), indices: btoa(text(pixels.map((pixel) => index.get(pixel)))) };
}

function chunk(type, data) {
  const body = Buffer.concat([Buffer.from(type), data]);
  const [length, check] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  check.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, check]);
}

/** Converts a PNG file to a smaller one with few colours. `page` is any page. */
export async function reduced(page, png) {
  const { width, height, colours, indices } = await page.evaluate(indexed, [png.toString("base64"), NEAR, MOST_COLOURS]);
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width);
  head.writeUInt32BE(height, 4);
  head.set([8, 3], 8); // eight bits per pixel, with a palette
  const bytes = Buffer.from(indices, "base64");
  const rows = Array.from({ length: height }, (_, y) => [Buffer.alloc(1), bytes.subarray(y * width, (y + 1) * width)]);
  return Buffer.concat([
    Buffer.from("\x89PNG\r\n\x1a\n", "latin1"),
    chunk("IHDR", head),
    chunk("PLTE", Buffer.from(colours)),
    chunk("IDAT", deflateSync(Buffer.concat(rows.flat()), { level: 9 })),
    chunk("IEND", Buffer.alloc(0)),
  ]);
}
