// Analysis of a position, which an id or the editor defines. Without dice it shows the outlook of the position, with dice the ranked moves.

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
  /** Marks each question as stale when a newer one is asked. */
  private readonly questions = new Turns();
  private asked = false;

  constructor(
    private readonly client: Backgammon,
    private readonly announcer: Announcer,
  ) {
    this.form = new PositionForm(client, () => void this.ask());
    this.element = h("div.analysis", [
      h("p.small", [
        "Paste an XGID or a GNU Backgammon position id, with or without a match id. The position is seen by the player on roll. " +
          "Without dice you get the cube decision.",
      ]),
      ...this.form.elements,
      this.findings.element,
    ]);
  }

  /** Analyses the default position, unless the page has analysed a position before. */
  begin(): void {
    if (!this.asked) void this.ask(true);
  }

  /** Opens the position in a link. Rejects if its id is invalid. */
  async open(id: string): Promise<void> {
    // Set before the request, so that `begin` does not analyse the default position meanwhile.
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
