// Layered layout of a circuit from left to right with few crossings (Sugiyama, Tagawa and Toda, 1981). If a wire crosses layers, the layout
// gives it a point in each crossed layer. All wires from the same gate share these points.

import { reads } from "./ops";
import type { CircuitView } from "./protocol";

/** Index of a node. The inputs have the first indices, and the gates follow. */
export type Wire = number;

const SWEEPS = 12;

/** Coordinates of a point: x in layer widths, y in row heights. */
export type Point = { x: number; y: number };
export type Placed = {
  /** Positions of the nodes: first the inputs, then the gates. */
  nodes: Point[];
  outputs: Point[];
  /**
   * Wires, each from a node to a gate or an output. `b` is true if the wire leads to the gate's second input. `through` contains the points
   * of the wire in the crossed layers.
   */
  wires: { from: Wire; to: { gate: number; b: boolean } | { output: number }; through: Point[] }[];
  layers: number;
  rows: number;
};

type Node = { layer: number; before: number[]; after: number[]; at: number; y: number };

export function placed({ inputs, gates, outputs }: CircuitView): Placed {
  const nodes: Node[] = [];
  const add = (layer: number): number => nodes.push({ layer, before: [], after: [], at: 0, y: 0 }) - 1;
  const link = (from: number, to: number): void => {
    nodes[from]!.after.push(to);
    nodes[to]!.before.push(from);
  };
  inputs.forEach(() => add(0));
  gates.forEach(({ layer }) => add(Math.max(1, layer)));
  const last = 1 + Math.max(0, ...gates.map(({ layer }) => Math.max(1, layer)));
  const ends = outputs.map(() => add(last));
  /**
   * For each node, the points that its wires pass, as indices in `nodes`. There is one point per layer, starting with the layer after the
   * node's layer.
   */
  const chains = nodes.map(() => [] as number[]);
  const reach = (from: Wire, layer: number): number[] => {
    const chain = chains[from]!;
    for (let l = nodes[from]!.layer + chain.length + 1; l < layer; l++) {
      const place = add(l);
      link(chain.at(-1) ?? from, place);
      chain.push(place);
    }
    return chain.slice(0, Math.max(0, layer - nodes[from]!.layer - 1));
  };
  const wires: { from: Wire; to: Placed["wires"][number]["to"]; through: number[] }[] = [];
  const wire = (from: Wire, node: number, to: Placed["wires"][number]["to"]): void => {
    const through = reach(from, nodes[node]!.layer);
    link(through.at(-1) ?? from, node);
    wires.push({ from, to, through });
  };
  gates.forEach(({ op, a, b }, gate) => {
    const read = reads(op);
    if (read.a) wire(a, inputs.length + gate, { gate, b: false });
    if (read.b) wire(b, inputs.length + gate, { gate, b: true });
  });
  outputs.forEach((from, k) => wire(from, ends[k]!, { output: k }));

  const layers = Array.from({ length: last + 1 }, (): number[] => []);
  nodes.forEach(({ layer }, k) => layers[layer]!.push(k));
  order(nodes, layers);
  spread(nodes, layers);
  const top = Math.min(...nodes.map(({ y }) => y));
  const point = (k: number): Point => ({ x: nodes[k]!.layer, y: nodes[k]!.y - top });
  return {
    nodes: Array.from({ length: inputs.length + gates.length }, (_, k) => point(k)),
    outputs: ends.map(point),
    wires: wires.map(({ through, ...rest }) => ({ ...rest, through: through.map(point) })),
    layers: last + 1,
    rows: Math.max(...nodes.map(({ y }) => y)) - top + 1,
  };
}

const mean = (all: number[], of: (k: number) => number): number => all.reduce((sum, k) => sum + of(k), 0) / all.length;

/**
 * Sorts the nodes of each layer by the mean position of their connected nodes. The sweeps over the layers alternate in direction. Keeps the
 * order with the fewest crossings.
 */
function order(nodes: Node[], layers: number[][]): void {
  const number = (layer: number[]): void => layer.forEach((k, at) => (nodes[k]!.at = at));
  layers.forEach(number);
  let best = layers.map((layer) => [...layer]);
  let least = crossings(nodes, layers);
  for (let sweep = 0; sweep < SWEEPS && least > 0; sweep++) {
    const forth = sweep % 2 === 0;
    for (const layer of forth ? layers.slice(1) : layers.slice(0, -1).reverse()) {
      const preferred = new Map(
        layer.map((k) => {
          const beside = forth ? nodes[k]!.before : nodes[k]!.after;
          return [k, beside.length ? mean(beside, (other) => nodes[other]!.at) : nodes[k]!.at];
        }),
      );
      layer.sort((a, b) => preferred.get(a)! - preferred.get(b)!);
      number(layer);
    }
    const now = crossings(nodes, layers);
    if (now < least) [least, best] = [now, layers.map((layer) => [...layer])];
  }
  best.forEach((layer, l) => {
    layers[l] = layer;
    number(layer);
  });
}

/** Returns the number of crossings of wires between neighbouring layers, counted with a Fenwick tree. */
function crossings(nodes: Node[], layers: number[][]): number {
  let all = 0;
  for (let l = 0; l + 1 < layers.length; l++) {
    const tree = new Uint32Array(layers[l + 1]!.length + 1);
    let inserted = 0;
    for (const k of layers[l]!) {
      const ends = nodes[k]!.after.map((to) => nodes[to]!.at);
      for (const end of ends) {
        let upTo = 0;
        for (let i = end + 1; i > 0; i -= i & -i) upTo += tree[i]!;
        all += inserted - upTo;
      }
      for (const end of ends) {
        for (let i = end + 1; i < tree.length; i += i & -i) tree[i]!++;
        inserted++;
      }
    }
  }
  return all;
}

/**
 * Sets the heights of the nodes, so that each node is near its connected nodes. The nodes of a layer keep their order and are at least one
 * row apart.
 */
function spread(nodes: Node[], layers: number[][]): void {
  const tallest = Math.max(...layers.map(({ length }) => length));
  for (const layer of layers) layer.forEach((k, at) => (nodes[k]!.y = at + (tallest - layer.length) / 2));
  for (let pass = 0; pass < 8; pass++)
    for (const layer of pass % 2 === 0 ? layers : [...layers].reverse()) {
      const preferred = layer.map((k) => {
        const beside = [...nodes[k]!.before, ...nodes[k]!.after];
        return beside.length ? mean(beside, (other) => nodes[other]!.y) : nodes[k]!.y;
      });
      apart(preferred).forEach((y, at) => (nodes[layer[at]!]!.y = y));
    }
}

/**
 * Returns heights that are at least one row apart. They minimize the squared distance from the preferred heights. Neighbours that would
 * overlap merge into blocks.
 */
function apart(preferred: number[]): number[] {
  const blocks: { sum: number; size: number }[] = [];
  preferred.forEach((height, at) => {
    let block = { sum: height - at, size: 1 };
    for (let before = blocks.at(-1); before && before.sum / before.size > block.sum / block.size; before = blocks.at(-1)) {
      block = { sum: before.sum + block.sum, size: before.size + block.size };
      blocks.pop();
    }
    blocks.push(block);
  });
  return blocks.flatMap(({ sum, size }) => new Array<number>(size).fill(sum / size)).map((y, at) => y + at);
}
