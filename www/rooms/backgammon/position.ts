// Form for an analysis: position id, dice, player, look-ahead, and the editor.

import { button, form, h, id, labelled, line, markInvalid, write } from "../../parts/dom";
import type { Backgammon } from "./client";
import { DICE_ASKED, diceField, readDice, type Roll } from "./dice";
import { Editor } from "./editor";
import { capital } from "../../parts/format";
import { pageLife } from "../../parts/life";
import { lookAheadField, WhoField } from "./players";
import type { Answers, Question, Standing } from "./protocol";

const START = "4HPwATDgc/ABMA";

export type Asked = (Question & { ask: "analyse" })["request"];
type Read = Answers["read_id"];

export class PositionForm {
  readonly elements: HTMLElement[];
  private readonly error = h("p.error", { role: "alert", id: id("error") });
  private readonly position = line("position", { value: START, class: "position", "aria-describedby": this.error.id });
  private readonly dice = diceField({ value: "3 1", "aria-describedby": this.error.id });
  readonly who = new WhoField("By", false);
  private readonly lookAhead = lookAheadField("Look-ahead", 100);
  private readonly editor: Editor;
  private readonly edit = button("Edit the position", () => this.openEditor(), { "aria-expanded": "false" });
  /** The id that was last read; undefined if the id must be read again. Reading fills the dice field. */
  private readText: string | undefined = START;
  /** True if the visitor has typed dice since the id was read. */
  private diceTouched = false;
  private reading: Promise<void> = Promise.resolve();
  private readonly life = pageLife();

  constructor(
    private readonly client: Backgammon,
    private readonly ask: () => void,
  ) {
    this.editor = new Editor(client, (standing) => this.closeEditor(standing));
    this.position.addEventListener("change", () => void this.read());
    this.dice.addEventListener("input", () => (this.diceTouched = true));
    this.elements = [
      form("analysis-form wrap foot", ask, [
        labelled("Position id, match id or XGID", this.position, "field grow"),
        labelled("Dice (may be empty)", this.dice),
        this.who.element,
        this.lookAhead.element,
        h("button.strong", { type: "submit" }, "Analyse"),
        this.edit,
      ]),
      this.error,
      this.editor.element,
    ];
  }

  /** Returns the request for an analysis. Returns undefined if the dice are invalid or if `stale` returns true. */
  async request(stale: () => boolean): Promise<Asked | undefined> {
    this.clear();
    await this.read();
    if (stale()) return undefined;
    const dice = readDice(this.dice.value);
    if (dice === undefined) return void this.refuse(DICE_ASKED);
    return { id: this.position.value.trim(), dice, who: this.who.who, evals: this.lookAhead.evals() };
  }

  refuse(words: string): void {
    markInvalid(/\bdie\b|\bdice\b/.test(words) ? this.dice : this.position, true);
    write(this.error, capital(words));
  }

  clear(): void {
    write(this.error, "");
    for (const input of [this.position, this.dice]) markInvalid(input, false);
  }

  /** Sets the id of a link and reads it. Rejects if the id is invalid. */
  async open(id: string): Promise<Read> {
    this.position.value = id;
    this.readText = undefined;
    return this.client.ask({ ask: "read_id", id });
  }

  set(position: string, dice: Roll | null): void {
    this.position.value = this.readText = position;
    this.dice.value = dice ? dice.join(" ") : "";
  }

  focus(): void {
    this.position.focus({ preventScroll: true });
  }

  /** Reads a new id and copies its dice into the dice field. A request for an analysis waits for this. */
  private read(): Promise<void> {
    const text = this.position.value.trim();
    if (text === this.readText) return this.reading;
    this.readText = text;
    this.diceTouched = false;
    return (this.reading = this.client.ask({ ask: "read_id", id: text }).then(
      (standing) => {
        // Dice that the visitor typed are not replaced. A bare position id contains no dice.
        if (this.life.aborted || text !== this.readText || standing.bare || this.diceTouched) return;
        this.dice.value = standing.dice ? standing.dice.join(" ") : "";
      },
      () => {}, // the analysis reports an invalid id
    ));
  }

  private async openEditor(): Promise<void> {
    if (!this.editor.element.hidden) return this.closeEditor(undefined);
    const standing = await this.client
      .ask({ ask: "read_id", id: this.position.value.trim() })
      .catch(() => this.client.ask({ ask: "read_id", id: START }));
    if (this.life.aborted) return;
    this.edit.setAttribute("aria-expanded", "true");
    const dice = readDice(this.dice.value);
    this.editor.open({ ...standing, dice: dice?.every((n) => n >= 1 && n <= 6) ? dice : null });
  }

  private closeEditor(standing: Standing | undefined): void {
    this.editor.close();
    this.edit.setAttribute("aria-expanded", "false");
    this.edit.focus();
    if (!standing) return;
    this.set(standing.xgid, standing.dice);
    this.ask();
  }
}
