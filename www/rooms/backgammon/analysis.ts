// Analysis of a position from an id or from the editor. Without dice, the pane shows the outcome probabilities and the cube decision. With
// dice, it shows the ranked moves.

import type { Announcer } from "../../parts/announce";
import { h } from "../../parts/dom";
import { reveal } from "../../parts/tabs";
import { Turns } from "../../parts/requests";
import type { Backgammon } from "./client";
import type { Roll } from "./dice";
import { Findings } from "./findings";
import { textOf } from "../../run/notice";
import { PositionForm } from "./position";
import { unfold } from "./tree";

export class AnalysisPane {
  readonly element: HTMLElement;
  readonly form: PositionForm;
  private readonly findings: Findings;
  /** Marks questions to the worker as stale when a newer question is asked. */
  private readonly questions = new Turns();
  private asked = false;

  constructor(
    private readonly client: Backgammon,
    private readonly announcer: Announcer,
  ) {
    this.form = new PositionForm(
      client,
      () => void this.ask(),
      () => void this.ask(true),
    );
    this.findings = new Findings(this.form.editor.board);
    this.element = h("div.analysis", [
      this.form.element,
      h("div.bench", h("div", this.form.editor.element, this.findings.under), this.findings.moves, this.findings.replying),
    ]);
  }

  /** Analyses the default position, unless a position was analysed before or the editor is open. */
  begin(): void {
    if (!this.asked && !this.form.editor.editing) void this.ask(true);
  }

  /** Opens the position of a link. Rejects if `id` is invalid. */
  async open(id: string): Promise<void> {
    // `asked` is set before the request. Otherwise `begin` could analyse the default position during the request.
    this.asked = true;
    this.questions.take();
    const { xgid, dice } = await this.form.open(id);
    this.show(xgid, dice);
  }

  show(position: string, dice: Roll | null): void {
    this.form.set(position, dice);
    reveal(this.element);
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
      const { run } = this.form.who;
      const analysis = await this.client.ask({ ask: "analyse", request }, run);
      // An open editor uses the same board, so the analysis is not shown.
      if (stale() || this.form.editor.editing) return;
      const words = this.findings.show(analysis);
      if (!quietly) this.announcer.say(words, "analysis");
      const asked: Pick<Backgammon, "ask"> = { ask: (question) => this.client.ask(question, run) };
      void unfold(asked, this.findings.tree, request.who, 0, stale, (id) => this.findings.followed(id));
    } catch (error) {
      if (stale()) return;
      this.form.refuse(textOf(error));
      this.findings.clear();
    }
  }
}
