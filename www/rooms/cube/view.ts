// The cube room's view: the cube, the agent's estimates, the solve rate by depth, a comparison of methods, the visitor's own cube, and the
// inside of a Q-learner.

import type { Began, Event as RunEvent } from "../../run/protocol";
import type { ChartWords } from "../../parts/curves";
import { h } from "../../parts/dom";
import { seconds, words } from "../../parts/format";
import type { History } from "../../parts/history";
import type { Band, Explanation, RoomPage, View } from "../../parts/room";
import type { Shortcut } from "../../parts/shortcuts";
import { percent } from "./bars";
import { puzzleOf, type CubeClient } from "./client";
import { DepthChart } from "./depths";
import { InsidePane } from "./inside";
import { MethodsPane } from "./methods";
import { OwnPane } from "./own";
import { CubePane } from "./pane";
import type { Puzzle } from "./protocol";
import * as text from "./text";

export class CubeView implements View {
  readonly bands: Band[];
  readonly keys: Shortcut[];
  readonly otherKeys = [
    { shown: "u r f d l b", does: "on the cube: turn a face clockwise, with shift anticlockwise; on the 3x3x3 also m e s" },
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
    this.cube = new CubePane(
      client,
      announcer,
      (share) => this.able(share),
      () => this.showDepths(),
    );
    const goToCube = (): void => this.cube.element.scrollIntoView({ block: "start" });
    this.methods = new MethodsPane(
      client,
      this.cube.solver,
      announcer,
      () => this.cube.claim(),
      (found, method) => {
        this.cube.watchSolution(found, method);
        goToCube();
      },
    );
    const place = (stickers: string, words: string, solve = false): void => {
      this.cube.place(stickers, words, solve);
      goToCube();
    };
    this.own = new OwnPane(client, () => this.cube.shown, place);
    this.inside = new InsidePane(client, place, () => this.cube.opinion.names);
    this.bands = [
      { name: "methods-band", heading: "Method comparison", element: this.methods.element, place: "before knobs" },
      { name: "own-band", heading: "Your own cube", element: this.own.element, place: "before knobs" },
      { name: "inside-band", heading: "Inside the learner", element: this.inside.element, place: "before knobs" },
    ];
    this.keys = [{ key: "c", shown: "c", does: "go to the cube", run: () => this.cube.picture.focus() }];
  }

  first(curves: HTMLElement): HTMLElement {
    return h("div.workbench", this.cube.element, h("div.findings.stack", curves, this.depths.element, this.cube.opinion.element));
  }

  private get puzzle(): Puzzle {
    return puzzleOf(this.page.client);
  }

  /** Greatest depth such that the newest test solved at least `share` of the states at each depth up to it. */
  private able(share: number): number {
    const { present } = this.page;
    let able = 0;
    while (present && (present.test(`at_${able + 1}`) ?? 0) >= share) able++;
    return able;
  }

  headline(): string {
    return text.title(this.puzzle);
  }

  explanations(): Explanation[] {
    const { id, summary } = this.page.client.variant;
    return text.explanations(id, summary, this.puzzle);
  }

  charts(): Record<string, ChartWords> {
    return text.chartsOf(this.puzzle);
  }

  status(present: History): string {
    const { progress } = this.page;
    const { size, exact } = this.puzzle;
    const after = `After ${seconds(progress.train_s)} of training (${words(progress.counts[0] ?? 0)} states)`;
    const share = present.test("solved");
    if (share === undefined) return `${after}: no test yet, the first one is soon.`;
    if (!exact) return `${after}: the newest test solved ${percent(share)} of the ${text.name(size)} scrambles with a small beam search.`;
    const optimal = present.test("optimal");
    const fewest = optimal === undefined ? "" : `, ${percent(optimal)} in the fewest moves`;
    return `${after}: the newest test solved ${percent(share)} of all 3,674,160 states greedily${fewest}.`;
  }

  began(_: Began): void {
    const { puzzle } = this;
    this.cube.begin();
    this.depths.begin(puzzle);
    this.showDepths();
    this.methods.begin();
    this.own.begin();
    this.inside.begin(puzzle.plays);
  }

  take(event: RunEvent): void {
    this.cube.solver.take(event);
    if (event.kind === "test") this.showDepths();
  }

  private showDepths(): void {
    const { present } = this.page;
    const { exact } = this.puzzle;
    this.depths.showTries(this.cube.practice.tries, exact);
    if (exact && present) this.depths.show(present);
  }

  refresh(): void {
    this.inside.refresh();
  }
}
