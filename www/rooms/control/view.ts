// The control room's view: the stage, the state plane, the network, and the texts. The stage contains the training environments and a
// single environment that is shown large.

import { floats } from "../../run/floats";
import type { Began, Event as RunEvent, Variant } from "../../run/protocol";
import type { ChartWords } from "../../parts/curves";
import { Choice, h, write } from "../../parts/dom";
import { count } from "../../parts/format";
import type { Late } from "../../parts/late";
import { pageLife } from "../../parts/life";
import { recall, remember } from "../../parts/prefs";
import type { History } from "../../parts/history";
import type { Explanation, RoomPage, View } from "../../parts/room";
import type { Section } from "../../parts/places";
import type { Shortcut } from "../../parts/shortcuts";
import { reveal } from "../../parts/tabs";
import type { UnitsState } from "../../parts/units";
import type { ControlClient } from "./client";
import { EnvironmentsView } from "./environments";
import { isPython } from "./own/python";
import { OWN, OwnSection } from "./own/section";
import type { Plane } from "./plane";
import type { Network } from "./network";
import type { Environment } from "./protocol";
import { SECTIONS } from "./sections";
import { SingleEnvironment } from "./stage";
import * as text from "./text";
import { worldOf } from "./worlds";
import { CLASSES, type World } from "./worlds/world";

/** Number of environments that are drawn if the visitor does not draw all. */
const FEW = 512;
const LABELS_MS = 4000;

const environmentOf = (variant: Variant): Environment => variant.about as Environment;

export class ControlView implements View {
  readonly stage: HTMLElement;
  readonly pictured = ".environments, .stage-field";
  readonly sections: Section[];
  readonly units: UnitsState;
  readonly network: Late<Network>;
  readonly ownVariant = OWN;
  readonly drops = {
    words: "Drop a saved run, or a Python file of an environment",
    take: (file: File): void => void this.drop(file),
  };
  readonly keys: Shortcut[];
  readonly otherKeys = [
    { shown: "← ↑ →", does: "at the controls: steer; a, w and d do the same" },
    { shown: "esc", does: "at the controls: return them to the agent" },
    { shown: "← →", does: "on the single CartPole: push the cart, with shift the tip of the pole" },
  ];
  private readonly client: ControlClient;
  private readonly environmentsTitle = h("h2.label", { id: "environments-title" });
  private readonly legend = h("ul.legend.wrap");
  private readonly few: HTMLElement;
  private readonly environments: EnvironmentsView;
  private readonly plane: Late<Plane>;
  private readonly stageTitle = h("h2.label", { id: "stage-title" });
  private readonly large: SingleEnvironment;
  private readonly code: OwnSection;
  // Until the first event, the view uses the room's first variant.
  private environment: Environment;
  private world: World;
  private envs = 0;
  private labelsMs = 0;
  private readonly life = pageLife();

  constructor(private readonly page: RoomPage<ControlClient>) {
    const { announcer } = page;
    const client: ControlClient = page.client;
    this.client = client;
    this.environment = environmentOf(client.room.variants[0]!);
    this.world = worldOf(this.environment);
    this.plane = page.late(async () => {
      const { Plane } = await import("./plane");
      return () => this.newPlane(Plane);
    });
    this.environments = new EnvironmentsView(
      (player) => this.plane.part?.visit(player),
      () => client.ask({ ask: "frame" }),
    );
    this.few = this.fewOrAll();
    this.large = new SingleEnvironment(
      async (touch) => {
        const stage = await client.ask({ ask: "touch", touch });
        if (this.life.aborted) return stage;
        this.plane.part?.showLarge(stage.player.observation);
        this.code.show(stage.player);
        return stage;
      },
      (words, about) => announcer.say(words, about),
      () => this.goToLarge(),
    );
    this.stage = h("div.bench", [
      h("section.environments", { "aria-labelledby": this.environmentsTitle.id }, [
        h("div.head", this.environmentsTitle, this.few, this.legend),
        this.environments.element,
      ]),
      h("section.large", { "aria-labelledby": this.stageTitle.id }, this.stageTitle, this.large.element),
    ]);
    const step = (nowMs: number): void => void (this.large.driving || this.large.pass(nowMs));
    this.units = { words: "the single environment", samples: "recent states", play: step };
    this.network = page.late(async () => {
      const { Network } = await import("./network");
      return () => new Network(client);
    });
    this.code = new OwnSection(page, step);
    const plane: Section = {
      ...SECTIONS.plane,
      element: this.plane.element,
      shown: () => this.plane.show(),
    };
    this.sections = [plane, this.code.section];
    this.keys = [
      { key: "c", shown: "c", does: "take the controls of the single environment", run: () => this.large.toggle() },
      {
        key: "p",
        shown: "p",
        does: "go to the single environment",
        run: () => (this.goToLarge(), document.querySelector<HTMLElement>(".stage-field")?.focus()),
      },
      { key: "v", shown: "v", does: "state plane: policy, value or visits", run: () => this.turnPlane() },
    ];
    this.writeLabels();
  }

