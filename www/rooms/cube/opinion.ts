// The agent's estimates for the displayed state, beside the known distances.

import { h, pane, write } from "../../parts/dom";
import { percent } from "./bars";
import type { Gives, Puzzle, StateView } from "./protocol";

const SCORES: Record<Gives, { title: string; about: string }> = {
  value: { title: "Moves left", about: "V of the state after each move; lower is better" },
  action_values: { title: "Moves by Q", about: "Q of each move, in moves to solved; lower is better" },
  policy: { title: "Probability", about: "policy: probability of each move" },
};

type Row = {
  element: HTMLElement;
  button: HTMLButtonElement;
  bar: HTMLElement;
  score: HTMLElement;
  distance: HTMLElement;
  best: HTMLElement;
};

export const moves = (n: number): string => (n === 1 ? "1 move" : `${n} moves`);
export const value = (n: number): string => n.toFixed(1);

/** Distance and estimate of a state in words, such as `Shortest: 9. Agent's estimate: 8.6.` */
export function thought({ solved, distance, value: thinks }: StateView): string {
  if (solved) return "Solved.";
  const known = distance === null ? "" : `Shortest: ${distance}.`;
  const own = thinks === null ? "" : `Agent's estimate: ${value(thinks)}.`;
  return [known, own].filter(Boolean).join(" ") || "Distance from solved: unknown.";
}

export class Opinion {
  readonly element: HTMLElement;
  private readonly lead = h("p.thought");
  private readonly about = h("p.about");
  private readonly head = h("th", { scope: "col" });
  private readonly distanceHead = h("th", { scope: "col" }, "Shortest");
  private readonly body = h("tbody");
  private rows: Row[] = [];
  private gives: Gives = "value";

  constructor(private readonly make: (action: string) => void) {
    this.element = pane(
      "opinion",
      "Agent's estimates",
      [this.lead],
      [
        this.about,
        h("table.actions", [
          h("caption.unseen", "The agent's estimate of each move"),
          h("thead", h("tr", h("th.text", { scope: "col" }, "Move"), h("td.wide"), this.head, this.distanceHead)),
          this.body,
        ]),
      ],
    );
  }

  begin({ gives, exact }: Puzzle): void {
    this.gives = gives;
    const { title, about } = SCORES[gives];
    write(this.head, title);
    write(this.about, about);
    this.distanceHead.hidden = !exact;
    this.rows = [];
    this.body.replaceChildren();
    write(this.lead, "");
  }

  get names(): string[] {
    return this.rows.map(({ button }) => button.textContent ?? "");
  }

  show(view: StateView): void {
    const { actions, best, solved } = view;
    if (this.rows.length !== actions.length) this.build(actions.length);
    write(this.lead, thought(view));
    const scores = actions.map(({ score }) => score);
    const most = this.gives === "policy" ? Math.max(...scores, 1e-6) : Math.max(...scores, 1);
    const least = Math.min(...actions.flatMap(({ distance }) => distance ?? []));
    actions.forEach(({ action, score, distance }, k) => {
      const row = this.rows[k]!;
      const chosen = k === best && !solved;
      write(row.button, action);
      row.button.setAttribute("aria-label", `Make the move ${action}`);
      row.element.classList.toggle("best", chosen);
      row.bar.style.setProperty("--share", `${(100 * Math.max(0, score)) / most}%`);
      write(row.score, this.gives === "policy" ? percent(score) : value(score));
      write(row.distance, distance === null ? "" : String(distance));
      row.distance.hidden = this.distanceHead.hidden;
      row.distance.classList.toggle("right", distance !== null && distance === least);
      write(row.best, chosen ? "best" : "");
    });
  }

  private build(count: number): void {
    this.rows = Array.from({ length: count }, () => {
      const button: HTMLButtonElement = h("button.quiet.small", { onclick: () => this.make(button.textContent ?? "") });
      const [bar, best] = [h("span.action-bar"), h("span.action-best")];
      const [score, distance] = [h("td.number"), h("td")];
      const element = h("tr", h("th.text", { scope: "row" }, button), h("td.wide", bar, best), score, distance);
      return { element, button, bar, score, distance, best };
    });
    this.body.replaceChildren(...this.rows.map(({ element }) => element));
  }
}
