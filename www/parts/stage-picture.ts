// A picture of the stage: its parts as they are on the screen, in a frame that names the run.

import { drawFramed, outer, type Framed } from "./frame";
import { paint } from "./paint";

/** The stage of a room, as its pictures use it. */
export interface Staged {
  stage: HTMLElement;
  /** Selector of the parts of the stage that a picture shows. */
  parts: string;
  caption(): Pick<Framed, "title" | "about">;
}

/** Space around the parts, in px. */
const PAD = 16;
const ROUND = 16;

/** Returns the visible elements of the stage that the selector `parts` matches. An element inside another of these elements is omitted. */
function partsOf({ stage, parts }: Staged): Element[] {
  const all = [...stage.querySelectorAll(parts)].filter((part) => part.checkVisibility({ visibilityProperty: true }));
  return all.filter((part) => !all.some((other) => other !== part && other.contains(part)));
}

/** An element of the picture, and the distance in px by which the picture shows the element higher than the screen does. */
type Placed = { part: Element; up: number };
type Arranged = { left: number; top: number; width: number; height: number; placed: Placed[] };

/** Arranges the elements of the picture as on the screen, but closes the gaps that controls leave between them. */
function arranged(staged: Staged): Arranged {
  const parts = partsOf(staged).map((part) => ({ part, box: part.getBoundingClientRect() }));
  parts.sort((a, b) => a.box.top - b.box.top);
  const top = parts[0]?.box.top ?? 0;
  let [up, bottom] = [0, top];
  const placed = parts.map(({ part, box }) => {
    up += Math.max(0, box.top - bottom - PAD);
    bottom = Math.max(bottom, box.bottom);
    return { part, up };
  });
  const left = Math.min(...parts.map(({ box }) => box.left));
  const right = Math.max(...parts.map(({ box }) => box.right));
  return { left, top, width: right - left, height: bottom - top - up, placed };
}

/** Returns the size of the picture without its frame, in px. */
export function innerSize(staged: Staged): { width: number; height: number } {
  const { width, height } = arranged(staged);
  return { width: Math.ceil(width) + 2 * PAD, height: Math.ceil(height) + 2 * PAD };
}

/** Returns an empty canvas for pictures of this size in px, with the frame. `pixels` is the number of canvas pixels per CSS pixel. */
export function canvasFor(size: { width: number; height: number }, pixels: number): HTMLCanvasElement {
  const { width, height } = outer({ ...size, title: "", about: "" });
  const canvas = document.createElement("canvas");
  // The codecs of videos need even numbers.
  const even = (length: number): number => 2 * Math.ceil((length * pixels) / 2);
  Object.assign(canvas, { width: even(width), height: even(height) });
  return canvas;
}

/** Draws the stage on a canvas from `canvasFor`. A stage that is larger than `size` is drawn smaller. */
export function drawStage(canvas: HTMLCanvasElement, staged: Staged, size: { width: number; height: number }, pixels: number): void {
  const c = canvas.getContext("2d")!;
  const all = arranged(staged);
  c.setTransform(pixels, 0, 0, pixels, 0, 0);
  drawFramed(c, { ...size, ...staged.caption() }, (left, top) => {
    c.save();
    c.beginPath();
    c.roundRect(left, top, size.width, size.height, ROUND);
    c.fillStyle = ground(staged.stage);
    c.fill();
    c.clip();
    const scale = Math.min(1, (size.width - 2 * PAD) / all.width, (size.height - 2 * PAD) / all.height);
    c.translate(left + PAD, top + PAD);
    c.scale(scale, scale);
    for (const { part, up } of all.placed) {
      c.save();
      c.translate(-all.left, -all.top - up);
      paint(c, part);
      c.restore();
    }
    c.restore();
  });
}

/** Returns the colour behind an element. */
function ground(element: Element | null): string {
  for (let at = element; at; at = at.parentElement) {
    const { backgroundColor } = getComputedStyle(at);
    if (!/^rgba\(.*, 0\)$|^transparent$/.test(backgroundColor)) return backgroundColor;
  }
  return "white";
}

/** Returns true if a canvas of the picture is not drawn, as after a change of its size. */
export function blank(staged: Staged): boolean {
  const small = new OffscreenCanvas(16, 16).getContext("2d")!;
  const canvases = partsOf(staged).flatMap((part) => (part instanceof HTMLCanvasElement ? [part] : [...part.querySelectorAll("canvas")]));
  return canvases.some((canvas) => {
    if (!canvas.clientWidth || !canvas.clientHeight) return false;
    if (!canvas.width || !canvas.height) return true;
    small.clearRect(0, 0, 16, 16);
    small.drawImage(canvas, 0, 0, 16, 16);
    return small.getImageData(0, 0, 16, 16).data.every((value) => value === 0);
  });
}
