// The backgammon room's view: the table, the candidate moves, and the analysis of any position. The worker applies the rules and evaluates
// positions.

import type { Began, Event as RunEvent } from "../../run/protocol";
import { count, minus } from "../../parts/format";
import type { Late } from "../../parts/late";
import type { History } from "../../parts/history";
import type { Explanation, RoomPage, View } from "../../parts/room";
import type { Section } from "../../parts/places";
import type { Shortcut } from "../../parts/shortcuts";
import { reveal } from "../../parts/tabs";
import type { TrainedAgent } from "../../parts/trained";
import { textOf } from "../../run/notice";
import type { AnalysisPane } from "./analysis";
import type { Backgammon } from "./client";
import type { Roll } from "./dice";
import type { Frozen, RoomEvent } from "./protocol";
import { SECTIONS } from "./sections";
import { SessionPane, type MatchNotices } from "./session";
import * as text from "./text";

/** Position id in the page's address; null if the address has no id, and after the position has been opened. */
let linked = new URLSearchParams(location.search).get("position");

/** Formats points per game: `+1.42`. */
export const points = (n: number): string => minus(`${n < 0 ? "" : "+"}${n.toFixed(2)}`);

/** Data of the room in the event that begins a run. */
type Notes = { frozen: Frozen[] };

export class BackgammonView implements View {
  readonly stage: HTMLElement;
  readonly pictured = ".seat, .board, .best, .note";
  readonly beside: HTMLElement[];
  readonly sections: Section[];
  readonly units = { words: "the position at the table", samples: "64 positions of random games" };
  readonly keys: Shortcut[];
  readonly otherKeys = [
    { shown: "← ↑ → ↓", does: "on the board: move between points" },
    { shown: "enter", does: "on the board: pick up or drop a checker; a second press moves it by the larger die" },
    { shown: "esc", does: "on the board: release the checker" },
  ];
  private readonly session: SessionPane;
  private readonly analysis: Late<AnalysisPane>;
  private frozen: Frozen[] = [];

  constructor(private readonly page: RoomPage<Backgammon>) {
    const { client, announcer } = page;
    this.analysis = page.late(async () => {
      const { AnalysisPane } = await import("./analysis");
      return () => {
        const pane = new AnalysisPane(client, announcer);
        pane.form.who.offer(this.frozen);
        if (page.trained) pane.form.who.offerTrained(page.trained);
        return pane;
      };
    });
    const analyse = (id: string, dice: Roll | null): void => void this.opened().then((pane) => pane?.show(id, dice));
    this.session = new SessionPane(client, announcer, analyse, matchNotices(page.around.notices));
    this.stage = this.session.table.element;
    this.beside = [this.session.considered.element, this.session.review.element];
    this.sections = [
      {
        ...SECTIONS.analysis,
        element: this.analysis.element,
        shown: () => void this.analyse(),
      },
    ];
    const key = (key: string, does: string, run: () => void): Shortcut => ({ key, shown: key, does, run });
    const press = (...names: Parameters<typeof actions.press>): void => (reveal(this.stage), actions.press(...names));
    const { actions, board } = this.session.table;
    this.keys = [
      key("d", "at the table: roll, or confirm", () => press("roll", "confirm", "next")),
      key("u", "at the table: undo", () => press("undo")),
      key("h", "at the table: a hint", () => press("hint")),
      key("b", "go to the board", () => (reveal(this.stage), board.focus())),
    ];
  }

  headline(): string {
    return text.title;
  }

  async explanations(): Promise<Explanation[]> {
    const { explanations } = await import("./explanations");
    const { id, summary } = this.page.client.variant;
    return explanations(id, summary);
  }

  status(present: History): string {
    const games = `${count(this.page.progress.counts[0] ?? 0)} games`;
    const [random, linear] = [present.test("random_points"), present.test("linear_points")];
    if (random === undefined || linear === undefined) return `${games}: no test yet.`;
    return `${games}: ${points(random)} points against random play, ${points(linear)} against ${text.PUBEVAL}.`;
  }

  began({ room }: Began): void {
    const { present } = this.page;
    this.frozen = [...((room as Notes | null)?.frozen ?? [])];
    present?.notes.push(...this.frozen.map(note));
    this.offer();
    void this.session.begin();
    void this.openLinked();
  }

  /** Loads the analysis. Returns undefined if it could not be loaded. */
  private async opened(): Promise<AnalysisPane | undefined> {
    this.analysis.show();
    await this.analysis.loaded();
    return this.analysis.part;
  }

  /** Analyses the default position. An analysis before the section is shown would be that of an agent that has hardly learned. */
  private async analyse(): Promise<void> {
    const pane = await this.opened();
    if (this.page.present?.tests.length) pane?.begin();
  }

  trained(agent: TrainedAgent): void {
    this.session.setTrained(agent);
    this.analysis.part?.form.who.offerTrained(agent);
  }

  private async openLinked(): Promise<void> {
    const id = linked;
    linked = null;
    if (id === null) return;
    try {
      await (await this.opened())?.open(id);
    } catch (error) {
      this.page.around.notices.show(
        "warning",
        `The position in this link cannot be opened: ${textOf(error)}`,
        "Copy the link again, or set the position up in the editor",
      );
    }
  }

  take(event: RunEvent): void {
    const { part } = this.analysis;
    if (event.kind === "test" && part?.element.checkVisibility()) part.begin();
    if (event.kind !== "room") return;
    const frozen = event.event as RoomEvent;
    this.frozen.push(frozen);
    this.page.present?.notes.push(note(frozen));
    this.offer();
    this.page.showCurves();
    this.page.announcer.say(`You can now play the agent after ${frozen.minutes === 1 ? "one minute" : `${frozen.minutes} minutes`}.`);
  }

  private offer(): void {
    for (const field of [this.session.setup.opponent, this.analysis.part?.form.who]) field?.offer(this.frozen);
  }
}

const matchNotices = (notices: RoomPage["around"]["notices"]): MatchNotices => ({
  replaced: (back) => notices.offerUndo("New match started", back, "Previous match saved"),
  continued: () => notices.show("info", "Your match against the trained agent continues", ""),
  waiting: (back) => notices.show("info", "Your match against the trained agent is saved", "", { label: "Return to it", run: back }),
  lost: () => notices.show("warning", "Your match against the trained agent could not be restored", "Begin another one with New match"),
});

const note = ({ progress, minutes }: Frozen): { progress: Frozen["progress"]; words: string } => ({
  progress,
  words: `saved at minute ${minutes}`,
});
