// The circuit of the selected member, shown on the stage and in a tab. The tab also has counts, a zoom and downloads.

import type { Announcer } from "../../parts/announce";
import { button, h, id, select, ticked, write } from "../../parts/dom";
import { download } from "../../parts/files";
import { count } from "../../parts/format";
import { animate } from "../../parts/loop";
import { reveal } from "../../parts/tabs";
import { reason, Turns } from "../../parts/requests";
import type { Chosen } from "./client";
import { Diagram } from "./diagram";
import { LiveCircuit, type Automaton } from "./live";
import type { CircuitView, Format } from "./protocol";
import { gatesText } from "./text";

const FORMATS: [Format, words: string][] = [
  ["verilog", "Verilog"],
  ["rust", "Rust"],
  ["json", "JSON"],
  ["svg", "SVG"],
];

/** Ratio of width to height of the picture on the stage. The picture's area has about this ratio on all screens. */
const RATIO = 1.1;

/** The whole circuit as a picture on the stage. */
export class CircuitStage {
  readonly element: HTMLElement;
  readonly live: LiveCircuit;
  private readonly diagram = new Diagram(RATIO);
  private readonly picture: HTMLElement;
  private readonly gates = h("output.stage-value");
  private readonly about = h("span.small");

  constructor(chosen: Chosen, automaton: Automaton, tools: HTMLElement, enlarge: () => void) {
    this.live = new LiveCircuit(this.diagram, chosen, automaton, { drawn: (circuit) => this.write(circuit) });
    const { view, named } = this.diagram;
    this.picture = h("div.stage-picture", { onclick: () => this.small && enlarge() }, view, named);
    this.element = h("section.stage-part.circuit-stage", { "aria-label": "The circuit" }, [
      this.picture,
      h("div.stage-facts", h("p", this.gates, this.about), this.live.grid),
      h(
        "div.stage-actions",
        button("Counts and downloads", () => reveal(tools)),
      ),
    ]);
    animate(this.picture, (nowMs) => this.live.watch(nowMs));
  }

  begin(): void {
    this.live.begin();
    write(this.gates, "–");
    write(this.about, "");
  }

  /** True if the picture is small and beside the grid. A small picture responds only to the pointer; for keys, the stage has a switch. */
  get small(): boolean {
    return this.picture.ariaHidden === "true";
  }

  set small(small: boolean) {
    this.picture.ariaHidden = String(small);
    this.picture.title = small ? "The circuit" : "";
    this.diagram.view.tabIndex = small ? -1 : 0;
  }

  private write({ gates, depth, perfect }: CircuitView): void {
    write(this.gates, gatesText(gates.length));
    const all = gates.length > 0 ? `${depth} deep` : "Each cell copies itself";
    write(this.about, `${all}${perfect ? ", no wrong cells" : ", still learning"}`);
  }
}

export class CircuitPane {
  readonly element: HTMLElement;
  readonly live: LiveCircuit;
  private readonly status = h("p.small", { role: "status" });
  private readonly error = h("p.error", { role: "alert" });
  private readonly counts = h("dl.circuit-counts.wrap");
  private readonly follow = h("input", { type: "checkbox", role: "switch", checked: true, id: id("follow-circuit") });
  private readonly format = select("circuit-format", FORMATS);
  private readonly runs = new Turns();

  constructor(
    private readonly chosen: Chosen,
    private readonly announcer: Announcer,
    automaton: Automaton,
  ) {
    const diagram = new Diagram();
    this.live = new LiveCircuit(diagram, chosen, automaton, {
      drawn: (...drawn) => this.show(...drawn),
      failed: (error) => write(this.error, reason(error)),
      follows: () => this.follow.checked,
    });
    const { view, named, tools } = diagram;
    this.element = h("div.circuit", [
      h("div.row", [button("Redraw", () => this.live.draw(true), { class: "strong" }), ticked(this.follow, "Auto-update"), tools]),
      h("div.row", [
        h("label", { for: this.format.id }, "Format"),
        this.format,
        button("Download", () => this.export(this.format.value as Format), { "aria-label": "Download the circuit" }),
      ]),
      this.status,
      this.error,
      view,
      named,
      h("div.circuit-head.wrap", this.live.grid, this.counts),
      h("p.small", [
        "A hardened gate is its most probable operation. The circuit leaves out gates that only pass an input on, gates that nothing " +
          "depends on, duplicates, and gates that another wire can replace. " +
          "Point at a gate to see its cone: all gates and inputs that it depends on. Thick wires are on, at the cell that is marked " +
          "in the small grid.",
      ]),
    ]);
    animate(this.element, (nowMs) => this.live.watch(nowMs));
  }

  begin(): void {
    this.runs.take();
    this.live.begin();
    this.follow.checked = true;
    this.counts.replaceChildren();
    write(this.status, "");
    write(this.error, "");
  }

  private show(circuit: CircuitView, member: number, asked: boolean): void {
    this.counts.replaceChildren(
      ...countsOf(circuit).map(([term, value, about]) =>
        h("div", { title: about }, h("dt", term), h("dd", count(value)), h("dd.small", about)),
      ),
    );
    const words = madeOf(circuit, member);
    write(this.error, "");
    write(this.status, words);
    if (asked) this.announcer.say(`The circuit has ${gatesText(circuit.gates.length)}. ${words}`, "circuit");
  }

  private async export(format: Format): Promise<void> {
    const stale = this.runs.stale();
    try {
      const { name, text } = await this.chosen.ask({ ask: "export", member: this.chosen.member, format });
      write(this.error, "");
      download(name, text);
      this.announcer.say(`Downloaded ${name}.`, "export");
    } catch (error) {
      if (!stale()) write(this.error, reason(error));
    }
  }
}

function madeOf({ updates, perfect, equal, verified }: CircuitView, member: number): string {
  const verdict = equal
    ? `Verified equal to its automaton on ${count(verified)} neighbourhoods.`
    : `Differs from its automaton, compared on ${count(verified)} neighbourhoods.`;
  return `Member ${member + 1} after ${count(updates)} updates of its own${perfect ? ", perfect" : ""}. ${verdict}`;
}

const countsOf = ({ inputs, gates, evaluated, pass_through, dead, depth }: CircuitView): [string, number, string][] => [
  ["Active gates", gates.length, "after the reduction"],
  ["Depth", depth, "gates on the longest path"],
  ["Evaluated", evaluated, "gates per cell, before the reduction"],
  ["Pass-through", pass_through, "pass an input on unchanged"],
  ["Dead", dead, "nothing depends on them"],
  ["Inputs", inputs.length, "used bits of the nine cells"],
];
