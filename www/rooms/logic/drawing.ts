// SVG markup of a circuit: wires, and standard gate symbols with bubbles for inversion.

import { clamp } from "../../parts/keys";
import { reads } from "./ops";
import type { Placed, Point, Wire } from "./layout";
import type { CircuitView } from "./protocol";

/** Width and height of a gate, in px at zoom 1. */
const [WIDE, TALL] = [30, 20];

/** Arrangement of a drawing: width of a layer, height of a row, and margins, in px at zoom 1. */
export type Arrangement = { layer: number; row: number; margin: { left: number; right: number; top: number }; named: boolean };
const [LAYER, ROW] = [76, 28];
/** Arrangement for a diagram in which inputs and outputs have names. */
export const NAMED: Arrangement = { layer: LAYER, row: ROW, margin: { left: 142, right: 84, top: 16 }, named: true };

/** Maximum factor by which a picture is stretched. */
const MOST_STRETCH = 2;

/**
 * Returns the arrangement for a picture without names whose ratio of width to height is near `ratio`. The arrangement stretches the
 * distances between gates, but not the gates.
 */
export function pictured({ layers, rows }: Placed, ratio: number): Arrangement {
  const margin = { left: 12, right: 12, top: 4 };
  const stretch = (ratio * (rows * ROW)) / ((layers - 1) * LAYER);
  return {
    layer: LAYER * clamp(stretch, 1, MOST_STRETCH),
    row: ROW * clamp(1 / stretch, 1, MOST_STRETCH),
    margin,
    named: false,
  };
}

/** Symbol of a gate: its shape, and whether the output, input `a` and input `b` are inverted. */
type Symbol = { shape: "and" | "or" | "xor" | "buffer" | "constant"; out: boolean; a: boolean; b: boolean };
const symbol = (shape: Symbol["shape"], out = false, a = false, b = false): Symbol => ({ shape, out, a, b });
const SYMBOLS: Symbol[] = [
  symbol("constant"),
  symbol("and"),
  symbol("and", false, false, true),
  symbol("buffer"),
  symbol("and", false, true, false),
  symbol("buffer"),
  symbol("xor"),
  symbol("or"),
  symbol("or", true),
  symbol("xor", true),
  symbol("buffer", true),
  symbol("or", false, false, true),
  symbol("buffer", true),
  symbol("or", false, true, false),
  symbol("and", true),
  symbol("constant"),
];
const [W, H] = [WIDE / 2, TALL / 2];
const SHAPES: Record<Symbol["shape"], string> = {
  and: `M${-W} ${-H}H4A${H} ${H} 0 0 1 4 ${H}H${-W}Z`,
  or: `M${-W} ${-H}H-4Q8 ${-H} ${W - 1} 0Q8 ${H} -4 ${H}H${-W}Q${-W + 7} 0 ${-W} ${-H}Z`,
  xor:
    `M${-W + 3} ${-H}H-3Q8 ${-H} ${W - 1} 0Q8 ${H} -3 ${H}H${-W + 3}Q${-W + 10} 0 ${-W + 3} ${-H}ZM${-W - 1} ${-H}Q${-W + 6} 0 ` +
    `${-W - 1} ${H}`,
  buffer: `M${-W + 6} ${-H + 2}L${W - 4} 0L${-W + 6} ${H - 2}Z`,
  constant: `M${-H} ${-H}H${H}V${H}H${-H}Z`,
};

/** Returns the vertical position from which a wire arrives at a gate. `b` is true for the gate's second input. */
function height({ wires, nodes }: Placed, from: Wire, gate: number, b: boolean): number {
  const wire = wires.find(({ from: one, to }) => one === from && "gate" in to && to.gate === gate && to.b === b);
  return wire?.through.at(-1)?.y ?? nodes[from]!.y;
}

/**
 * Returns a function that computes the vertical offset of a gate's input, in px. The input whose wire arrives from higher up is the upper
 * input.
 */
