// The circuit of a member: its diagram with live values on the wires, its counts, and downloads. The diagram is redrawn as the member
// learns.

import type { Announcer } from "../../parts/announce";
import { button, h, id, ticked, write } from "../../parts/dom";
import { download } from "../../parts/files";
import { count } from "../../parts/format";
import { animate } from "../../parts/loop";
import { Asker, reason, Turns } from "../shared/asking";
import type { Chosen, LogicClient } from "./client";
import { Cells } from "./cells";
import { Diagram } from "./diagram";
import type { CircuitView, Format, ValuesView } from "./protocol";

const VALUES_EVERY_MS = 150;
/** Least time between two redraws of the same member's circuit. */
const REDRAW_MS = 6000;
const ASK_EVERY_MS = 1000;
const FORMATS: { format: Format; words: string }[] = [
  { format: "svg", words: "SVG" },
  { format: "json", words: "JSON" },
  { format: "verilog", words: "Verilog" },
  { format: "rust", words: "Rust" },
];

/** The pane with the grid. `tick` advances the grid; the circuit's pane calls it while the circuit is on the screen. */
interface Automaton {
  setMember(member: number): void;
  tick(nowMs: number): void;
  paint(cells: Cells): void;
  nameOf(x: number, y: number): string;
}

export class CircuitPane {
  readonly element: HTMLElement;
  private readonly diagram = new Diagram();
  private readonly status = h("p.small", { role: "status" });
  private readonly error = h("p.error", { role: "alert" });
  private readonly counts = h("dl.circuit-counts.wrap");
  private readonly follow = h("input", { type: "checkbox", role: "switch", checked: true, id: id("follow-circuit") });
  private readonly grid: Cells;
  private readonly gridFigure: HTMLElement;
  private readonly gridCaption = h("figcaption.small");
  /** The circuit that is drawn, and its member. */
  private drawn: { circuit: CircuitView; member: number } | undefined;
  private drawnMs = -Infinity;
  /** True if the grid runs a newer circuit than the drawn one. */
  private outdated = false;
  private drawing = false;
  private readonly values = new Asker(() => VALUES_EVERY_MS);
  private readonly runs = new Turns();

  constructor(
    private readonly client: LogicClient,
    private readonly chosen: Chosen,
    private readonly announcer: Announcer,
    private readonly automaton: Automaton,
  ) {
    this.grid = new Cells(
      "The grid: arrow keys select the cell whose values the wires show",
      { touched: () => this.live(true), moved: () => (this.live(true), this.writeCaption()) },
      () => this.automaton.paint(this.grid),
    );
    this.grid.marked = true;
    this.gridFigure = h("figure.circuit-grid", { hidden: true }, this.grid.element, this.gridCaption);
    const { view, named, tools } = this.diagram;
    this.element = h("div.circuit", [
      h("p.small", [
        "A hardened gate is its most probable operation. Gates that only pass an input on, or that nothing depends on, are pruned. " +
          "Point at a gate to see its cone: all gates and inputs that it depends on. Thick wires are on, at the cell that is marked " +
          "in the small grid.",
      ]),
      h("div.row", [button("Redraw", () => this.draw(true), { class: "strong" }), ticked(this.follow, "Auto-update"), this.status]),
      this.error,
      h("div.circuit-head.wrap.foot", this.gridFigure, this.counts, tools),
      view,
      named,
      h("p.row", [
        h("span.small", "Download:"),
        ...FORMATS.map(({ format, words }) =>
          button(words, () => this.export(format), { "aria-label": `Download the circuit as ${words}` }),
        ),
      ]),
    ]);
    animate(this.element, (nowMs) => this.watch(nowMs));
  }

  begin(): void {
    this.runs.take();
    this.values.turns.take();
    this.drawn = undefined;
    this.drawnMs = -Infinity;
    this.outdated = false;
    this.follow.checked = true;
    this.gridFigure.hidden = true;
    this.diagram.clear();
    this.counts.replaceChildren();
    write(this.status, "");
    write(this.error, "");
  }

  refreshGrid(): void {
    if (this.gridFigure.hidden) return;
    this.automaton.paint(this.grid);
    this.writeCaption();
  }

