// The backgammon room's view: the table, the candidate moves, and the analysis of any position. The worker applies the rules and evaluates
// positions.

import type { Began, Event as RunEvent } from "../../run/protocol";
import { h } from "../../parts/dom";
import { count, figure, seconds } from "../../parts/format";
import type { History } from "../../parts/history";
import type { Band, Explanation, RoomPage, View } from "../../parts/room";
import type { Shortcut } from "../../parts/shortcuts";
import { textOf } from "../../run/notice";
import { AnalysisPane } from "./analysis";
import type { Backgammon } from "./client";
import type { Frozen, RoomEvent } from "./protocol";
import { SessionPane } from "./session";
import * as text from "./text";

/** Position id in the page's address; null once it has been opened. */
let linked = new URLSearchParams(location.search).get("position");

/** Data of the room in the event that begins a run. */
type Notes = { frozen: Frozen[] };

export class BackgammonView implements View {
  readonly bands: Band[];
  readonly keys: Shortcut[];
  readonly otherKeys = [
    { shown: "← ↑ → ↓", does: "on the board: move between points" },
    { shown: "enter", does: "on the board: pick up or drop a checker; twice moves it by the larger die" },
    { shown: "esc", does: "on the board: release the checker" },
  ];
  private readonly session: SessionPane;
  private readonly analysis: AnalysisPane;
  private frozen: Frozen[] = [];

  constructor(private readonly page: RoomPage<Backgammon>) {
    const { client, announcer } = page;
    this.analysis = new AnalysisPane(client, announcer);
    this.session = new SessionPane(
      client,
      announcer,
      (id, dice) => this.analysis.show(id, dice),
      (undo) => page.around.notices.offerUndo("New match started", undo, "Previous match saved"),
    );
    this.bands = [{ name: "analysis-band", heading: "Analyse a position", element: this.analysis.element, place: "before knobs" }];
    this.keys = [
      {
        key: "d",
        shown: "d",
        does: "at the table: roll, or confirm",
        run: () => this.session.table.actions.press("roll", "confirm", "next"),
      },
      { key: "u", shown: "u", does: "at the table: undo", run: () => this.session.table.actions.press("undo") },
      { key: "h", shown: "h", does: "at the table: a hint", run: () => this.session.table.actions.press("hint") },
      { key: "b", shown: "b", does: "go to the board", run: () => this.session.table.board.focus() },
    ];
  }

  first(curves: HTMLElement): HTMLElement {
    return h("div.workbench", this.session.table.element, h("div.findings.stack", curves, this.session.considered.element));
  }

  headline(): string {
    return text.title;
  }

  explanations(): Explanation[] {
    const { id, summary } = this.page.client.variant;
    return text.explanations(id, summary);
  }

  status(present: History): string {
    const { progress } = this.page;
    const done = `${count(progress.counts[0] ?? 0)} games of self-play in ${seconds(progress.train_s)} of training`;
    const [random, linear] = [present.test("random_points"), present.test("linear_points")];
    if (random === undefined || linear === undefined) return `${done}: no test yet.`;
    const against = (points: number, whom: string): string =>
      `${points >= 0 ? "beats" : "loses to"} ${whom} by ${figure(Math.abs(Math.round(100 * points) / 100))} points per game`;
    return `${done}: ${against(random, "random play")}, ${against(linear, "pubeval")}.`;
  }

  began({ room }: Began): void {
    const { present } = this.page;
    this.frozen = [...((room as Notes | null)?.frozen ?? [])];
    present?.notes.push(...this.frozen.map(note));
    this.offer();
    void this.session.begin();
    void this.openLinked();
  }

  private async openLinked(): Promise<void> {
    const id = linked;
    linked = null;
    if (id === null) return;
    try {
      await this.analysis.open(id.includes(":") && !/^[^:]*:[^:]*$/.test(id) && !/^xgid=/i.test(id) ? `XGID=${id}` : id);
    } catch (error) {
      this.page.around.notices.show(
        "warning",
        `The position in this link cannot be opened: ${textOf(error)}`,
        "Copy the link again, or set the position up in the editor",
      );
    }
  }

  take(event: RunEvent): void {
    if (event.kind === "test") this.analysis.begin();
    if (event.kind !== "room") return;
    const frozen = event.event as RoomEvent;
    this.frozen.push(frozen);
    this.page.present?.notes.push(note(frozen));
    this.offer();
    this.page.showCurves();
    this.page.announcer.say(`You can now play the agent after ${frozen.minutes === 1 ? "one minute" : `${frozen.minutes} minutes`}.`);
  }

  private offer(): void {
    for (const field of [this.session.setup.opponent, this.analysis.form.who]) field.offer(this.frozen);
  }
}

const note = ({ progress, minutes }: Frozen): { progress: Frozen["progress"]; words: string } => ({
  progress,
  words: `saved at minute ${minutes}`,
});