function portsOf({ gates }: CircuitView, layout: Placed): (gate: number, b: boolean) => number {
  const upper = gates.map(({ a, b }, gate) => a === b || height(layout, a, gate, false) <= height(layout, b, gate, true));
  return (gate, b) => {
    const read = reads(gates[gate]!.op);
    return read.a && read.b ? (b === upper[gate] ? 5 : -5) : 0;
  };
}

/** Returns the markup of the diagram. The markup contains no names of inputs; the caller sets these names later as text. */
export function drawingOf(circuit: CircuitView, layout: Placed, { layer, row, margin, named }: Arrangement): string {
  const { inputs, gates, outputs } = circuit;
  const at = ({ x, y }: Point): Point => ({ x: margin.left + x * layer, y: margin.top + (y + 0.5) * row });
  const port = portsOf(circuit, layout);
  const wires = layout.wires.map(({ from, to, through }) => {
    const start = at(layout.nodes[from]!);
    let [x, y] = [start.x + (from < inputs.length ? 6 : W + 2), start.y];
    let path = `M${x} ${round(y)}`;
    for (const place of through) {
      const next = at(place);
      path += `${bend(x, y, next.x - W, next.y)}H${next.x + W}`;
      [x, y] = [next.x + W, next.y];
    }
    const end = "gate" in to ? at(layout.nodes[inputs.length + to.gate]!) : at(layout.outputs[to.output]!);
    path += "gate" in to ? bend(x, y, end.x - W - 1, end.y + port(to.gate, to.b)) : bend(x, y, end.x - 6, end.y);
    return `<path class="wire" d="${path}"/>`;
  });
  const nodes = layout.nodes.map((place, node) => {
    const { x, y } = at(place);
    const gate = node - inputs.length;
    const name = named ? `<text x="-9" y="4" text-anchor="end"></text>` : "";
    const inner = gate < 0 ? `<circle r="4"/>${name}` : gateOf(gates[gate]!.op, (b) => port(gate, b));
    return `<g class="node ${gate < 0 ? "input" : "gate"}" data-node="${node}" transform="translate(${round(x)} ${round(y)})">${inner}</g>`;
  });
  const ends = layout.outputs.map((place, k) => {
    const { x, y } = at(place);
    const name = named ? `<text x="9" y="4">${outputs.length === 1 ? "next state" : `channel ${k}`}</text>` : "";
    return `<g class="end" transform="translate(${round(x)} ${round(y)})"><circle r="4"/>${name}</g>`;
  });
  const width = margin.left + (layout.layers - 1) * layer + margin.right;
  const tall = Math.ceil(2 * margin.top + layout.rows * row);
  return `<svg viewBox="0 0 ${width} ${tall}" aria-hidden="true">${[...wires, ...nodes, ...ends].join("")}</svg>`;
}

function gateOf(op: number, port: (b: boolean) => number): string {
  const { shape, out, a, b } = SYMBOLS[op]!;
  const bubble = (x: number, y: number): string => `<circle class="bubble" cx="${x}" cy="${y}" r="3"/>`;
  const constant = shape === "constant" ? `<text y="4" text-anchor="middle">${op === 15 ? 1 : 0}</text>` : "";
  const bubbles = (out ? bubble(W + 1, 0) : "") + (a ? bubble(-W - 1, port(false)) : "") + (b ? bubble(-W - 1, port(true)) : "");
  return (
    `<rect x="${-W - 4}" y="${-H - 3}" width="${WIDE + 8}" height="${TALL + 6}" class="hit"/><path class="shape" ` +
    `d="${SHAPES[shape]}"/>${constant}${bubbles}`
  );
}

const round = (n: number): number => Math.round(10 * n) / 10;

/** Returns the path of a wire from (`x`, `y`) to (`toX`, `toY`). A curved path is horizontal at both ends. */
function bend(x: number, y: number, toX: number, toY: number): string {
  const middle = (x + toX) / 2;
  return Math.abs(toY - y) < 0.1 ? `L${toX} ${round(toY)}` : `C${middle} ${round(y)} ${middle} ${round(toY)} ${toX} ${round(toY)}`;
}