  /**
   * Called while the pane is on the screen. Redraws the circuit when it is due, unless the visitor inspects its wires. Otherwise requests
   * values for the wires.
   */
  private watch(nowMs: number): void {
    this.automaton.tick(nowMs);
    const sinceMs = nowMs - this.drawnMs;
    const due = this.drawn?.member !== this.chosen.member || (this.outdated && sinceMs > REDRAW_MS);
    if (due && !this.diagram.followed && (this.follow.checked || !this.drawn) && sinceMs > ASK_EVERY_MS) {
      this.drawnMs = nowMs;
      void this.draw();
    } else this.live();
  }

  private writeCaption(): void {
    const { x, y } = this.grid.cursor;
    write(this.gridCaption, `column ${x + 1}, row ${y + 1}: ${this.automaton.nameOf(x, y)}`);
  }

  private async draw(asked = false): Promise<void> {
    if (this.drawing) return;
    this.drawing = true;
    const stale = this.runs.stale();
    const { member } = this.chosen;
    try {
      const circuit = await this.client.ask({ ask: "circuit", member });
      if (stale()) return;
      write(this.error, "");
      this.automaton.setMember(member);
      this.drawn = { circuit, member };
      this.outdated = false;
      this.drawnMs = performance.now();
      this.show(circuit, asked);
      const words = madeOf(circuit, member);
      write(this.status, words);
      if (asked) this.announcer.say(`The circuit has ${count(circuit.gates.length)} gates. ${words}`, "circuit");
    } catch (error) {
      if (!stale() && (asked || this.drawn)) write(this.error, reason(error));
    } finally {
      this.drawing = false;
    }
  }

  private show(circuit: CircuitView, asked: boolean): void {
    this.counts.replaceChildren(
      ...countsOf(circuit).map(([term, value, about]) =>
        h("div", { title: about }, h("dt", term), h("dd", count(value)), h("dd.small", about)),
      ),
    );
    this.gridFigure.hidden = false;
    this.refreshGrid();
    this.diagram.draw(circuit, asked);
    this.live(true);
  }

  private async export(format: Format): Promise<void> {
    const stale = this.runs.stale();
    try {
      const { name, text } = await this.client.ask({ ask: "export", member: this.chosen.member, format });
      write(this.error, "");
      download(name, text);
      this.announcer.say(`Downloaded ${name}.`, "export");
    } catch (error) {
      if (!stale()) write(this.error, reason(error));
    }
  }

  private live(now = false): void {
    const circuit = this.drawn?.circuit;
    if (!circuit) return;
    this.values.ask(
      () => this.client.ask({ ask: "values", ...this.grid.cursor }).catch(() => undefined),
      (values) => circuit === this.drawn?.circuit && this.setValues(circuit, values),
      now,
    );
  }

  /** Shows values on the wires if the grid runs the drawn circuit. If it runs another circuit, the wires have no values. */
  private setValues(circuit: CircuitView, values: ValuesView | undefined): void {
    const same = values?.updates === circuit.updates;
    if (values) this.outdated = !same;
    const fits = values && same && values.inputs.length === circuit.inputs.length && values.gates.length === circuit.gates.length;
    this.diagram.setValues(fits ? Uint8Array.from([...values.inputs, ...values.gates]) : new Uint8Array());
  }
}

function madeOf({ updates, perfect, equal, verified }: CircuitView, member: number): string {
  const verdict = equal
    ? `Verified equal to its automaton on ${count(verified)} neighbourhoods.`
    : `Differs from its automaton, compared on ${count(verified)} neighbourhoods.`;
  return `Member ${member + 1} after ${count(updates)} updates${perfect ? ", perfect" : ""}. ${verdict}`;
}

const countsOf = ({ inputs, gates, evaluated, pass_through, dead, depth }: CircuitView): [string, number, string][] => [
  ["Active gates", gates.length, "after pruning"],
  ["Depth", depth, "gates on the longest path"],
  ["Evaluated", evaluated, "gates per cell, before pruning"],
  ["Pass-through", pass_through, "pass an input on unchanged"],
  ["Dead", dead, "nothing depends on them"],
  ["Inputs", inputs.length, "used bits of the nine cells"],
];
