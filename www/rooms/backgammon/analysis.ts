// Any position by its id, or made by hand: what is expected of it, and with dice every move ranked.

import type { Announcer } from "../../parts/announce";
import { h } from "../../parts/dom";
import { Turns } from "../shared/asking";
import type { Backgammon } from "./client";
import type { Roll } from "./dice";
import { Findings } from "./findings";
import { textOf } from "../../run/notice";
import { PositionForm } from "./position";
import { unfold } from "./tree";

export class AnalysisPane {
  readonly element: HTMLElement;
  readonly form: PositionForm;
  private readonly findings = new Findings();
  /** A late answer to an older question is dropped. */
  private readonly questions = new Turns();
  private asked = false;

  constructor(
    private readonly client: Backgammon,
    private readonly announcer: Announcer,
  ) {
    this.form = new PositionForm(client, () => void this.ask());
    this.element = h("div.analysis", [
      h("p.small", [
        "GNU Backgammon's position id, alone (money play) or with its match id, or an XGID, also within the text that these programs " +
          "copy; seen by the player who rolls. Without dice the position itself is judged, and what to do with the cube.",
      ]),
      ...this.form.elements,
      this.findings.element,
    ]);
  }

  /** Asks what the boxes say where nobody has asked anything yet, so that there is something to see. */
  begin(): void {
    if (!this.asked) void this.ask(true);
  }

  /** Opens what a link carried; a bad one is told beside the box as any other. */
  async open(id: string): Promise<void> {
    // Before anything is asked, so that nothing else is shown first.
    this.asked = true;
    this.questions.take();
    const { xgid, dice } = await this.form.open(id);
    this.show(xgid, dice);
  }

  show(position: string, dice: Roll | null): void {
    this.form.set(position, dice);
    this.element.scrollIntoView({ block: "start" });
    this.form.focus();
    void this.ask();
  }

  private async ask(quietly = false): Promise<void> {
    this.asked = true;
    const stale = this.questions.take();
    const request = await this.form.request(stale);
    if (stale()) return;
    if (!request) return this.findings.clear();
    try {
      const analysis = await this.client.ask({ ask: "analyse", request });
      if (stale()) return;
      const words = this.findings.show(analysis);
      if (!quietly) this.announcer.say(words, "analysis");
      void unfold(this.client, this.findings.tree, request.who, stale, (id) => this.findings.followed(id));
    } catch (error) {
      if (stale()) return;
      this.form.refuse(textOf(error));
      this.findings.clear();
    }
  }
}
