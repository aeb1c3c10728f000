// Comparison of search methods on the displayed state.

import type { Announcer } from "../../parts/announce";
import { button, either, h, id, write } from "../../parts/dom";
import { count } from "../../parts/format";
import { reason, Turns } from "../../parts/requests";
import { bodyRow, headRow, scrolling } from "../shared/tables";
import { puzzleOf, type CubeClient } from "./client";
import { smallNet } from "./net";
import { lengthWords, written, type Metric } from "./notation";
import type { Puzzle, SolveMethod } from "./protocol";
import { msText, nameOf, whyNot, widened, type Found, type Solver } from "./solver";

type Entry = { method: SolveMethod; found?: Found; failed?: string };

/** Returns the methods to compare: each kind of search that the puzzle allows, with two widths for beam search. */
function methodsOf({ exact, method }: Puzzle): SolveMethod[] {
  const wide = Math.max(16, method.width);
  return [
    { ...method, search: "greedy" },
    { ...method, search: "beam", width: Math.max(4, Math.round(wide / 16)) },
    { ...method, search: "beam", width: wide },
    { ...method, search: "a_star", width: Math.max(16, Math.min(256, wide)) },
    ...(exact ? [{ ...method, search: "exact" } as SolveMethod] : []),
  ];
}

/** Returns the row of a method that found no solution. The cells of the numbers are replaced by the reason `why`. */
function whyRow(name: { class: string; words: string }, why: string): HTMLElement {
  const row = bodyRow(false, name, "no");
  row.append(h("td.text", { colspan: 6 }, h("span.small", why)));
  return row;
}

export class MethodsPane {
  readonly element: HTMLElement;
  private readonly startButton = button("Compare on this state", () => this.compare(), { class: "strong" });
  private readonly endButton = button("Stop", () => this.end("Stopped."), { hidden: true });
  private readonly status = h("p.small");
  private readonly body = h("tbody");
  private readonly net = h("span");
  private metric: Metric = "quarter";
  private readonly table: HTMLElement;
  private readonly comparisons = new Turns();

  constructor(
    private readonly client: CubeClient,
    private readonly solver: Solver,
    private readonly announcer: Announcer,
    private readonly state: () => string,
    private readonly watch: (found: Found, method: SolveMethod) => void,
  ) {
    const caption = id("methods");
    const head = headRow({ class: "text", words: "Method" }, "Solved", "Turns", "Quarter turns", "Shortest", "States", "Time");
    head.firstElementChild!.append(h("td"));
    this.table = scrolling(
      { "aria-labelledby": caption },
      h("table.methods", [h("caption", { id: caption }, "Results of each method on the same state."), head, this.body]),
    );
    this.table.hidden = true;
    this.element = h("div.methods-pane", [
      h("p.small", [
        "Solves the displayed cube by greedy play, two beam searches, A* and, where all distances are known, the exact table. Training " +
          "continues at the same time, so searches are slower than alone.",
      ]),
      h("p.row", this.net, this.startButton, this.endButton, this.status),
      this.table,
    ]);
  }

  begin(metric: Metric): void {
    this.metric = metric;
    this.end("");
    this.table.hidden = true;
  }

  /** Shows the state that a comparison would solve. After a comparison, the pane keeps the compared state. */
  refresh(facelets: string): void {
    if (this.table.hidden && this.element.checkVisibility()) this.showState(facelets);
  }

  private showState(facelets: string): void {
    if (facelets === this.net.dataset.facelets) return;
    this.net.dataset.facelets = facelets;
    this.net.replaceChildren(smallNet(facelets, "the state"));
  }

  private end(words: string): void {
    this.comparisons.take();
    if (!this.startButton.hidden) return write(this.status, words);
    this.solver.stop();
    this.running(false);
    write(this.status, words);
  }

  private running(running: boolean): void {
    either(running, this.endButton, this.startButton);
  }

  private async compare(): Promise<void> {
    const stale = this.comparisons.take();
    const facelets = this.state();
    const entries: Entry[] = methodsOf(puzzleOf(this.client)).map((method) => ({ method }));
    this.showState(facelets);
    this.running(true);
    this.table.hidden = false;
    this.draw(entries);
    for (const entry of entries) {
      try {
        write(this.status, `${nameOf(entry.method)}: searching.`);
        const found = await this.solver.solve(facelets, entry.method, ({ nodes }) =>
          write(this.status, `${nameOf(entry.method)}: ${count(nodes)} states.`),
        );
        if (stale()) return;
        if (!found) return this.end("Replaced by another search.");
        entry.found = found;
      } catch (error) {
        if (stale()) return;
        entry.failed = reason(error);
      }
      this.draw(entries);
    }
    this.running(false);
    const solved = entries.filter(({ found }) => found?.solution);
    const words = `${solved.length} of ${entries.length} methods solved it.`;
    write(this.status, words);
    this.announcer.say(words, "methods");
  }

  private draw(entries: Entry[]): void {
    const lengths = entries.flatMap(({ found }) => found?.solution?.moves.length ?? []);
    const least = Math.min(...lengths);
    this.body.replaceChildren(
      ...entries.map(({ method, found, failed }) => {
        const solution = found?.solution;
        const why = found?.failure ? reason(whyNot(found)) : (failed ?? "");
        const made = solution?.moves.length;
        const name = { class: "text", words: nameOf(method) + (found ? widened(found, method) : "") };
        if (why) return whyRow(name, why);
        const length = (metric: Metric): string => (solution ? String(written(solution.moves, metric).length) : "");
        const watch = { class: "small", "aria-label": `Watch the solution of ${nameOf(method)}` };
        return bodyRow(
          made !== undefined && made === least && "best",
          name,
          solution ? "yes" : "…",
          length("half"),
          { class: "number", words: length("quarter") },
          solution?.optimal == null ? "" : lengthWords(solution.optimal, this.metric),
          found && method.search !== "exact" ? count(found.nodes) : "",
          found ? msText(found.ms) : "",
          made ? button("Watch", () => this.watch(found!, method), watch) : "",
        );
      }),
    );
  }
}