  /** Creates the state plane of the current run. */
  private newPlane(Part: typeof Plane): Plane {
    const { client, environment, world } = this;
    const plane = new Part(
      async (width, height, axes) => {
        const { policy, values, ...picture } = await client.ask({ ask: "picture", width, height, axes });
        return { ...picture, policy: floats(policy), values: floats(values) };
      },
      (nowMs) => {
        this.environments.play(nowMs);
        if (!this.large.driving) this.large.pass(nowMs);
      },
    );
    plane.progressed(client.progress?.iteration ?? 0);
    plane.begin({ environment, world });
    return plane;
  }

  private goToLarge(): void {
    reveal(this.large.element);
    this.large.element.scrollIntoView({ block: "nearest" });
  }

  // ---- words

  nameOf(variant: Variant): string {
    const environment = environmentOf(variant) as Environment | null;
    return environment && variant.id !== OWN.variant.id ? worldOf(environment).name : variant.name;
  }

  headline(): string {
    return this.world.title;
  }

  async explanations(): Promise<Explanation[]> {
    const { explanations } = await import("./explanations");
    return explanations(this.world, this.environment);
  }

  charts(): Record<string, ChartWords> {
    const { about, most } = text.entropy(this.environment);
    return {
      return: { about: this.world.returnsShort, span: this.environment.returns },
      entropy: { about, span: most === undefined ? undefined : [0, most] },
    };
  }

  status(present: History): string {
    return present.solved ? "" : this.world.lead(count(this.envs));
  }

  spoken(): undefined {}

  /** Returns the number of environment steps per second at real-time speed, over all environments. */
  realTime(): number {
    return this.envs / this.environment.step_s;
  }

  // ---- events of the run

  began({ knobs }: Began, another: boolean): void {
    const environment = environmentOf(this.client.variant);
    this.envs = Number(knobs.envs ?? 0);
    const changed = another || environment.id !== this.environment.id;
    this.environment = environment;
    this.suit(worldOf(environment), changed);
    // The world of environments from files is loaded when the first run in such an environment begins.
    if (this.client.variant.id === OWN.variant.id)
      void import("./worlds/file").then(({ fileWorld }) => this.environment === environment && this.suit(fileWorld(environment), true));
    this.code.begin(environment);
    this.network.part?.begin();
  }

  /** Sets the world that draws the environment. `labels` is true if the page's names and colours must be written again. */
  private suit(world: World, labels: boolean): void {
    const { environment } = this;
    this.world = world;
    if (labels) this.writeLabels();
    this.environments.begin(world);
    this.plane.part?.begin({ environment, world });
    this.large.begin({ environment, world });
  }

  private async drop(file: File): Promise<void> {
    if (isPython(file)) await this.code.drop(file);
    else
      this.page.around.notices.show("warning", `${file.name} is no saved run and no Python file.`, "Choose a .safetensors or a .py file.");
  }

  take(event: RunEvent): void {
    this.code.take(event);
    if (event.kind === "metrics") this.plane.part?.progressed(event.progress.iteration);
  }

  refresh(): void {
    this.writeEnvironmentsTitle();
    const now = performance.now();
    if (now - this.labelsMs < LABELS_MS || this.environments.shown === 0) return;
    this.labelsMs = now;
    const { shown } = this.environments;
    const { legend, many } = this.world;
    this.environments.element.setAttribute(
      "aria-label",
      `${shown} of ${count(this.envs)} ${many} in training; ${legend[3]}: ${this.environments.from(3)}, ${legend[0]}: ` +
        `${shown - this.environments.from(1)}`,
    );
  }

  private writeLabels(): void {
    const { world } = this;
    this.stage.style.setProperty("--shape", String(world.large.shape));
    this.legend.setAttribute("aria-label", "Colours");
    this.legend.replaceChildren(...world.legend.map((words, k) => h("li", { style: `--hue:var(--${CLASSES[k]!})` }, h("i"), words)));
    write(this.stageTitle, `A single ${world.one} to try yourself`);
    this.writeEnvironmentsTitle();
  }

  private writeEnvironmentsTitle(): void {
    const { shown } = this.environments;
    const { many } = this.world;
    const all = shown === 0 || shown === this.envs;
    write(this.environmentsTitle, all ? `All ${count(this.envs)} ${many}` : `${count(shown)} of ${count(this.envs)} ${many}`);
    this.few.hidden = this.environments.most <= FEW;
  }

  /**
   * Creates the choice between drawing `FEW` environments and drawing all of them. Until the visitor chooses, machines with at most four
   * cores draw `FEW`.
   */
  private fewOrAll(): HTMLElement {
    const kept = recall("environments");
    const all = kept ? kept === "all" : (navigator.hardwareConcurrency || 1) > 4;
    const want = (drawn: "few" | "all"): void => this.environments.want(drawn === "few" ? FEW : Infinity);
    const drawn = all ? "all" : "few";
    want(drawn);
    const { element } = new Choice(
      "Drawn environments",
      [
        { value: "few", words: String(FEW), label: `Draw ${FEW}` },
        { value: "all", words: "All", label: "Draw all" },
      ],
      drawn,
      (value) => {
        remember("environments", value);
        want(value);
      },
    );
    element.hidden = true;
    return element;
  }

  private async turnPlane(): Promise<void> {
    reveal(this.plane.element);
    this.plane.show();
    await this.plane.loaded();
    const { part } = this.plane;
    part?.turn();
    if (part) this.page.announcer.say(`The plane shows ${part.shows}.`, "plane");
  }
}
