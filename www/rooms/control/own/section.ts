// The section with the visitor's own environments. It loads the editor when it is shown. A module without the compiler offers to open the
// module with it.

import type { Event as RunEvent } from "../../../run/protocol";
import { textOf } from "../../../run/notice";
import { button, h } from "../../../parts/dom";
import { Late } from "../../../parts/late";
import { animate } from "../../../parts/loop";
import type { OwnVariant, RoomPage } from "../../../parts/room";
import type { Section } from "../../../parts/places";
import { reveal } from "../../../parts/tabs";
import type { Step } from "../../../parts/tour";
import type { ControlClient } from "../client";
import type { Body, Environment } from "../protocol";
import type { OwnPane } from "./pane";

/** The variant before its first run. */
export const OWN: OwnVariant = {
  variant: {
    id: "own",
    name: "Your environment",
    summary: "Write an environment in Python, and watch an agent learn it.",
    goal: null,
    sweep_budget: 0,
    about: null,
  },
  data: async () => (await import("./newest")).newest(),
};

/** Tour of a first change to a file. */
const REWARD_TOUR: Step[] = [
  {
    at: ".own-desk",
    heading: "The reward",
    words:
      "The method step returns the reward and whether the episode is over. The agent learns whatever makes the sum of its rewards large.",
  },
  {
    at: ".own-desk",
    heading: "Change it",
    words: "Reward something else, for example each step to the left. Then press Train, or Ctrl+Enter.",
    change: true,
  },
  {
    at: ".returns",
    heading: "Watch",
    words: "A new agent learns from your reward. The grey curve is the run before. The two rewards differ, so compare the behaviour too.",
  },
];

/** Place of an error in the text of a notice. */
const PLACE = /\bline (\d+): (.+)$/s;

export class OwnSection {
  readonly section: Section;
  private readonly late: Late<OwnPane>;
  private environment: Environment | undefined;

  /** `step` advances the single environment, whose picture is beside the editor. */
  constructor(
    private readonly page: RoomPage<ControlClient>,
    step: (nowMs: number) => void,
  ) {
    const { client, around } = page;
    this.late = new Late(
      async () => {
        const { OwnPane } = await import("./pane");
        return () => {
          const pane = new OwnPane(around.notices, {
            check: async (text) => (await client.problems(text)).map(({ end, ...place }) => ({ ...place, endColumn: end })),
            start: (text, name) => void this.start(new File([text], name)),
            tour: () => page.beginTour(REWARD_TOUR),
          });
          void pane.begin();
          animate(pane.picture.element, step);
          return pane;
        };
      },
      (error) => around.notices.show("error", textOf(error), "Check the connection and open the section again."),
    );
    const here = client.has(OWN.variant.id);
    const open = button("Write your own environment", () => page.chooseOwn(), { class: "strong" });
    const invitation = h(
      "div.card",
      h("p", `${OWN.variant.summary} Nothing is installed, and the text stays on this machine.`),
      h("p.row", open),
    );
    this.section = {
      tab: "explore",
      name: "code",
      heading: "Your environment",
      words: "python editor code custom world",
      element: here ? this.late.element : invitation,
      shown: () => here && this.late.show(),
    };
  }

  begin(environment: Environment): void {
    this.environment = environment;
  }

  show({ shapes }: Body): void {
    const size = this.environment?.size;
    if (size) this.late.part?.picture.show({ size, shapes });
  }

  /** Shows the error of the rules that stopped training at its line in the editor. */
  take(event: RunEvent): void {
    if (event.kind !== "notice" || event.level !== "error") return;
    const [, line, message] = PLACE.exec(event.text) ?? [];
    if (line && message) this.late.part?.editor.show([{ line: Number(line), column: 1, message }]);
  }

  /** Takes a Python file that the visitor has dropped. */
  async drop(file: File): Promise<void> {
    reveal(this.section.element);
    this.late.show();
    await this.late.loaded();
    await this.late.part?.take(file);
  }

  private async start(file: File): Promise<void> {
    await this.page.learnFrom(file, {}).catch((error) => this.page.around.notices.show("error", textOf(error), ""));
  }
}
