// The same state solved in several ways, side by side.

import type { Announcer } from "../../parts/announce";
import { h, id, write } from "../../parts/dom";
import { count, seconds } from "../../parts/format";
import { puzzleOf, reason, type CubeClient } from "./client";
import type { Puzzle, SolveMethod } from "./protocol";
import { nameOf, widened, type Found, type Solver } from "./solver";

type Entry = { method: SolveMethod; found?: Found; failed?: string };

/** What is compared: each search, and its width where it has one. */
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

export class MethodsPane {
  readonly element: HTMLElement;
  private readonly startButton = h(
    "button",
    { type: "button", class: "strong", onclick: () => void this.compare() },
    "Compare on this state",
  );
  private readonly endButton = h("button", { type: "button", hidden: true, onclick: () => this.end("Stopped.") }, "Stop");
  private readonly status = h("p", { class: "small" });
  private readonly error = h("p", { class: "error", role: "alert" });
  private readonly body = h("tbody");
  private readonly table: HTMLElement;
  private comparing = 0;
  private closed = false;

  constructor(
    private readonly client: CubeClient,
    private readonly solver: Solver,
    private readonly announcer: Announcer,
    private readonly state: () => string,
    private readonly watch: (found: Found, method: SolveMethod) => void,
  ) {
    const caption = id("methods");
    this.table = h(
      "div",
      { class: "scroll", hidden: true, tabindex: 0, role: "region", "aria-labelledby": caption },
      h(
        "table",
        { class: "methods" },
        h("caption", { id: caption }, "One state, each method on its own, with the network as it is at that moment."),
        h(
          "thead",
          {},
          h(
            "tr",
            {},
            ...["Method", "Solved", "Moves", "Optimal", "States", "Time"].map((title, k) =>
              h("th", { scope: "col", class: k === 0 && "text" }, title),
            ),
            h("td", {}),
          ),
        ),
        this.body,
      ),
    );
    this.element = h(
      "div",
      { class: "methods-pane" },
      h(
        "p",
        { class: "small" },
        "Greedy play, two beams, A* and, where all distances are known, the exact table look for a way out of the state that the cube " +
          "shows. Training goes on meanwhile, so times are of this busy machine.",
      ),
      h("p", { class: "row" }, this.startButton, this.endButton, this.status),
      this.error,
      this.table,
    );
  }

  begin(): void {
    this.end("");
    this.table.hidden = true;
  }

  close(): void {
    this.closed = true;
    this.comparing++;
  }

  private end(words: string): void {
    this.comparing++;
    if (!this.startButton.hidden) return write(this.status, words);
    this.solver.stop();
    this.running(false);
    write(this.status, words);
  }

  private running(running: boolean): void {
    const focused = document.activeElement;
    this.startButton.hidden = running;
    this.endButton.hidden = !running;
    if (focused === this.startButton) this.endButton.focus();
    else if (focused === this.endButton) this.startButton.focus();
  }

  private async compare(): Promise<void> {
    const own = ++this.comparing;
    const facelets = this.state();
    const entries: Entry[] = methodsOf(puzzleOf(this.client)).map((method) => ({ method }));
    write(this.error, "");
    this.running(true);
    this.table.hidden = false;
    this.draw(entries);
    for (const entry of entries) {
      try {
        write(this.status, `${nameOf(entry.method)} searches.`);
        const found = await this.solver.solve(facelets, entry.method, ({ nodes }) =>
          write(this.status, `${nameOf(entry.method)} searches: ${count(nodes)} states.`),
        );
        if (this.closed || own !== this.comparing) return;
        if (!found) return this.end("Another search took its place.");
        entry.found = found;
      } catch (error) {
        if (this.closed || own !== this.comparing) return;
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
        const why = found?.failure ? reason(found.failure) : (failed ?? "");
        const wider = found ? widened(found, method) : "";
        const made = solution?.moves.length;
        return h(
          "tr",
          { class: made !== undefined && made === least && "best" },
          h("th", { scope: "row", class: "text" }, nameOf(method) + wider, why && h("span", { class: "small why-not" }, why)),
          h("td", {}, found || failed ? (solution ? "yes" : "no") : "…"),
          h("td", { class: "number" }, made === undefined ? "" : String(made)),
          h("td", {}, solution?.optimal == null ? "" : String(solution.optimal)),
          h("td", {}, found && method.search !== "exact" ? count(found.nodes) : ""),
          h("td", {}, found ? (found.ms < 1000 ? `${Math.round(found.ms)} ms` : seconds(found.ms / 1000)) : ""),
          h(
            "td",
            {},
            solution && made
              ? h(
                  "button",
                  {
                    type: "button",
                    class: "small",
                    "aria-label": `Watch the solution of ${nameOf(method)}`,
                    onclick: () => this.watch(found!, method),
                  },
                  "Watch",
                )
              : "",
          ),
        );
      }),
    );
  }
}
