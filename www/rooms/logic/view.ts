// The logic room's view. The stage shows the grid of the automaton, its circuit, or the circuit on a million cells. The gates are beside
// the stage. The tabs contain the circuit and the big grid with all their tools, the population, and the visitor's own target.

import type { Began, Variant } from "../../run/protocol";
import type { History } from "../../parts/history";
import type { Explanation, RoomPage, View } from "../../parts/room";
import type { Section } from "../../parts/places";
import type { Shortcut } from "../../parts/shortcuts";
import { reveal } from "../../parts/tabs";
import type { TrainedAgent } from "../../parts/trained";
import { TrainedChoice } from "../../parts/trained-choice";
import { BigPane } from "./big";
import { CircuitPane, CircuitStage } from "./circuit";
import { Chosen, experimentOf, type LogicClient } from "./client";
import { GatesPane } from "./gates";
import { GridPane } from "./grid";
import { OwnPane } from "./own";
import { PopulationPane } from "./population";
import type { Experiment, PopulationView } from "./protocol";
import { SECTIONS } from "./sections";
import { LogicStage } from "./stage";
import { Turns } from "../../parts/requests";
import * as text from "./text";

export class LogicView implements View {
  readonly stage: HTMLElement;
  readonly pictured = ".stage-picture, .stage-facts";
  readonly beside: HTMLElement[];
  readonly sections: Section[];
  readonly keys: Shortcut[];
  readonly otherKeys = [
    { shown: "← ↑ → ↓", does: "on a grid: move the cursor; enter damages or draws" },
    { shown: "space", does: "on the grid: run or pause; . makes one step, ⌫ resets" },
    { shown: "← ↑ → ↓", does: "on the gates and the circuit: move between gates; + and − zoom the circuit" },
  ];
  private readonly client: LogicClient;
  private readonly onStage: LogicStage;
  private readonly circuitStage: CircuitStage;
  private readonly chosen: Chosen;
  private readonly trainedChoice = new TrainedChoice("Automaton", "Show", "circuit", () => this.choose());
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
    const chosen = new Chosen(client);
    this.chosen = chosen;
    this.grid = new GridPane(client, chosen, announcer, () => {
      for (const { live } of [this.circuit, this.circuitStage]) live.refreshGrid();
    });
    this.gates = new GatesPane(chosen);
    this.circuit = new CircuitPane(chosen, announcer, this.grid);
    this.circuitStage = new CircuitStage(chosen, this.grid, this.circuit.element, () => this.onStage.show("circuit"));
    this.big = new BigPane(chosen, announcer);
    this.population = new PopulationPane(
      client,
      chosen,
      announcer,
      (picked) => {
        if (picked) this.trainedChoice.choose("own");
        this.choose();
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
        page.showStage();
      },
    );
    this.onStage = new LogicStage(this.grid.element, this.circuitStage, this.big, this.trainedChoice, () => {
      this.trainedChoice.choose("own");
      this.choose();
    });
    this.stage = this.onStage.element;
    this.beside = [this.gates.element];
    this.sections = [
      { ...SECTIONS.circuit, element: this.circuit.element },
      { ...SECTIONS.big, element: this.big.element },
      { ...SECTIONS.population, element: this.population.element },
      { ...SECTIONS.own, element: this.own.element },
    ];
    this.keys = [
      { key: "c", shown: "c", does: "go to the grid", run: () => (reveal(this.stage), this.onStage.show("grid"), this.grid.focus()) },
    ];
  }

  headline(): string {
    return text.title(experimentOf(this.client));
  }

  async explanations(): Promise<Explanation[]> {
    const { explanations } = await import("./explanations");
    return explanations(experimentOf(this.client));
  }

  status(present: History): string {
    const { page, newest, client } = this;
    const { progress, unit } = page;
    const length = text.lengthLeft(client.variant.id, newest?.members.length ?? 0, progress);
    return [text.result(present, newest, progress, unit), length].filter(Boolean).join(" ");
  }

  refresh(): void {
    this.population.refresh();
    const { present, progress } = this.page;
    this.onStage.setGates(present?.test("perfect") === 1 ? present.test("gates") : undefined);
    this.onStage.offer(text.trainYours(this.client.variant.id, this.newest?.members.length ?? 0, progress));
  }

  trained(agent: TrainedAgent): void {
    this.trainedChoice.set(agent);
    this.choose();
  }

  /** Shows the automaton of the run that answers: the visitor's choice, or the default. */
  private choose(): void {
    const { answerer } = this.trainedChoice;
    if (answerer === this.chosen.of) return;
    this.chosen.of = answerer;
    this.grid.changed(true);
    this.gates.changed();
  }

  began(_: Began): void {
    this.newest = undefined;
    this.chosen.pick(undefined);
    this.chosen.best = 0;
    this.chosen.set(0, false);
    if (this.page.trained) this.trainedChoice.set(this.page.trained);
    this.chosen.of = this.trainedChoice.answerer;
    this.chosen.shows = experimentOf(this.client).shows;
    for (const part of [this.population, this.gates, this.circuit, this.circuitStage, this.big, this.grid]) part.begin();
    this.onStage.begin();
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
