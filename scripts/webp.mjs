// Animated WebP pictures: records a page, and writes the container of the animation (developers.google.com/speed/webp/docs/riff_container).
// The browser compresses the single frames.

/** Records the page for `ms`. Returns the pictures that it showed, in order, as `{ at, data }`: the time in ms and a JPEG in base64. */
export async function recording(page, ms, { width, height }) {
  const session = await page.context().newCDPSession(page);
  const shown = [];
  session.on("Page.screencastFrame", ({ data, metadata, sessionId }) => {
    shown.push({ at: metadata.timestamp * 1000, data });
    session.send("Page.screencastFrameAck", { sessionId }).catch(() => {}); // the page may be closed
  });
  await session.send("Page.startScreencast", { format: "jpeg", quality: 95, maxWidth: width, maxHeight: height });
  await page.waitForTimeout(ms);
  await session.send("Page.stopScreencast");
  await session.detach();
  return shown.sort((a, b) => a.at - b.at);
}

/** Returns the pictures that were shown at each of `fps` times a second, and for how long, as `{ data, ms }`. */
export function sampled(shown, fps) {
  const step = 1000 / fps;
  const kept = shown.filter(({ at }, k) => k === 0 || Math.floor(at / step) !== Math.floor(shown[k - 1].at / step));
  return kept.map(({ at, data }, k) => ({ data, ms: Math.round((kept[k + 1]?.at ?? at + step) - at) }));
}

/**
 * Runs in the browser. Compresses each picture as WebP, but only the rectangle in which it differs from the picture before. Returns
 * `{ x, y, width, height, ms, data }` with `data` in base64. A picture that does not differ prolongs the one before.
 */
async function compressed([pictures, width, height, quality, threshold]) {
  const context = (w, h) => new OffscreenCanvas(w, h).getContext("2d", { alpha: false, willReadFrequently: true });
  const whole = context(width, height);
  const bytesOf = (base64) => Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
  const frames = [];
  let before;
  for (const { data, ms } of pictures) {
    const bitmap = await createImageBitmap(new Blob([bytesOf(data)]));
    whole.drawImage(bitmap, 0, 0, width, height);
    const now = whole.getImageData(0, 0, width, height);
    const pixels = now.data;
    let [left, top, right, bottom] = before ? [width, height, 0, 0] : [0, 0, width, height];
    for (let k = 0; before && k < pixels.length; k += 4) {
      const change = Math.abs(pixels[k] - before[k]) + Math.abs(pixels[k + 1] - before[k + 1]) + Math.abs(pixels[k + 2] - before[k + 2]);
      if (change <= threshold) continue;
      const [x, y] = [(k / 4) % width, Math.floor(k / 4 / width)];
      [left, top, right, bottom] = [Math.min(left, x), Math.min(top, y), Math.max(right, x + 1), Math.max(bottom, y + 1)];
    }
    if (right <= left) {
      frames.at(-1).ms += ms;
      continue;
    }
    before = pixels;
    [left, top] = [left - (left % 2), top - (top % 2)]; // the container stores halves of the position
    const part = context(right - left, bottom - top);
    part.putImageData(now, -left, -top);
    const bytes = new Uint8Array(await (await part.canvas.convertToBlob({ type: "image/webp", quality })).arrayBuffer());
    const data64 = btoa(bytes.reduce((text, byte) => text + String.fromCharCode(byte), ""));
    frames.push({ x: left, y: top, width: right - left, height: bottom - top, ms, data: data64 });
  }
  return frames;
}

/** Returns an animated WebP of the pictures `{ data, ms }`, which repeats. `quality` is from 0 to 1. */
export async function animation(browser, pictures, { width, height, quality, threshold = 24 }) {
  const page = await browser.newPage();
  const frames = await page.evaluate(compressed, [pictures, width, height, quality, threshold]);
  await page.close();
  return container(
    width,
    height,
    frames.map((frame) => ({ ...frame, data: Buffer.from(frame.data, "base64") })),
  );
}

const u24 = (value) => Buffer.from([value, value >> 8, value >> 16]);
const u32 = (value) => Buffer.from([value, value >> 8, value >> 16, value >> 24]);
/** Returns a chunk of the container. Chunks have an even length. */
const chunk = (name, ...parts) => {
  const body = Buffer.concat(parts);
  return Buffer.concat([Buffer.from(name), u32(body.length), body, Buffer.alloc(body.length % 2)]);
};

/** Returns the chunks of a WebP picture as `{ name, body }`. */
export function chunksOf(file) {
  const chunks = [];
  for (let at = 12; at + 8 <= file.length; ) {
    const length = file.readUInt32LE(at + 4);
    chunks.push({ name: file.toString("latin1", at, at + 4), body: file.subarray(at + 8, at + 8 + length) });
    at += 8 + length + (length % 2);
  }
  return chunks;
}

/** Returns an animated WebP of frames `{ x, y, width, height, ms, data }`. `data` is a WebP picture without animation. */
export function container(width, height, frames) {
  const ANIMATED = 2;
  const OPAQUE = 2; // replaces the pixels below instead of blending with them
  const parts = frames.map(({ x, y, width, height, ms, data }) => {
    const pixels = chunksOf(data).filter(({ name }) => name === "VP8 " || name === "VP8L");
    const place = [x / 2, y / 2, width - 1, height - 1, ms].map(u24);
    return chunk("ANMF", ...place, Buffer.from([OPAQUE]), ...pixels.map(({ name, body }) => chunk(name, body)));
  });
  const header = chunk("VP8X", u32(ANIMATED), u24(width - 1), u24(height - 1));
  const forever = chunk("ANIM", u32(-1), Buffer.alloc(2));
  const body = Buffer.concat([Buffer.from("WEBP"), header, forever, ...parts]);
  return Buffer.concat([Buffer.from("RIFF"), u32(body.length), body]);
}
