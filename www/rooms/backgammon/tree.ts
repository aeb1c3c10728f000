// Decision tree of two levels: from a roll to its candidate moves, and from each candidate move to the opponent's 21 rolls. Each of these
// rolls is a dot, placed at the mover's equity after the opponent's best reply. Good moves have dots further to the right. Widely spread
// dots mean that luck matters more.

import type { Branch, Candidate, PlayerKind } from "./protocol";
import { h, svg, write } from "../../parts/dom";
import type { Backgammon } from "./client";
import { signed } from "./candidates";
import { branchesOnBoard } from "./notation";
import { fit } from "./fit";

const MOST = 5;
const ROW = 46;
const ROOT_X = 22;
const FROM_X = 78;

/**
 * Requests the replies to the drawn moves of `seat`, one move at a time. After each answer, calls `took` with the id of the move. Stops if
 * `stale` returns true or a request fails.
 */
export async function unfold(
  client: Pick<Backgammon, "ask">,
  tree: Tree,
  who: PlayerKind,
  seat: number,
  stale: () => boolean,
  took = (_: string): void => {},
): Promise<void> {
  for (const { id } of tree.candidates) {
    const branches = await client.ask({ ask: "unfold", unfold: { id, who, evals: 0 } }).catch(() => undefined);
    if (!branches || stale()) return;
    tree.unfold(id, branchesOnBoard(seat, branches));
    took(id);
  }
}

export class Tree {
  readonly element: HTMLElement;
  private readonly drawing = svg("svg", { class: "drawing", role: "img", "aria-label": "Replies; nothing yet" });
  private readonly message = h("p.small.tree-text");
  private readonly about = h("p.about");
  private width = 0;
  private root = "";
  candidates: Candidate[] = [];
  private chosen: string | undefined;
  /** Replies of the opponent by id of the move. Contains only the moves whose replies have arrived. */
  readonly branches = new Map<string, Branch[]>();

  constructor(private readonly pick?: (candidate: Candidate) => void) {
    this.element = h("div.tree", { hidden: true }, this.drawing, this.message, this.about);
    fit(this.element, (width) => {
      this.width = width;
      this.draw();
    });
  }

  begin(root: string, candidates: Candidate[], chosen?: string): void {
    this.root = root;
    this.candidates = candidates.slice(0, MOST);
    this.chosen = chosen;
    this.branches.clear();
    write(this.message, "");
    const mean = candidates.some(({ depth }) => depth.kind === "static")
      ? "equity. Without search it is the network's estimate, which may differ from the mean of the dots."
      : "equity, the mean of the searched dots.";
    write(
      this.about,
      `The tree: each dot is an opponent roll after the best reply; further right is better for the mover. The line is the move's ${mean}`,
    );
    this.draw();
  }

  unfold(id: string, branches: Branch[]): void {
    if (!this.candidates.some((candidate) => candidate.id === id)) return;
    this.branches.set(id, branches);
    this.draw();
  }

  choose(id: string): void {
    this.chosen = id;
    this.draw();
  }

  private draw(): void {
    const { candidates, drawing, width } = this;
    drawing.replaceChildren();
    this.element.hidden = candidates.length === 0;
    if (candidates.length === 0 || width === 0) return;
    const height = ROW * candidates.length + 22;
    drawing.setAttribute("viewBox", `0 0 ${width} ${height}`);
    const all = [...candidates.map(({ equity }) => equity), ...[...this.branches.values()].flat().map(({ equity }) => equity)];
    let [low, high] = [Math.min(...all), Math.max(...all)];
    if (high - low < 0.2) [low, high] = [(low + high) / 2 - 0.1, (low + high) / 2 + 0.1];
    const x = (equity: number): number => FROM_X + 8 + ((width - FROM_X - 20) * (equity - low)) / (high - low);
    const y = (k: number): number => ROW * k + 32;
    const middle = (y(0) + y(candidates.length - 1)) / 2;
    if (low < 0 && high > 0)
      drawing.append(
        svg("line", { class: "zero", x1: x(0), y1: 6, x2: x(0), y2: height - 16 }),
        svg("text", { class: "axis", x: x(0), y: height - 4, "text-anchor": "middle" }, "0"),
      );
    drawing.append(
      svg("text", { class: "axis", x: FROM_X, y: height - 4 }, signed(low)),
      svg("text", { class: "axis", x: width - 10, y: height - 4, "text-anchor": "end" }, signed(high)),
    );
    const most = Math.max(...candidates.map(({ share, prior }) => share || prior), 1e-6);
    candidates.forEach((candidate, k) => {
      const { share, prior, text, equity } = candidate;
      const weight = 1 + 5 * ((share || prior) / most);
      const here = y(k);
      drawing.append(
        svg("path", {
          class: candidate.id === this.chosen ? "edge chosen" : "edge",
          "stroke-width": weight,
          d: `M${ROOT_X + 16} ${middle}C${FROM_X - 22} ${middle} ${ROOT_X + 30} ${here} ${FROM_X} ${here}`,
        }),
        svg("line", { class: "floor", x1: FROM_X, y1: here, x2: width - 8, y2: here }),
      );
      const name = svg("text", { class: candidate.id === this.chosen ? "move chosen" : "move", x: FROM_X + 2, y: here - 13 }, text);
      if (this.pick) {
        name.classList.add("open");
        name.addEventListener("click", () => this.pick?.(candidate));
      }
      drawing.append(name, svg("text", { class: "equity", x: width - 10, y: here - 13, "text-anchor": "end" }, signed(equity)));
      for (const { dice, ways, text: reply, equity } of this.branches.get(candidate.id) ?? []) {
        const words = `${dice[0]}-${dice[1]}, reply ${reply}: ${signed(equity)}`;
        const dot = svg("circle", { class: equity >= 0 ? "dot good" : "dot bad", r: ways === 2 ? 4 : 2.8, cx: x(equity), cy: here });
        dot.append(svg("title", {}, words));
        dot.addEventListener("pointerenter", () => write(this.message, `After ${text} and ${words}.`));
        drawing.append(dot);
      }
      drawing.append(svg("line", { class: "mean", x1: x(equity), y1: here - 8, x2: x(equity), y2: here + 8 }));
    });
    drawing.append(
      svg("rect", { class: "root", x: ROOT_X - 18, y: middle - 13, width: 36, height: 26, rx: 5 }),
      svg("text", { class: "root-text", x: ROOT_X, y: middle, dy: "0.36em", "text-anchor": "middle" }, this.root),
    );
    drawing.setAttribute(
      "aria-label",
      `The tree of ${this.root}: ` +
        `${candidates.map((candidate) => `${candidate.text} ${signed(candidate.equity)}${this.spread(candidate.id)}`).join("; ")}`,
    );
  }

  /** Formats the range of equities after the replies to a move. Returns an empty string if the replies have not arrived. */
  private spread(id: string): string {
    const equities = (this.branches.get(id) ?? []).map(({ equity }) => equity);
    return equities.length ? `, after the reply from ${signed(Math.min(...equities))} to ${signed(Math.max(...equities))}` : "";
  }
}
