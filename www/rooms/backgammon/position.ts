// Form for an analysis: position, dice, player, look-ahead, and the editor.

import { button, form, h, id, labelled, line, markInvalid, write } from "../../parts/dom";
import type { Backgammon } from "./client";
import { DICE_ASKED, diceField, readDice, type Roll } from "./dice";
import { Editor } from "./editor";
import { capital } from "../../parts/format";
import { pageLife } from "../../parts/life";
import { lookAheadField, WhoField } from "./players";
import { idIn, NO_ID } from "./pasted";
import type { Answers, Question, Standing } from "./protocol";

const START = "4HPwATDgc/ABMA";

export type Asked = (Question & { ask: "analyse" })["request"];
type Read = Answers["read_id"];

export class PositionForm {
  readonly element: HTMLElement;
  private readonly error = h("p.error", { role: "alert", id: id("error") });
  private readonly position = line("position", { value: START, class: "position", "aria-describedby": this.error.id });
  private readonly dice = diceField({ value: "3 1", "aria-describedby": this.error.id });
  readonly who = new WhoField("By", false);
  private readonly lookAhead = lookAheadField("Look-ahead", 100);
  readonly editor: Editor;
  private readonly edit = button("Edit the position", () => this.openEditor(), { "aria-expanded": "false" });
  /** The id that was last read; undefined if the id in the field must be read again. Reading an id also fills the dice field. */
  private readText: string | undefined = START;
  /** True if the visitor has typed dice since the id was read. */
  private diceTouched = false;
  private reading: Promise<void> = Promise.resolve();
  private readonly life = pageLife();

  constructor(
    private readonly client: Backgammon,
    private readonly ask: () => void,
    /** Called when the visitor closes the editor without applying a position. */
    private readonly cancelled: () => void,
  ) {
    this.editor = new Editor(client, (standing) => this.closeEditor(standing));
    this.position.addEventListener("change", () => void this.read());
    this.dice.addEventListener("input", () => (this.diceTouched = true));
    this.position.addEventListener("paste", (event) => this.paste(event));
    this.element = form("analysis-form", ask, [
      labelled("Position: an XGID, a GNU Backgammon id, or the text that contains it", this.position, "field wide"),
      labelled("Dice (may be empty)", this.dice),
      this.who.element,
      this.lookAhead.element,
      h("p.row", h("button.strong", { type: "submit" }, "Analyse"), this.edit),
      this.error,
      h("p.small", "The position is seen by the player on roll. Without dice you get the cube decision."),
    ]);
  }

  /** Replaces the field's text by the id in a pasted text and analyses the position. A text without an id is pasted unchanged. */
  private paste(event: ClipboardEvent): void {
    const id = idIn(event.clipboardData?.getData("text") ?? "");
    if (!id || /\s/.test(id)) return;
    event.preventDefault();
    this.position.value = id;
    this.ask();
  }

  /**
   * Returns the request for an analysis. Returns undefined if a field is invalid, or if `stale` returns true because a newer request has
   * started.
   */
  async request(stale: () => boolean): Promise<Asked | undefined> {
    this.clear();
    this.shut();
    const id = this.id();
    if (!id) return void this.refuse(NO_ID);
    await this.read();
    if (stale()) return undefined;
    const dice = readDice(this.dice.value);
    if (dice === undefined) return void this.refuse(DICE_ASKED);
    return { id, dice, who: this.who.who, evals: this.lookAhead.evals() };
  }

  refuse(words: string): void {
    markInvalid(/\bdie\b|\bdice\b/.test(words) ? this.dice : this.position, true);
    write(this.error, capital(words));
  }

  clear(): void {
    write(this.error, "");
    for (const input of [this.position, this.dice]) markInvalid(input, false);
  }

  /** Puts the id of a link into the field and reads it. Rejects if the id is invalid. */
  async open(id: string): Promise<Read> {
    this.position.value = id;
    this.readText = undefined;
    return this.client.ask({ ask: "read_id", id: this.id() ?? "" });
  }

  set(position: string, dice: Roll | null): void {
    this.position.value = this.readText = position;
    this.dice.value = dice ? dice.join(" ") : "";
  }

  focus(): void {
    this.position.focus({ preventScroll: true });
  }

  private id(): string | undefined {
    return idIn(this.position.value);
  }

  /** Reads a new id and copies its dice into the dice field. `request` waits until this reading is complete. */
  private read(): Promise<void> {
    const text = this.id();
    if (!text || text === this.readText) return this.reading;
    this.readText = text;
    this.diceTouched = false;
    return (this.reading = this.client.ask({ ask: "read_id", id: text }).then(
      (standing) => {
        // Dice that the visitor typed are not replaced. A bare position id contains no dice, so it does not change the field.
        if (this.life.aborted || text !== this.readText || standing.bare || this.diceTouched) return;
        this.dice.value = standing.dice ? standing.dice.join(" ") : "";
      },
      () => {}, // the analysis reports an invalid id
    ));
  }

  private async openEditor(): Promise<void> {
    if (this.editor.editing) return this.closeEditor(undefined);
    const standing = await this.client
      .ask({ ask: "read_id", id: this.id() ?? START })
      .catch(() => this.client.ask({ ask: "read_id", id: START }));
    if (this.life.aborted) return;
    this.edit.setAttribute("aria-expanded", "true");
    const dice = readDice(this.dice.value);
    this.editor.open({ ...standing, dice: dice?.every((n) => n >= 1 && n <= 6) ? dice : null });
  }

  private shut(): void {
    this.editor.close();
    this.edit.setAttribute("aria-expanded", "false");
  }

  private closeEditor(standing: Standing | undefined): void {
    this.shut();
    this.edit.focus();
    if (!standing) return this.cancelled();
    this.set(standing.xgid, standing.dice);
    this.ask();
  }
}
