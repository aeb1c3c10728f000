// The plan of the forward pass, drawn as a network and listed in a table. The network runs from left to right, or downwards if there is
// little room. Its nodes are kernels and inputs.

import type { ControlClient } from "./client";
import type { PlanView } from "./protocol";
import { h, svg } from "../../parts/dom";
import { bytes, count } from "../../parts/format";
import { pageLife, untilClosed } from "../../parts/life";
import { Table } from "../../parts/table";

const BOX = { width: 152, height: 64 };
/** Distances between boxes, in px. `lanes` is the distance within a column; `least` and `most` limit the distance between columns. */
const APART = { lanes: 24, least: 16, most: 64 };

type Placed = { x: number; y: number };

/**
 * Returns the positions of the nodes. A node's column is its longest distance from an input. Within a column, nodes are placed near the
 * nodes that they read, so that few lines cross.
 */
function place(plan: PlanView): { at: Placed[]; columns: number; lanes: number } {
  const depth: number[] = [];
  plan.nodes.forEach((node, k) => (depth[k] = Math.max(0, ...node.reads.map((read) => (depth[read] ?? 0) + 1))));
  // An input is placed one column before the first node that reads it.
  plan.nodes.forEach((node, k) => {
    const readers = plan.nodes.flatMap((other, j) => (other.reads.includes(k) ? [depth[j]!] : []));
    if (node.reads.length === 0 && readers.length > 0) depth[k] = Math.min(...readers) - 1;
  });
  const columns = 1 + Math.max(0, ...depth);
  const lane: number[] = [];
  const byColumn = Array.from({ length: columns }, (_, column) => depth.flatMap((d, k) => (d === column ? [k] : [])));
  const lanes = Math.max(1, ...byColumn.map((nodes) => nodes.length));
  for (const nodes of byColumn) {
    const preferred = (k: number): number => {
      const reads = plan.nodes[k]!.reads.map((read) => lane[read] ?? 0);
      return reads.length ? reads.reduce((a, b) => a + b) / reads.length : k / plan.nodes.length;
    };
    const sorted = [...nodes].sort((a, b) => preferred(a) - preferred(b) || a - b);
    sorted.forEach((k, row) => (lane[k] = row + (lanes - nodes.length) / 2));
  }
  // A column's only node is placed in the lane of the node that it reads.
  for (const nodes of byColumn) {
    const [only] = nodes;
    const reads = only === undefined ? [] : plan.nodes[only]!.reads;
    if (nodes.length === 1 && reads.length === 1) lane[only!] = lane[reads[0]!]!;
  }
  return { at: plan.nodes.map((_, k) => ({ x: depth[k]!, y: lane[k]! })), columns, lanes };
}

/** Formats a shape: `[2048, 64]` as `2,048 × 64`. */
const shape = ([rows, columns]: readonly [number, number]): string => `${count(rows)} × ${count(columns)}`;

/** Draws the plan for an available width of `room` px. */
function draw(plan: PlanView, room: number): SVGElement {
  const { at, columns, lanes } = place(plan);
  const across = Math.min(APART.most, (room - 2 - columns * BOX.width) / (columns - 1));
  const down = across < APART.least;
  const stepX = BOX.width + (down ? APART.least : across);
  const stepY = BOX.height + APART.lanes;
  const corner = (k: number): Placed => {
    const { x, y } = at[k]!;
    return down ? { x: y * stepX, y: x * stepY } : { x: x * stepX, y: y * stepY };
  };
  const [wide, high] = down ? [lanes, columns] : [columns, lanes];
  const width = (wide - 1) * stepX + BOX.width;
  const height = (high - 1) * stepY + BOX.height;
  const drawing = svg("svg", {
    class: "drawing",
    viewBox: `-1 -1 ${width + 2} ${height + 2}`,
    role: "img",
    "aria-label": `The network: ${plan.nodes.map((node) => `${node.name}, ${node.op}`).join("; ")}`,
  });
  drawing.style.maxWidth = `${width + 2}px`;
  plan.nodes.forEach((node, k) => {
    const to = corner(k);
    for (const read of node.reads) {
      const from = corner(read);
      const line = down
        ? [from.x + BOX.width / 2, from.y + BOX.height, to.x + BOX.width / 2, to.y]
        : [from.x + BOX.width, from.y + BOX.height / 2, to.x, to.y + BOX.height / 2];
      const [x0, y0, x1, y1] = line as [number, number, number, number];
      const bend = down ? `${x0} ${(y0 + y1) / 2} ${x1} ${(y0 + y1) / 2}` : `${(x0 + x1) / 2} ${y0} ${(x0 + x1) / 2} ${y1}`;
      drawing.append(svg("path", { class: "edge", d: `M${x0} ${y0}C${bend} ${x1} ${y1}` }));
    }
  });
  plan.nodes.forEach((node, k) => {
    const { x, y } = corner(k);
    const group = svg("g", { class: node.parameters > 0 ? "kernel" : "kernel bare", transform: `translate(${x} ${y})` });
    group.append(
      svg("rect", { width: BOX.width, height: BOX.height, rx: 8 }),
      svg("text", { x: 12, y: 20, class: "name" }, node.name),
      svg("text", { x: 12, y: 37 }, node.op),
      svg("text", { x: 12, y: 54, class: "shape" }, shape(node.shape)),
      svg("text", { x: BOX.width - 12, y: 54, class: "shape", "text-anchor": "end" }, node.parameters ? `${count(node.parameters)} w` : ""),
    );
    drawing.append(group);
  });
  return drawing;
}

export class Network {
  readonly element: HTMLElement;
  private readonly drawing = h("div.network-drawing");
  private readonly sentence = h("p");
  private readonly table: Table;
  private readonly life = pageLife();
  private plan: PlanView | undefined;

  constructor(private readonly client: ControlClient) {
    this.table = new Table(
      "The network",
      ["Kernel", "Operation", "Output", "Weights", "Inputs"],
      () =>
        (this.plan?.nodes ?? []).map((node) => [
          node.name,
          node.op,
          shape(node.shape),
          node.parameters ? count(node.parameters) : "",
          node.reads.map((read) => this.plan!.nodes[read]?.name ?? "").join(", "),
        ]),
      ["Operation", "Inputs"],
    );
    this.table.caption.textContent = "The forward plan, kernel by kernel";
    const head = h("div.head", this.sentence, this.table.button);
    this.element = h("div.card", [
      head,
      this.drawing,
      h("div.wrap.legend-signs", h("span.small.sign.kernel", "kernel with w weights"), h("span.small.sign.bare", "input or output")),
      this.table.element,
    ]);
    const observer = new ResizeObserver(() => this.redraw());
    // `head` is observed instead of the drawing. Both have the same width, but a new drawing does not change the size of `head`.
    observer.observe(head);
    untilClosed(() => observer.disconnect());
    this.begin();
  }

  /** Shows the plan of the current run. */
  begin(): void {
    void this.client.ask({ ask: "plan" }).then(
      (plan) => this.life.aborted || this.show(plan),
      () => {},
    );
  }

  private redraw(): void {
    const { clientWidth } = this.drawing;
    if (this.plan && clientWidth > 0) this.drawing.replaceChildren(draw(this.plan, clientWidth));
  }

  private show(plan: PlanView): void {
    this.plan = plan;
    this.redraw();
    this.sentence.textContent =
      `${count(plan.parameters)} weights. Memory of a training step: ${bytes(plan.arena_bytes)} ` +
      `(${bytes(plan.unshared_bytes)} without sharing).`;
    this.table.refresh();
  }
}
