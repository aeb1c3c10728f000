// What the room of the cube shows beside what every room has: the cube and what is done with it, what the agent thinks, the solve
// rate by depth, methods side by side, a cube of one's own, and what a learner that plays keeps.

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
    { shown: "u r f d l b", does: "on the cube: turn a face clockwise, with shift anticlockwise; of the 3x3x3 also m e s" },
    { shown: "← ↑ → ↓", does: "on the cube: turn the view; home brings it back" },
    { shown: "⌫", does: "on the cube: undo" },
    { shown: "space", does: "on the cube: have it solved; play or pause the solution" },
    { shown: "← ↑ → ↓", does: "on the net: from sticker to sticker; enter or a letter paints" },
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
      () => this.cube.held(),
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
      { name: "methods-band", heading: "Methods side by side", element: this.methods.element, place: "before knobs" },
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

  /** The greatest depth up to which it solves so large a share, as the newest test found. */
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
    const after = `after ${seconds(progress.train_s)} of training, ${words(progress.counts[0] ?? 0)} states`;
    const share = present.test("solved");
    if (share === undefined) return `It knows how faces turn and nothing else, ${after}. Its first test comes soon.`;
    if (!exact)
      return (
        `A small beam search with its network solves ${percent(share)} of the test scrambles of the ${text.name(size)} by its ` +
        `newest test; this is ${after}.`
      );
    const optimal = present.test("optimal");
    const ways = optimal === undefined ? "" : `, ${percent(optimal)} by a shortest way`;
    return `Looking one move ahead it solves ${percent(share)} of all 3,674,160 states${ways} by its newest test; this is ${after}.`;
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
