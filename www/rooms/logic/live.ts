// The circuit of the selected member as a diagram. The diagram is redrawn as the member learns. Its wires show the values of one cell of
// the running grid, and a small copy of the grid marks this cell.

import { h, write } from "../../parts/dom";
import { Asker, Turns } from "../../parts/requests";
import { Cells } from "./cells";
import type { Chosen } from "./client";
import type { Diagram } from "./diagram";
import type { CircuitView, ValuesView } from "./protocol";

const VALUES_EVERY_MS = 150;
/** Minimum time between two redraws of the same member's circuit. */
const REDRAW_MS = 6000;
const ASK_EVERY_MS = 1000;

/**
 * Interface to the pane with the grid. `tick` advances the grid. The diagram calls `tick` while it is on the screen, because an off-screen
 * grid does not advance itself.
 */
export interface Automaton {
  readonly playing: boolean;
  renewFor(name: string): void;
  tick(nowMs: number): void;
  paint(cells: Cells): void;
  nameOf(x: number, y: number): string;
}

export class LiveCircuit {
  readonly grid: HTMLElement;
  private readonly cells: Cells;
  private readonly caption = h("figcaption.small");
  /** The drawn circuit, and the name of the automaton that contains it. */
  private drawn: { circuit: CircuitView; of: string } | undefined;
  private drawnMs = -Infinity;
  /** True if the grid runs another version of the circuit than the drawn one. */
  private outdated = false;
  private drawing = false;
  private readonly values = new Asker(() => VALUES_EVERY_MS);
  private readonly runs = new Turns();

  constructor(
    readonly diagram: Diagram,
    private readonly chosen: Chosen,
    private readonly automaton: Automaton,
    private readonly callbacks: {
      /** Called when a circuit has been drawn; `asked` is true if the visitor requested it. */
      drawn(circuit: CircuitView, member: number, asked: boolean): void;
      failed?(error: unknown, asked: boolean): void;
      /** Returns true if the diagram is redrawn as the member learns. */
      follows?(): boolean;
    },
  ) {
    this.cells = new Cells(
      "The grid: arrow keys select the cell whose values the wires show",
      { touched: () => this.live(true), moved: () => (this.live(true), this.writeCaption()) },
      () => automaton.paint(this.cells),
    );
    this.cells.marked = true;
    this.grid = h("figure.circuit-grid", { hidden: true }, this.cells.element, this.caption);
  }

  begin(): void {
    this.runs.take();
    this.values.turns.take();
    this.drawn = undefined;
    this.drawnMs = -Infinity;
    this.outdated = false;
    this.grid.hidden = true;
    this.diagram.clear();
  }

  refreshGrid(): void {
    if (this.grid.hidden) return;
    this.automaton.paint(this.cells);
    this.writeCaption();
  }

  /**
   * Called while the diagram is on the screen. Redraws the circuit when it is due, unless the visitor inspects the diagram or has paused
   * the grid. If nothing is redrawn, requests values for the wires.
   */
  watch(nowMs: number): void {
    this.automaton.tick(nowMs);
    const sinceMs = nowMs - this.drawnMs;
    const due = this.drawn?.of !== this.chosen.name || (this.outdated && sinceMs > REDRAW_MS);
    const follows = this.automaton.playing && (this.callbacks.follows?.() ?? true);
    if (due && !this.diagram.followed && (follows || !this.drawn) && sinceMs > ASK_EVERY_MS) {
      this.drawnMs = nowMs;
      void this.draw();
    } else this.live();
  }

  async draw(asked = false): Promise<void> {
    if (this.drawing) return;
    this.drawing = true;
    const stale = this.runs.stale();
    const { member, name } = this.chosen;
    try {
      const circuit = await this.chosen.ask({ ask: "circuit", member });
      if (stale()) return;
      this.automaton.renewFor(name);
      this.drawn = { circuit, of: name };
      this.outdated = false;
      this.drawnMs = performance.now();
      this.grid.hidden = false;
      this.refreshGrid();
      this.diagram.draw(circuit, asked);
      this.live(true);
      this.callbacks.drawn(circuit, member, asked);
    } catch (error) {
      if (!stale() && (asked || this.drawn)) this.callbacks.failed?.(error, asked);
    } finally {
      this.drawing = false;
    }
  }

  private writeCaption(): void {
    const { x, y } = this.cells.cursor;
    write(this.caption, `Column ${x + 1}, row ${y + 1}: ${this.automaton.nameOf(x, y)}`);
  }

  private live(now = false): void {
    const circuit = this.drawn?.circuit;
    if (!circuit) return;
    if (now) this.values.hurry();
    this.values.ask(
      () => this.chosen.ask({ ask: "values", ...this.cells.cursor }).catch(() => undefined),
      (values) => circuit === this.drawn?.circuit && this.setValues(circuit, values),
    );
  }

  /** Shows values on the wires if the grid runs the drawn circuit. If the grid runs another circuit, removes the values. */
  private setValues(circuit: CircuitView, values: ValuesView | undefined): void {
    const same = values?.updates === circuit.updates;
    if (values) this.outdated = !same;
    const fits = values && same && values.inputs.length === circuit.inputs.length && values.gates.length === circuit.gates.length;
    this.diagram.setValues(fits ? Uint8Array.from([...values.inputs, ...values.gates]) : new Uint8Array());
  }
}
