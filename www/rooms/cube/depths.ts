// Solve rate by depth in the latest test. Outlines show the previous test.

import { h, pane, write } from "../../parts/dom";
import { count, percent as exactly, seconds } from "../../parts/format";
import type { History } from "../../parts/history";
import { Bars, percent } from "./bars";
import { unitOf, type Metric } from "./notation";
import type { Puzzle } from "./protocol";
import { farthest, statesAt } from "./scrambles";

/** Tries of auto-play by depth of the scramble. `solved` is the number of solved tries, and `of` is the number of all tries. */
export type Tries = Map<number, { solved: number; of: number }>;

export class DepthChart {
  readonly element: HTMLElement;
  private readonly bars = new Bars("Solve rate by depth", ["Depth", "Solved", "Previous test", "States"]);
  private readonly about = h("p.about");
  private readonly now = h("output.number");
  private metric: Metric = "quarter";
  private shown: unknown;

  constructor() {
    this.element = pane(
      "depths card",
      "Solve rate by depth",
      [this.now, this.bars.table.button],
      [this.about, this.bars.element, this.bars.table.element],
    );
  }

  begin(puzzle: Puzzle, metric: Metric): void {
    this.metric = metric;
    this.shown = undefined;
    this.showTries(new Map(), puzzle);
  }

  /** Shows the latest test, with the test before it as outlines. */
  show(run: History): void {
    const [newest, before] = [run.tests.at(-1), run.tests.at(-2)];
    if (this.shown === newest || !newest) return;
    this.shown = newest;
    write(this.about, `solved greedily, by distance in ${unitOf(this.metric)}${before ? "; outline: previous test" : ""}`);
    write(this.bars.table.caption, "Greedy solve rate by distance.");
    const states = statesAt(this.metric);
    const labels: string[] = [];
    const bars = states.slice(1).map((count_, k) => {
      const depth = k + 1;
      const [share, was] = [newest, before].map((row) => row && run.test(`at_${depth}`, row));
      if (share !== undefined) labels.push(`depth ${depth} ${percent(share)}`);
      const text = (value: number | undefined): string => (value === undefined ? "" : percent(value));
      return {
        label: String(depth),
        share,
        before: was,
        words: text(share).replace("%", ""),
        cells: [text(share), text(was), count(count_)],
      };
    });
    this.bars.show(bars, labels.join(", "));
    write(this.now, `${exactly(run.test("solved", newest) ?? 0)} after ${seconds(newest.progress.train_s)}`);
  }

  /** Shows the tries of auto-play, unless a test has reported solve rates by depth. */
  showTries(tries: Tries, puzzle: Puzzle): void {
    if (this.shown) return;
    write(
      this.about,
      puzzle.exact
        ? "attempts of auto-play, solved greedily, by distance, until the first test"
        : "attempts of auto-play, solved by a small beam search, by scramble length",
    );
    write(this.bars.table.caption, "Attempts of auto-play by depth.");

    const all = [...tries.values()];
    const [solved, of] = [all.reduce((sum, one) => sum + one.solved, 0), all.reduce((sum, one) => sum + one.of, 0)];
    const bars = Array.from({ length: farthest(puzzle, this.metric) }, (_, k) => {
      const one = tries.get(k + 1);
      const share = one && one.solved / one.of;
      return {
        label: String(k + 1),
        share,
        words: one ? `${one.solved}/${one.of}` : "",
        cells: [share === undefined ? "" : percent(share), "", one ? `${one.of}` : ""],
      };
    });
    this.bars.show(bars, bars.flatMap(({ label, words }) => (words ? [`depth ${label} ${words}`] : [])).join(", ") || "no attempts yet");
    write(this.now, of ? `${solved} of ${of} ${of === 1 ? "scramble" : "scrambles"} solved` : "");
  }
}
