// The solve rate by depth, as the newest test found it, with the test before it as an outline behind.

import type { RoomInfo } from "../../run/protocol";
import { h, write } from "../../parts/dom";
import { count, seconds } from "../../parts/format";
import type { History } from "../../parts/history";
import { Bars, percent } from "./bars";
import type { Puzzle } from "./protocol";

/** States of the 2x2x2 by their distance in quarter turns. */
const STATES = [1, 6, 27, 120, 534, 2256, 8969, 33058, 114149, 360508, 930588, 1350852, 782536, 90280, 276];

export class DepthChart {
  readonly element: HTMLElement;
  private readonly bars = new Bars("Solve rate by depth", ["Depth", "Solved", "Test before", "States"]);
  private readonly title = h("h2", { class: "label", id: "depths-title" }, "Solve rate by depth");
  private readonly about = h("p", { class: "about" });
  private readonly now = h("output", { class: "number" });
  private tests = -1;
  private run: History | undefined;

  constructor() {
    this.element = h(
      "section",
      { class: "depths", "aria-labelledby": this.title.id },
      h("div", { class: "head" }, this.title, this.now, this.bars.table.button),
      this.about,
      this.bars.element,
      this.bars.table.element,
    );
  }

  /** Depths that tests tell of. */
  static depths(room: RoomInfo): number[] {
    return room.tests.flatMap(({ name }) => /^at_(\d+)$/.exec(name)?.[1] ?? []).map(Number);
  }

  begin({ exact }: Puzzle): void {
    this.tests = -1;
    write(
      this.about,
      exact
        ? "share of all states at each exact distance from which greedy play solves it; the outline is the test before"
        : "share of test scrambles of so many moves that it solves; the outline is the test before",
    );
    this.bars.table.caption.textContent = exact ? "Share of all states at each distance that greedy play solves." : "Share of test scrambles of each length that are solved.";
  }

  show(run: History | undefined, { exact }: Puzzle): void {
    if (!run || (run === this.run && run.tests.length === this.tests)) return;
    this.tests = run.tests.length;
    this.run = run;
    const [newest, before] = [run.tests.at(-1), run.tests.at(-2)];
    const depths = DepthChart.depths(run.room).filter((depth) => newest === undefined || run.tests.some((row) => run.test(`at_${depth}`, row) !== undefined));
    const at = (depth: number, row = newest): number | undefined => (row ? run.test(`at_${depth}`, row) : undefined);
    const told = depths.flatMap((depth) => (at(depth) === undefined ? [] : [`depth ${depth} ${percent(at(depth)!)}`]));
    this.bars.show(
      depths.map((depth) => {
        const [share, was] = [at(depth), before && at(depth, before)];
        const states = exact ? STATES[depth] : undefined;
        const tell = (value: number | undefined): string => (value === undefined ? "" : percent(value));
        return { label: String(depth), share, before: was, words: tell(share).replace("%", ""), cells: [tell(share), tell(was), states ? count(states) : ""] };
      }),
      told.join(", ") || "nothing yet",
    );
    const all = run.test("solved", newest);
    write(this.now, newest && all !== undefined ? `${percent(all)} after ${seconds(newest.progress.train_s)}` : "");
  }
}
