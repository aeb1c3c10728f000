// Solve rate by depth in the newest test. Outlines show the previous test.

import { h, pane, write } from "../../parts/dom";
import { count, seconds } from "../../parts/format";
import type { History } from "../../parts/history";
import { Bars, percent } from "./bars";
import type { Puzzle } from "./protocol";

/** Number of states of the 2x2x2 at each distance from solved. The index is the distance, in quarter turns. */
const QUARTER = [1, 6, 27, 120, 534, 2256, 8969, 33058, 114149, 360508, 930588, 1350852, 782536, 90280, 276];
/** Number of states of the 2x2x2 at each distance from solved. The index is the distance, in half turns. */
const HALF = [1, 9, 54, 321, 1847, 9992, 50136, 227536, 870072, 1887748, 623800, 2644];

/** Greatest distance between the solved cube and a state of the 3x3x3, in quarter turns. */
export const DEEPEST = 26;

/** Solved tries of auto-play (`solved`) and all tries (`of`), by depth of the scramble. */
export type Tries = Map<number, { solved: number; of: number }>;

export class DepthChart {
  readonly element: HTMLElement;
  private readonly bars = new Bars("Solve rate by depth", ["Depth", "Solved", "Previous test", "States"]);
  private readonly about = h("p.about");
  private readonly now = h("output.number");
  private shown: unknown;

  constructor() {
    this.element = pane(
      "depths",
      "Solve rate by depth",
      [this.now, this.bars.table.button],
      [this.about, this.bars.element, this.bars.table.element],
    );
  }

  begin({ exact }: Puzzle): void {
    this.shown = undefined;
    this.showTries(new Map(), exact);
  }

  /** Shows the newest test, with the test before it as outlines. */
  show(run: History): void {
    const [newest, before] = [run.tests.at(-1), run.tests.at(-2)];
    if (this.shown === newest || !newest) return;
    this.shown = newest;
    write(this.about, "solved greedily, by distance; outline: previous test");
    write(this.bars.table.caption, "Greedy solve rate by distance.");
    // If turns by 180 degrees count as one, the greatest distance is 11 and there is no column `at_12`.
    const half = run.test("at_12", newest) === undefined;
    const states = half ? HALF : QUARTER;
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
    write(this.now, `${percent(run.test("solved", newest) ?? 0)} after ${seconds(newest.progress.train_s)}`);
  }

  /** Shows the tries of auto-play, unless a test has reported solve rates by depth. */
  showTries(tries: Tries, exact: boolean): void {
    if (this.shown) return;
    const deepest = exact ? QUARTER.length - 1 : DEEPEST;
    write(
      this.about,
      exact
        ? "auto-play tries solved greedily, by distance, until the first test"
        : "auto-play tries solved by a small beam search, by scramble length",
    );
    write(this.bars.table.caption, "Auto-play tries by depth.");

    const all = [...tries.values()];
    const [solved, of] = [all.reduce((sum, one) => sum + one.solved, 0), all.reduce((sum, one) => sum + one.of, 0)];
    const bars = Array.from({ length: deepest }, (_, k) => {
      const one = tries.get(k + 1);
      const share = one && one.solved / one.of;
      return {
        label: String(k + 1),
        share,
        words: one ? `${one.solved}/${one.of}` : "",
        cells: [share === undefined ? "" : percent(share), "", one ? `${one.of}` : ""],
      };
    });
    this.bars.show(bars, bars.flatMap(({ label, words }) => (words ? [`depth ${label} ${words}`] : [])).join(", ") || "no tries yet");
    write(this.now, of ? `${solved} of ${of} tries` : "");
  }
}
