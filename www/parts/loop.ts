// A single animation loop for all elements. Off-screen elements and background pages are not drawn.

import { untilClosed } from "./life";
import { effect } from "./signal";

type Draw = (nowMs: number) => void;
type Entry = { draw: Draw; everyMs: number; lastMs: number; seen: boolean };

const entries = new Map<Element, Entry>();
const watcher = new IntersectionObserver((changes) => {
  for (const change of changes) {
    const entry = entries.get(change.target);
    if (entry) entry.seen = change.isIntersecting;
  }
});
let running = false;
/** Moving average of the time between two frames. If the average is long, each element is drawn less often. */
let gapMs = 16;
let tickMs = 0;
const SLOW_GAP_MS = 24;
const SLOW_EVERY_MS = 45;

function tick(nowMs: number): void {
  if (entries.size === 0) {
    running = false;
    return;
  }
  gapMs += (Math.min(100, nowMs - tickMs) - gapMs) * 0.05;
  tickMs = nowMs;
  const leastMs = gapMs > SLOW_GAP_MS ? SLOW_EVERY_MS : 0;
  for (const entry of entries.values()) {
    if (!entry.seen || nowMs - entry.lastMs < Math.max(entry.everyMs, leastMs)) continue;
    entry.lastMs = nowMs;
    entry.draw(nowMs);
  }
  requestAnimationFrame(tick);
}

/**
 * Calls `draw` in the animation loop while `element` is on the screen, at most once in `everyMs`. The calls end when the page closes or
 * when the returned function is called.
 */
export function animate(element: Element, draw: Draw, everyMs = 0): () => void {
  entries.set(element, { draw, everyMs, lastMs: -Infinity, seen: false });
  watcher.observe(element);
  if (!running) {
    running = true;
    requestAnimationFrame(tick);
  }
  return untilClosed(() => {
    entries.delete(element);
    watcher.unobserve(element);
  });
}

/**
 * Calls `draw` now, and again after changes of the state that it read. The repeated calls occur only while `element` is on the screen, and
 * at most once in `everyMs`. The returned function makes a due call immediately.
 */
export function drawing(element: Element, draw: () => void, everyMs = 0): () => void {
  let due: (() => void) | undefined;
  const now = (): void => {
    const again = due;
    due = undefined;
    again?.();
  };
  untilClosed(effect(draw, (again) => (due = again)));
  animate(element, now, everyMs);
  return now;
}

/** Media query for the visitor's preference for reduced motion, which may change during the visit. */
const reduced = matchMedia("(prefers-reduced-motion: reduce)");
export const calm = (): boolean => reduced.matches;

/** Media query for a touch screen, on which keyboard hints are omitted. */
const coarse = matchMedia("(pointer: coarse)");
export const touch = (): boolean => coarse.matches;

/** A canvas whose resolution is adapted to the screen. `width` and `height` are in CSS pixels. */
export class Surface {
  readonly context: CanvasRenderingContext2D;
  width = 0;
  height = 0;
  readonly close: () => void;

  constructor(
    readonly canvas: HTMLCanvasElement,
    resized: () => void = () => {},
  ) {
    this.context = canvas.getContext("2d")!;
    let sized = false;
    const observer = new ResizeObserver(() => {
      const ratio = Math.min(devicePixelRatio || 1, 3);
      this.width = canvas.clientWidth;
      this.height = canvas.clientHeight;
      canvas.width = Math.round(this.width * ratio);
      canvas.height = Math.round(this.height * ratio);
      // The first drawing waits for the next frame, so that the frame with the first layout of the page stays short.
      if (sized) resized();
      else requestAnimationFrame(resized);
      sized = true;
    });
    observer.observe(canvas);
    this.close = untilClosed(() => observer.disconnect());
  }

  /** Clears the canvas and returns its context, scaled to CSS pixels. */
  begin(): CanvasRenderingContext2D {
    const ratio = this.canvas.width / Math.max(1, this.width);
    this.context.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.context.clearRect(0, 0, this.width, this.height);
    return this.context;
  }
}
