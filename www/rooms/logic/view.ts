// The logic room's view: the grid of the automaton, its gates, the population, the circuit, the circuit on a big grid, and the visitor's
// own target.

import type { Began, Progress, Variant } from "../../run/protocol";
import { h } from "../../parts/dom";
import { percent, seconds, words } from "../../parts/format";
import type { History } from "../../parts/history";
import type { Band, Explanation, RoomPage, View } from "../../parts/room";
import { calm } from "../../parts/loop";
import type { Shortcut } from "../../parts/shortcuts";
import { BigPane } from "./big";
import { CircuitPane } from "./circuit";
import { Chosen, experimentOf, type LogicClient } from "./client";
import { GatesPane } from "./gates";
import { GridPane } from "./grid";
import { OwnPane } from "./own";
import { PopulationPane } from "./population";
import type { Experiment, PopulationView } from "./protocol";
import { Turns } from "../shared/asking";
import * as text from "./text";

export class LogicView implements View {
  readonly bands: Band[];
  readonly keys: Shortcut[];
  readonly otherKeys = [
    { shown: "← ↑ → ↓", does: "on a grid: move the cursor; enter damages or draws" },
    { shown: "space", does: "on the grid: run or pause; . makes one step, ⌫ resets" },
    { shown: "← ↑ → ↓", does: "on the gates and the circuit: move between gates; + and − zoom the circuit" },
  ];
  private readonly client: LogicClient;
  private readonly chosen = new Chosen();
  private readonly grid: GridPane;
  private readonly gates: GatesPane;
  private readonly population: PopulationPane;
  private readonly circuit: CircuitPane;
  private readonly big: BigPane;
  private readonly own: OwnPane;
  private newest: PopulationView | undefined;
  private readonly runs = new Turns();

  constructor(private readonly page: RoomPage<LogicClient>) {
    const { announcer } = page;
    const client: LogicClient = page.client;
    this.client = client;
    const { chosen } = this;
    this.grid = new GridPane(client, chosen, announcer, () => this.circuit.refreshGrid());
    this.gates = new GatesPane(client, chosen);
    this.circuit = new CircuitPane(client, chosen, announcer, this.grid);
    this.big = new BigPane(client, chosen, announcer);
    this.population = new PopulationPane(
      client,
      chosen,
      announcer,
      (picked) => {
        this.grid.changed(picked);
        this.gates.changed();
      },
      (view) => {
        this.newest = view;
      },
    );
    const own = (rule: boolean): Variant =>
      client.room.variants.find(({ about }) => (about as Experiment).own && (about as Experiment).rule === rule)!;
    this.own = new OwnPane(
      own(false),
      own(true),
      () => this.grid.learned,
      (variant, knobs) => {
        page.begin(variant, knobs);
        scrollTo({ top: 0, behavior: calm() ? "auto" : "smooth" });
      },
    );
    this.bands = [
      { name: "circuit-band", heading: "The circuit", element: this.circuit.element, place: "before knobs" },
      { name: "big-band", heading: "The circuit on a big grid", element: this.big.element, place: "before knobs" },
      { name: "own-band", heading: "Your own target", element: this.own.element, place: "before knobs" },
    ];
    this.keys = [{ key: "c", shown: "c", does: "go to the grid", run: () => this.grid.focus() }];
  }

  first(curves: HTMLElement): HTMLElement {
    return h("div.workbench", this.grid.element, h("div.findings.stack", curves, this.gates.element), this.population.element);
  }

  headline(): string {
    return text.title(experimentOf(this.client));
  }

  explanations(): Explanation[] {
    return text.explanations(experimentOf(this.client));
  }

  status(present: History): string {
    const { progress } = this.page;
    const after = ({ train_s, counts }: Progress): string =>
      `After ${seconds(train_s)} of training (${words(counts[0] ?? 0)} ${this.page.unit})`;
    // The status and the chart show the result of the newest test. The results of single members are not comparable, because they come from
    // other grids.
    const [test, right] = [present.tests.at(-1), present.test("perfect")];
    if (!test || right === undefined) return `${after(progress)}: no test yet.`;
    const { newest } = this;
    const attempts = newest?.ended ? ` ${newest.perfect} of ${newest.ended} attempts succeeded.` : "";
    const cells = right === 1 ? "no wrong cells" : `${percent(right)} of cells right`;
    return `${after(test.progress)}: the best circuit has ${cells}.${attempts}`;
  }

  refresh(): void {
    this.population.refresh();
  }

  began(_: Began): void {
    this.newest = undefined;
    this.chosen.pick(undefined);
    this.chosen.best = 0;
    this.chosen.perfect = false;
    this.chosen.shows = experimentOf(this.client).shows;
    for (const part of [this.population, this.gates, this.circuit, this.big, this.grid]) part.begin();
    const stale = this.runs.take();
    void this.client
      .ask({ ask: "automaton" })
      .then((automaton) => {
        if (stale()) return;
        this.chosen.shows = automaton.shows;
        this.gates.setAutomaton(automaton);
        this.grid.setAutomaton(automaton);
      })
      .catch(() => {}); // the run has ended
  }
}
