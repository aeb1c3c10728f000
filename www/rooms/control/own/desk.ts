// Connects the editor pane with the page. The worker checks the pane's texts and trains in them, and the pane shows the picture of the
// single environment. Import this module dynamically, because it contains the editor.

import { textOf } from "../../../run/notice";
import type { Event as RunEvent } from "../../../run/protocol";
import { animate } from "../../../parts/loop";
import type { RoomPage } from "../../../parts/room";
import type { Step } from "../../../parts/tour";
import type { ControlClient } from "../client";
import type { Body } from "../protocol";
import { OwnPane } from "./pane";

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

/** Matches the line number and the message of an error in the text of a notice. */
const PLACE = /\bline (\d+): (.+)$/s;

export class Desk {
  readonly element: HTMLElement;
  private readonly pane: OwnPane;
  /** Resolves when the first file is open. */
  private readonly begun: Promise<void>;

  /** `step` advances the single environment, whose picture is beside the editor. */
  constructor(
    private readonly page: RoomPage<ControlClient>,
    step: (nowMs: number) => void,
  ) {
    const { client, around } = page;
    this.pane = new OwnPane(around.notices, {
      check: async (text) => (await client.problems(text)).map(({ end, ...place }) => ({ ...place, endColumn: end })),
      start: (text, name) => void this.start(new File([text], name)),
      tour: () => page.beginTour(REWARD_TOUR),
    });
    this.element = this.pane.element;
    this.begun = this.pane.begin();
    animate(this.pane.picture.element, step);
  }

  show(size: [number, number], { shapes }: Body): void {
    this.pane.picture.show({ size, shapes });
  }

  /** If an error in the environment's rules has stopped training, shows the error at its line in the editor. */
  take(event: RunEvent): void {
    if (event.kind !== "notice" || event.level !== "error") return;
    const [, line, message] = PLACE.exec(event.text) ?? [];
    if (line && message) this.pane.editor.show([{ line: Number(line), column: 1, message }]);
  }

  /**
   * Creates a file from a dropped file and opens it. Waits until the first file is open. Without this wait, the first file would be opened
   * later and would replace the dropped file in the editor.
   */
  async drop(file: File): Promise<void> {
    await this.begun;
    await this.pane.take(file);
  }

  private async start(file: File): Promise<void> {
    await this.page.learnFrom(file, {}).catch((error) => this.page.around.notices.show("error", textOf(error), ""));
  }
}
