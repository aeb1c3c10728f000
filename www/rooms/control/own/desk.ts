// Connects the editor pane with the page. The worker checks the pane's texts, trains in them, and draws the preview of the text. Import
// this module dynamically, because it contains the editor.

import { textOf } from "../../../run/notice";
import type { Event as RunEvent } from "../../../run/protocol";
import { animate, calm } from "../../../parts/loop";
import { Asker } from "../../../parts/requests";
import type { RoomPage } from "../../../parts/room";
import type { Step } from "../../../parts/tour";
import type { ControlClient } from "../client";
import type { Preview } from "../protocol";
import { OwnPane } from "./pane";

/** Tour of a first change to a file. */
const REWARD_TOUR: Step[] = [
  {
    at: ".own-writing",
    heading: "The reward",
    words:
      "The method step returns the reward and whether the episode is over. The agent learns whatever makes the sum of its rewards large.",
  },
  {
    at: ".own-writing",
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

/** Minimum time between two pictures of the preview, in ms. With reduced motion, the picture changes once a second. */
const PREVIEW_MS = 50;
const CALM_MS = 1000;

/**
 * Pictures beside the editor: those of the run, the preview of another text (`file`), or the pictures of the run with a sentence about a
 * text that has no picture (`both`).
 */
export type Pictures = "run" | "file" | "both";

export class Desk {
  readonly element: HTMLElement;
  private readonly pane: OwnPane;
  /** Resolves when the first file is open. */
  private readonly begun: Promise<void>;
  /** Text of the file in which the run trains; undefined until it is known. */
  private trained: string | undefined;
  private readonly asker = new Asker(() => (calm() ? CALM_MS : PREVIEW_MS));
  private askedMs = 0;
  /** Texts of the shown notices about the file. They leave when another run begins or is requested. */
  private readonly noticed: string[] = [];

  /** Calls `shows` with the pictures to show, whenever they may have changed. */
  constructor(
    private readonly page: RoomPage<ControlClient>,
    private readonly shows: (pictures: Pictures) => void,
  ) {
    const { client, around } = page;
    this.pane = new OwnPane(around.notices, {
      check: async (text) => (await client.problems(text)).map(({ end, ...place }) => ({ ...place, endColumn: end })),
      start: (text, name) => void this.start(new File([text], name)),
      edited: () => this.compare(),
      tour: () => page.beginTour(REWARD_TOUR),
    });
    this.element = this.pane.element;
    this.begun = this.open();
    animate(this.pane.sight, (nowMs) => this.preview(nowMs));
  }

  /** Opens the file of a new run, such as the run of a link. A continued run leaves the file open that was open last. */
  private async open(): Promise<void> {
    const isNew = this.page.progress.iteration === 0;
    await this.read();
    const { trained: text } = this;
    await this.pane.begin(isNew && text !== undefined ? { name: this.page.client.variant.name, text } : undefined);
  }

  /** Withdraws the notices about the run before, and compares the text in the editor with that of the run that has begun. */
  async began(): Promise<void> {
    this.withdraw();
    await this.read();
    this.compare();
  }

  private async read(): Promise<void> {
    const bytes = await this.page.client.data().catch(() => undefined);
    this.trained = bytes && new TextDecoder().decode(bytes).replaceAll(/\r\n?/g, "\n");
  }

  private compare(): void {
    const differs = this.trained !== undefined && this.pane.editor.text !== this.trained;
    this.shows(!differs ? "run" : this.pane.hasPicture ? "file" : "both");
  }

  private preview(nowMs: number): void {
    const { text } = this.pane.editor;
    const dt_s = (nowMs - this.askedMs) / 1000;
    const question = () => this.page.client.ask({ ask: "preview", text, dt_s });
    const show = (preview: Preview): void => {
      this.pane.show(preview);
      this.compare();
    };
    if (this.asker.ask(question, show)) this.askedMs = nowMs;
  }

  /** If an error in the environment's rules has stopped training, shows the error at its line in the editor. */
  take(event: RunEvent): void {
    if (event.kind !== "notice" || event.level !== "error") return;
    this.noticed.push(event.text);
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

  private withdraw(): void {
    for (const text of this.noticed.splice(0)) this.page.around.notices.withdraw(text);
  }

  private async start(file: File): Promise<void> {
    this.withdraw();
    await this.page.learnFrom(file, {}).catch((error) => {
      this.noticed.push(textOf(error));
      this.page.around.notices.show("error", textOf(error), "");
    });
  }
}
