// The control room's view: the stage, the state plane, the network, and the texts. The stage contains the training environments and a
// single environment that is shown large.

import { floats } from "../../run/floats";
import type { Began, Event as RunEvent, Variant } from "../../run/protocol";
import type { ChartWords } from "../../parts/curves";
import { button, Choice, h, write } from "../../parts/dom";
import { count } from "../../parts/format";
import type { Late } from "../../parts/late";
import { pageLife } from "../../parts/life";
import { recall, remember } from "../../parts/prefs";
import type { History } from "../../parts/history";
import type { Explanation, RoomPage, View } from "../../parts/room";
import type { Section } from "../../parts/places";
import type { Shortcut } from "../../parts/shortcuts";
import { reveal } from "../../parts/tabs";
import { SPEEDS } from "../../parts/transport";
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
import { CLASSES, type CrowdPictures, type World } from "./worlds/world";

/** Number of environments that are drawn if the visitor does not draw all. */
const FEW = 512;
/** Number of environments that are drawn in the first run of a first visit. */
const FIRST_DRAWN = 64;
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
  private readonly full = button("Full speed", () => this.goFull(), { class: "strong", title: "Train at full speed, and draw the crowd" });
  private readonly environments: EnvironmentsView;
  /** Pictures of small environments, in place of the drawing of the training environments. */
  private crowd: CrowdPictures | undefined;
  private readonly plane: Late<Plane>;
  private readonly stageTitle = h("h2.label", { id: "stage-title" });
  private readonly large: SingleEnvironment;
  private readonly code: OwnSection;
  // Until the first event, the view uses the room's first variant.
  private environment: Environment;
  private world: World;
  private envs = 0;
  private drawn: "few" | "all";
  /** True in the first run of a first visit, in which few environments learn in slow motion. */
  private slow: boolean;
  /** True once a run has begun. */
  private begun = false;
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
    // The address of a first visit contains no settings.
    this.slow = page.isFirstVisit && !location.hash.includes("?");
    const kept = recall("environments");
    this.drawn = (kept ? kept === "all" : (navigator.hardwareConcurrency || 1) > 4) ? "all" : "few";
    this.few = this.fewOrAll();
    this.large = new SingleEnvironment(
      async (touch) => {
        const stage = await client.ask({ ask: "touch", touch });
        if (this.life.aborted) return stage;
        this.plane.part?.showLarge(stage.player.observation);
        return stage;
      },
      (words, about) => announcer.say(words, about),
      () => this.goToLarge(),
    );
    this.code = new OwnSection(page, () => this.stage);
    this.stage = h("div.bench", [
      this.code.element,
      h("section.environments", { "aria-labelledby": this.environmentsTitle.id }, [
        h("div.head", this.environmentsTitle, this.few, this.full, this.legend),
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
    this.want();
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

  began({ knobs, progress }: Began, another: boolean): void {
    const environment = environmentOf(this.client.variant);
    this.envs = Number(knobs.envs ?? 0);
    if (this.slow && !this.begun && progress.iteration === 0) this.page.setSpeed(0);
    else if (this.slow) this.goFull();
    this.begun = true;
    const changed = another || environment.id !== this.environment.id;
    this.environment = environment;
    this.suit(worldOf(environment), changed);
    // The world of environments from files is loaded when the first run in such an environment begins.
    if (this.client.variant.id === OWN.variant.id)
      void import("./worlds/file").then(({ fileWorld }) => this.environment === environment && this.suit(fileWorld(environment), true));
    this.code.begin();
    this.network.part?.begin();
  }

  /** Sets the world that draws the environment. `labels` is true if the page's names and colours must be written again. */
  private suit(world: World, labels: boolean): void {
    const { environment } = this;
    this.world = world;
    if (labels) this.writeLabels();
    this.environments.begin(world);
    this.crowd?.close();
    this.crowd = world.crowd?.((dt_s) => this.client.ask({ ask: "crowd", dt_s }));
    this.stage.querySelector(".environments > canvas")!.replaceWith((this.crowd ?? this.environments).element);
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
    const { crowd, environments } = this;
    const [view, shown] = crowd ? [crowd, crowd.count] : [environments, environments.shown];
    if (now - this.labelsMs < LABELS_MS || shown === 0) return;
    this.labelsMs = now;
    const { legend, many } = this.world;
    const what = crowd ? `${shown} small ${many}, in which the policy acts` : `${shown} of ${count(this.envs)} ${many} in training`;
    view.element.setAttribute("aria-label", `${what}; ${legend[3]}: ${view.from(3)}, ${legend[0]}: ${shown - view.from(1)}`);
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
    const { slow, crowd } = this;
    const { shown } = this.environments;
    const { many } = this.world;
    const some = shown === 0 || shown === this.envs ? `All ${count(this.envs)} ${many}` : `${count(shown)} of ${count(this.envs)} ${many}`;
    write(this.environmentsTitle, crowd ? "The current policy in many games" : slow ? `${some}, in slow motion` : some);
    this.few.hidden = slow || !!crowd || this.environments.most <= FEW;
    this.full.hidden = !slow;
  }

  /** Ends the slow motion of a first visit. */
  private goFull(): void {
    this.slow = false;
    this.page.setSpeed(SPEEDS.length - 1);
    this.want();
    this.writeEnvironmentsTitle();
  }

  private want(): void {
    this.stage.classList.toggle("slow", this.slow);
    this.environments.want(this.slow ? FIRST_DRAWN : this.drawn === "few" ? FEW : Infinity);
  }

  /**
   * Creates the choice between drawing `FEW` environments and drawing all of them. Until the visitor chooses, machines with at most four
   * cores draw `FEW`.
   */
  private fewOrAll(): HTMLElement {
    const { element } = new Choice<"few" | "all">(
      "Drawn environments",
      [
        { value: "few", words: String(FEW), label: `Draw ${FEW}` },
        { value: "all", words: "All", label: "Draw all" },
      ],
      this.drawn,
      (value) => {
        remember("environments", value);
        this.drawn = value;
        this.want();
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
