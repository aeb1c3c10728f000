// The two axes of the state plane: conversion of positions, drawing and names.

import { font, pen } from "../../parts/canvas";
import { figure } from "../../parts/format";
import { palette } from "../../parts/theme";
import type { Player } from "./player";
import type { Axis } from "./protocol";

export type Box = { left: number; top: number; width: number; height: number };
const MARGIN = { left: 46, right: 10, top: 8, bottom: 20 };

export const boxOf = ({ width, height }: { width: number; height: number }): Box => ({
  left: MARGIN.left,
  top: MARGIN.top,
  width: Math.max(1, width - MARGIN.left - MARGIN.right),
  height: Math.max(1, height - MARGIN.top - MARGIN.bottom),
});

/** Returns the name of an axis without its unit: `angle` for `angle (rad)`. */
export const nameOf = (axis: Axis): string => axis.name.replace(/ \(.*\)$/, "");
/** Returns the position of a value on the axis: 0 at the low end, 1 at the high end. */
export const share = (axis: Axis, value: number): number => (value - axis.low) / (axis.high - axis.low);
/** Formats the value at a position on the axis, where 0 is the low end and 1 the high end. */
export const at = (axis: Axis, place: number): string => figure(axis.low + place * (axis.high - axis.low));

/**
 * Returns the value of an observation on an axis. `seen` returns the observation's feature with a given index. An axis with two features
 * shows the angle whose cosine and sine they are.
 */
export const of = (axis: Axis, seen: (feature: number) => number): number =>
  axis.of.length === 2 ? Math.atan2(seen(axis.of[1]!), seen(axis.of[0]!)) : seen(axis.of[0]!);
/** Returns the value on an axis for the last observation of an environment. */
export const along = (axis: Axis, player: Player, env: number): number => of(axis, (feature) => player.seen(env, feature));

/** Extends an axis by multiples of its length until it contains the value. */
export function widen(axis: Axis, value: number): void {
  while (value > axis.high) axis.high += axis.high - axis.low;
  while (value < axis.low) axis.low -= axis.high - axis.low;
}

/** Returns the ticks at both ends of an axis. The ends of a full circle are labelled with π. */
function ticks({ low, high }: Axis): { value: number; label: string }[] {
  if (Math.abs(low + Math.PI) < 1e-6 && Math.abs(high - Math.PI) < 1e-6)
    return [
      { value: low, label: "−π" },
      { value: high, label: "π" },
    ];
  return [low, high].map((value) => ({ value, label: figure(Number(value.toPrecision(3))) }));
}

export function drawAxes(c: CanvasRenderingContext2D, [x, y]: [Axis, Axis], box: Box): void {
  pen(c, palette.hair, 1);
  c.strokeRect(box.left + 0.5, box.top + 0.5, box.width - 1, box.height - 1);
  c.fillStyle = palette.muted;
  c.font = font(12);
  c.textBaseline = "alphabetic";
  for (const tick of ticks(x)) {
    c.textAlign = tick.value === x.low ? "left" : "right";
    c.fillText(tick.label, box.left + share(x, tick.value) * box.width, box.top + box.height + 14);
  }
  c.textAlign = "center";
  c.fillText(x.name, box.left + box.width / 2, box.top + box.height + 14);
  c.textAlign = "right";
  for (const tick of ticks(y)) {
    const tall = box.top + (1 - share(y, tick.value)) * box.height;
    c.fillText(tick.label, box.left - 5, Math.min(box.top + box.height, Math.max(box.top + 8, tall + 4)));
  }
  c.save();
  c.translate(11, box.top + box.height / 2);
  c.rotate(-Math.PI / 2);
  c.textAlign = "center";
  c.fillText(y.name, 0, 0);
  c.restore();
}
