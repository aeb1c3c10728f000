// The cube room's view. It contains the cube, the agent's estimates, the solve rate by depth, a comparison of search methods, the visitor's
// own cube, and a Q-learner's curriculum and replay.

import type { Began, Event as RunEvent } from "../../run/protocol";
import type { ChartWords } from "../../parts/curves";
import { percent, seconds, words } from "../../parts/format";
import type { History } from "../../parts/history";
import type { Explanation, RoomPage, View } from "../../parts/room";
import type { Section } from "../../parts/places";
import type { Shortcut } from "../../parts/shortcuts";
import { reveal } from "../../parts/tabs";
import type { TrainedAgent } from "../../parts/trained";
import { puzzleOf, type CubeClient } from "./client";
import { DepthChart } from "./depths";
import { InsidePane } from "./inside";
import { MethodsPane } from "./methods";
import { OwnPane } from "./own";
import { metricOf } from "./notation";
import { CubePane } from "./pane";
import type { Puzzle } from "./protocol";
import { SECTIONS } from "./sections";
import * as text from "./text";

export class CubeView implements View {
  readonly stage: HTMLElement;
  readonly beside: HTMLElement[];
  readonly sections: Section[];
  readonly units = { words: "the cube in the tab Live", samples: "32 random states" };
  readonly keys: Shortcut[];
  readonly otherKeys = [
    { shown: "u r f d l b", does: "on the cube: turn a face clockwise, or anticlockwise with shift; on the 3x3x3 also m e s" },
    { shown: "← ↑ → ↓", does: "on the cube: turn the view; home resets it" },
    { shown: "⌫", does: "on the cube: undo" },
    { shown: "space", does: "on the cube: solve it; play or pause the solution" },
    { shown: "← ↑ → ↓", does: "on the net: move between stickers; enter or a letter paints" },
  ];
  private readonly cube: CubePane;
  private readonly depths = new DepthChart();
  private readonly methods: MethodsPane;
  private readonly own: OwnPane;
  private readonly inside: InsidePane;

  constructor(private readonly page: RoomPage<CubeClient>) {
    const { announcer, client } = page;
    client.onTrained((event) => this.cube.solver.take(event, "trained"));
    this.cube = new CubePane(
      client,
      announcer,
      (share) => this.able(share),
      () => this.showDepths(),
      () => page.progress.train_s,
    );
    this.methods = new MethodsPane(
      client,
      this.cube.solver,
      announcer,
      () => this.cube.claim(),
      (found, method) => {
        this.cube.watchSolution(found, method);
        page.showStage();
      },
    );
    const place = (stickers: string, words: string, solve = false): void => {
      this.cube.place(stickers, words, solve);
      page.showStage();
    };
    this.own = new OwnPane(client, () => this.cube.shown, place);
    this.inside = new InsidePane(client, place, () => this.cube.opinion.names);
    this.stage = this.cube.element;
    this.beside = [this.depths.element, this.cube.opinion.element];
    this.sections = [
      { ...SECTIONS.own, element: this.own.element },
      { ...SECTIONS.methods, element: this.methods.element },
      { ...SECTIONS.inside, element: this.inside.element, offered: () => this.puzzle.plays },
    ];
    this.keys = [{ key: "c", shown: "c", does: "go to the cube", run: () => (reveal(this.stage), this.cube.picture.focus()) }];
  }

  private get puzzle(): Puzzle {
    return puzzleOf(this.page.client);
  }

  /**
   * Returns the greatest depth `d` such that the latest test solved at least `share` of the states at every depth from 1 to `d`. Returns 0
   * if the rate at depth 1 is lower.
   */
  private able(share: number): number {
    const { present } = this.page;
    let able = 0;
    while (present && (present.test(`at_${able + 1}`) ?? 0) >= share) able++;
    return able;
  }

  headline(): string {
    return text.title(this.puzzle);
  }

  async explanations(): Promise<Explanation[]> {
    const { explanations } = await import("./explanations");
    const { client, present } = this.page;
    return explanations(client.variant, this.puzzle, present?.settings ?? {});
  }

  charts(): Record<string, ChartWords> {
    return text.chartsOf(this.puzzle);
  }

  status(present: History): string {
    // During a test, the number of states does not change. The time is therefore that of the latest test or iteration.
    const { train_s, counts } = present.tests.at(-1)?.progress ?? present.progress;
    const { size, exact } = this.puzzle;
    const states = words(counts[0] ?? 0);
    const after = `After ${seconds(train_s)} of training (${states} states)`;
    const share = present.test("solved");
    if (share === undefined) return [`No test yet after ${states} states.`, this.farthest()].filter(Boolean).join(" ");
    if (!exact) {
      const tested = `${after}, a small beam search solved ${percent(share)} of the test's ${text.name(size)} scrambles.`;
      return [tested, this.farthest()].filter(Boolean).join(" ");
    }
    const optimal = present.test("optimal");
    const fewest = optimal === undefined ? "" : `, ${percent(optimal)} in the fewest moves`;
    return `${after}: the latest test solved ${percent(share)} of all 3,674,160 states greedily${fewest}.`;
  }

  /** Returns a sentence about the longest scramble that auto-play has solved; an empty string if there is none. */
  private farthest(): string {
    const { farthest } = this.cube.practice;
    if (!farthest || this.puzzle.exact) return "";
    return `Auto-play solved a scramble of ${farthest.depth} moves after ${seconds(farthest.train_s)}.`;
  }

  began({ knobs }: Began): void {
    const { puzzle } = this;
    const metric = metricOf(knobs);
    this.cube.begin(metric);
    this.depths.begin(puzzle, metric);
    this.showDepths();
    this.methods.begin(metric);
    this.own.begin(metric);
    this.inside.begin(metric);
  }

  take(event: RunEvent): void {
    this.cube.solver.take(event);
    if (event.kind === "test") this.showDepths();
  }

  trained(agent: TrainedAgent): void {
    this.cube.setTrained(agent);
  }

  private showDepths(): void {
    const { present } = this.page;
    const { puzzle } = this;
    this.depths.showTries(this.cube.practice.tries, puzzle);
    if (puzzle.exact && present) this.depths.show(present);
  }

  refresh(): void {
    this.methods.refresh(this.cube.shown);
    this.inside.refresh();
  }
}
