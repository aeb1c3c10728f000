// The agent's estimates for the displayed state, beside the known distances.

import { facts, h, pane, write } from "../../parts/dom";
import { percent } from "./bars";
import { distanceWords, lengthWords, otherThan, unitOf, type Metric } from "./notation";
import type { Gives, Puzzle, StateView } from "./protocol";

const SCORES: Record<Gives, { title: string; about: string }> = {
  value: { title: "Moves left", about: "estimated moves left after each move; lower is better" },
  action_values: { title: "Q-value", about: "Q-value of each move: the estimated number of moves to the solved cube; lower is better" },
  policy: { title: "Probability", about: "policy: probability of each move" },
};
const UNKNOWN = "–";

type Row = {
  element: HTMLElement;
  name: HTMLElement;
  bar: HTMLElement;
  score: HTMLElement;
  distance: HTMLElement;
  best: HTMLElement;
  brief: { element: HTMLElement; name: HTMLElement; score: HTMLElement };
};

export const value = (n: number): string => n.toFixed(1);

/**
 * Describes a state by its distance and the agent's estimate: `Shortest: 9 quarter turns (7 turns). Agent's estimate: 8.6 quarter turns.`
 */
export function thought({ solved, distance, other_distance, value: thinks }: StateView, metric: Metric): string {
  if (solved) return "Solved.";
  const known = distance === null ? "" : `Shortest: ${distanceWords(distance, other_distance, metric)}.`;
  const own = thinks === null ? "" : `Agent's estimate: ${value(thinks)} ${unitOf(metric)}.`;
  return [known, own].filter(Boolean).join(" ") || "Distance from solved: unknown.";
}

export class Opinion {
  readonly element: HTMLElement;
  /** The agent's estimate of the displayed state, beside the shortest distance. */
  readonly reading: HTMLElement;
  /** The agent's estimate of each move, beside the cube. It is shown only on a screen with enough space; the table has the same numbers. */
  readonly brief: HTMLElement;
  private readonly briefTitle = h("p.small");
  private readonly briefList = h("ul");
  private readonly own = h("dd.agent-estimate", UNKNOWN);
  private readonly known = h("dd", UNKNOWN);
  private readonly unit = h("p.small");
  private readonly about = h("p.about");
  private readonly head = h("th", { scope: "col" });
  private readonly distanceHead = h("th", { scope: "col" }, "Shortest");
  private readonly body = h("tbody");
  private rows: Row[] = [];
  private gives: Gives = "value";
  private metric: Metric = "quarter";

  constructor() {
    this.reading = h("div.reading", [
      h("dl", h("div", facts([["Estimate", this.own]])), h("div", facts([["Shortest", this.known]]))),
      this.unit,
    ]);
    this.brief = h("div.brief", { "aria-hidden": "true" }, this.briefTitle, this.briefList);
    this.element = pane(
      "opinion card",
      "Agent's estimates",
      [],
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

  begin({ gives, exact }: Puzzle, metric: Metric): void {
    this.gives = gives;
    this.metric = metric;
    const { title, about } = SCORES[gives];
    write(this.head, title);
    write(this.about, about);
    write(this.briefTitle, `${title}, by move`);
    write(this.unit, unitOf(metric));
    this.distanceHead.hidden = !exact;
    this.rows = [];
    this.body.replaceChildren();
    this.briefList.replaceChildren();
    for (const number of [this.own, this.known]) write(number, UNKNOWN);
  }

  get names(): string[] {
    return this.rows.map(({ name }) => name.textContent ?? "");
  }

  show(view: StateView): void {
    const { actions, best, solved, distance: known, other_distance: other, value: own } = view;
    if (this.rows.length !== actions.length) this.build(actions.length);
    write(this.own, own === null ? UNKNOWN : value(own));
    write(this.known, known === null ? UNKNOWN : String(known));
    write(this.unit, unitOf(this.metric) + (other === null ? "" : ` (${lengthWords(other, otherThan(this.metric))})`));
    const scores = actions.map(({ score }) => score);
    const most = this.gives === "policy" ? Math.max(...scores, 1e-6) : Math.max(...scores, 1);
    const least = Math.min(...actions.flatMap(({ distance }) => distance ?? []));
    actions.forEach(({ action, score, distance }, k) => {
      const row = this.rows[k]!;
      const chosen = k === best && !solved;
      write(row.name, action);
      row.element.classList.toggle("best", chosen);
      row.bar.style.setProperty("--share", `${(100 * Math.max(0, score)) / most}%`);
      const shown = this.gives === "policy" ? percent(score) : value(score);
      write(row.score, shown);
      write(row.brief.name, action);
      write(row.brief.score, shown);
      row.brief.element.classList.toggle("best", chosen);
      write(row.distance, distance === null ? "" : String(distance));
      row.distance.hidden = this.distanceHead.hidden;
      row.distance.classList.toggle("right", distance !== null && distance === least);
      write(row.best, chosen ? "best" : "");
    });
  }

  private build(count: number): void {
    this.rows = Array.from({ length: count }, () => {
      const name = h("th.text", { scope: "row" });
      const [bar, best] = [h("span.action-bar"), h("span.action-best")];
      const [score, distance] = [h("td.number"), h("td")];
      const brief = { name: h("span"), score: h("span.number") };
      const element = h("tr", name, h("td.wide", bar, best), score, distance);
      return { element, name, bar, score, distance, best, brief: { ...brief, element: h("li", brief.name, brief.score) } };
    });
    this.body.replaceChildren(...this.rows.map(({ element }) => element));
    this.briefList.replaceChildren(...this.rows.map(({ brief }) => brief.element));
  }
}
