// Any position by its id, or made by hand: what is expected of it, and with dice every move ranked, each to be looked at on a board and
// followed one level further.

import type { Analysis, Branch, Candidate, Frozen, Position, PlayerKind, Standing } from "./protocol";
import type { Announcer } from "../../parts/announce";
import { copyField } from "../../parts/dialog";
import { h, id, write } from "../../parts/dom";
import type { Backgammon } from "./client";
import { Board } from "./board";
import { candidateTable, cubeAdvice, folding, outcomeLegend, outlookParts, signed } from "./candidates";
import { Editor } from "./editor";
import { Tree } from "./tree";
import { capital, lookAheadField, whoIs, WhoField } from "./players";

export const START = "4HPwATDgc/ABMA";
const MOST = 12;

export class AnalysisPane {
  readonly element: HTMLElement;
  private readonly board = new Board("The position, seen by the player who rolls");
  private readonly position = h("input", {
    type: "text",
    id: id("position"),
    value: START,
    autocomplete: "off",
    autocapitalize: "off",
    spellcheck: "false",
    class: "position",
  });
  private readonly dice = h("input", {
    type: "text",
    id: id("dice"),
    value: "3 1",
    autocomplete: "off",
    inputmode: "numeric",
    class: "dice-field",
  });
  private readonly errorId = id("error");
  private readonly error = h("p", { class: "error", role: "alert", id: this.errorId });
  private readonly who = new WhoField("By", false);
  private readonly lookAhead = lookAheadField("Look-ahead", 100);
  private readonly editor: Editor;
  private readonly edit = h(
    "button",
    { type: "button", "aria-expanded": "false", onclick: () => void this.openEditor() },
    "Edit the position",
  );
  private readonly stakes = h("p", { class: "small stakes" });
  private readonly links = h("div", { class: "position-links" });
  private readonly summary = h("p", { class: "analysis-summary" });
  private readonly list = h("div", { class: "candidate-place" });
  private readonly legend = outcomeLegend();
  private readonly ends = h("div");
  private readonly more = h("button", { type: "button", class: "small", hidden: true });
  private readonly chosenId = h("div");
  private readonly tree: Tree;
  private readonly replies = h("div");
  private readonly repliesFold: HTMLElement;
  private analysis: Analysis | undefined;
  private chosen: Candidate | undefined;
  private all = false;
  private asked: PlayerKind = { kind: "now" };
  /** Counts questions, so that a late answer to an older one is dropped. */
  private question = 0;
  private closed = false;
  /** The id that the dice in their box were taken from, and whether they were written by hand since. */
  private readText: string | undefined = START;
  private diceTouched = false;
  private reading: Promise<void> = Promise.resolve();

  constructor(
    private readonly client: Backgammon,
    private readonly announcer: Announcer,
  ) {
    this.editor = new Editor(client, (standing) => this.closeEditor(standing));
    this.position.addEventListener("change", () => void this.read());
    this.dice.addEventListener("input", () => (this.diceTouched = true));
    this.tree = new Tree((candidate) => this.choose(candidate));
    for (const input of [this.position, this.dice]) input.setAttribute("aria-describedby", this.errorId);
    const form = h(
      "form",
      { class: "analysis-form" },
      h("p", { class: "field grow" }, h("label", { for: this.position.id }, "Position id, match id or XGID"), this.position),
      h("p", { class: "field" }, h("label", { for: this.dice.id }, "Dice (may be empty)"), this.dice),
      this.who.element,
      this.lookAhead.element,
      h("button", { type: "submit", class: "strong" }, "Analyse"),
      this.edit,
    );
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      void this.ask();
    });
    this.more.addEventListener("click", () => {
      this.all = !this.all;
      this.writeList();
    });
    this.repliesFold = folding("The replies as a table", this.replies);
    this.element = h(
      "div",
      { class: "analysis" },
      h(
        "p",
        { class: "small" },
        "GNU Backgammon's position id, alone (money play) or with its match id, or an XGID, also within the text that these programs " +
          "copy; seen by the player who rolls. Without dice the position itself is judged, and what to do with the cube.",
      ),
      form,
      this.error,
      this.editor.element,
      h(
        "div",
        { class: "analysis-body" },
        h("div", {}, this.board.element, this.stakes, this.chosenId, this.links),
        h("div", {}, this.summary, this.list, this.more, this.legend, this.ends, this.tree.element, this.repliesFold),
      ),
    );
    this.legend.hidden = this.repliesFold.hidden = true;
    this.board.turnCube(undefined);
  }

  close(): void {
    this.closed = true;
    this.tree.close();
  }

  offer(frozen: Frozen[]): void {
    this.who.offer(frozen);
  }

  /** Asks what the boxes say where nobody has asked anything yet, so that there is something to see. */
  begin(): void {
    if (this.question === 0) void this.ask(true);
  }

  /** Takes the dice of another id than before into their box; whoever asks meanwhile waits for that. */
  private read(): Promise<void> {
    const text = this.position.value.trim();
    if (text === this.readText) return this.reading;
    this.readText = text;
    this.diceTouched = false;
    return (this.reading = this.client.ask({ ask: "read_id", id: text }).then(
      (standing) => {
        // Who types dice meanwhile means those. An id that says no more than where checkers stand says nothing of dice.
        if (this.closed || text !== this.readText || standing.bare || this.diceTouched) return;
        this.dice.value = standing.dice ? standing.dice.join(" ") : "";
      },
      () => {}, // the analysis says what is wrong
    ));
  }

  private async openEditor(): Promise<void> {
    if (!this.editor.element.hidden) return this.closeEditor(undefined);
    const standing = await this.client
      .ask({ ask: "read_id", id: this.position.value.trim() })
      .catch(() => this.client.ask({ ask: "read_id", id: START }));
    if (this.closed) return;
    const digits = /^\s*([1-6])[\s,-]*([1-6])\s*$/.exec(this.dice.value);
    this.edit.setAttribute("aria-expanded", "true");
    this.editor.open({ ...standing, dice: digits ? [Number(digits[1]), Number(digits[2])] : null });
  }

  private closeEditor(standing: Standing | undefined): void {
    this.editor.close();
    this.edit.setAttribute("aria-expanded", "false");
    this.edit.focus();
    if (standing) this.show(standing.xgid, standing.dice, false);
  }

  /** Opens what a link carried; a bad one is told beside the box as any other. */
  async open(id: string): Promise<void> {
    this.position.value = id;
    this.readText = undefined;
    // Before anything is asked, so that nothing else is shown first.
    this.question++;
    const standing = await this.client.ask({ ask: "read_id", id });
    if (this.closed) return;
    this.show(standing.xgid, standing.dice);
  }

  /** Takes up a position from elsewhere in the room. */
  show(position: string, dice: [number, number] | null, go = true): void {
    this.position.value = this.readText = position;
    this.dice.value = dice ? dice.join(" ") : "";
    if (go) {
      this.element.scrollIntoView({ block: "start" });
      this.position.focus({ preventScroll: true });
    }
    void this.ask();
  }

  private refuse(words: string, input: HTMLInputElement): void {
    input.setAttribute("aria-invalid", "true");
    write(this.error, capital(words));
    // What was thought of another position would be taken for this one.
    this.analysis = this.chosen = undefined;
    write(this.summary, "Nothing is analysed.");
    write(this.stakes, "");
    for (const part of [this.list, this.ends, this.links, this.chosenId, this.replies]) part.replaceChildren();
    this.legend.hidden = this.repliesFold.hidden = this.more.hidden = true;
    this.tree.begin("", []);
    this.board.point(0, []);
    this.board.throw(undefined);
  }

  private async ask(quietly = false): Promise<void> {
    const question = ++this.question;
    write(this.error, "");
    for (const input of [this.position, this.dice]) input.removeAttribute("aria-invalid");
    await this.read();
    if (this.closed || question !== this.question) return;
    const digits = this.dice.value.replaceAll(/[\s,-]+/g, "");
    if (!/^(\d\d)?$/.test(digits)) return this.refuse("Give two dice like 3 1, or none.", this.dice);
    const dice = digits ? (digits.split("").map(Number) as [number, number]) : null;
    this.asked = this.who.who;
    try {
      const analysis = await this.client.ask({
        ask: "analyse",
        request: { id: this.position.value.trim(), dice, who: this.asked, evals: this.lookAhead.evals() },
      });
      if (this.closed || question !== this.question) return;
      this.analysis = analysis;
      this.all = false;
      this.chosen = undefined;
      this.write(analysis, quietly);
    } catch (error) {
      if (this.closed || question !== this.question) return;
      const words = error instanceof Error ? error.message : String(error);
      this.refuse(words, /\bdie\b|\bdice\b/.test(words) ? this.dice : this.position);
    }
  }

  private write({ position, dice, name, candidates, outlook, evals, standing }: Analysis, quietly: boolean): void {
    this.showPosition(position);
    this.board.throw(dice ? { side: 0, shown: dice, left: dice[0] === dice[1] ? [...dice, ...dice] : dice } : undefined);
    this.legend.hidden = candidates.length === 0;
    this.ends.replaceChildren(...(outlook ? outlookParts(outlook) : []));
    this.chosenId.replaceChildren();
    this.writeStanding(standing);
    const by = `${whoIs(name)}${evals > 1 && candidates.length ? `, up to ${evals} positions looked at` : ""}`;
    if (outlook)
      write(
        this.summary,
        `${by}: ${cubeAdvice(outlook.cube)} ${signed(outlook.equity)} points a game before the roll without the cube, ` +
          `${signed(outlook.cube.no_double)} with it.`,
      );
    else write(this.summary, `${by}: ${candidates.length === 1 ? "one move" : `${candidates.length} moves`}.`);
    if (!quietly)
      this.announcer.say(
        candidates[0]
          ? `${candidates.length} moves, the best ${candidates[0].text}, ${signed(candidates[0].equity)} points.`
          : (this.summary.textContent ?? ""),
        "analysis",
      );
    const root = dice ? `${dice[0]}-${dice[1]}` : "";
    this.tree.begin(root, candidates);
    this.repliesFold.hidden = candidates.length === 0;
    this.replies.replaceChildren();
    this.writeList();
    if (candidates[0]) this.choose(candidates[0]);
    void this.unfold(this.question);
  }

  /** What is played for, the ids, and a link that opens here. */
  private writeStanding(standing: Standing | null): void {
    if (!standing) return;
    const { length, score, crawford, cube, cube_is_mine, jacoby, bare, doubled, xgid, gnu_id } = standing;
    const whose = cube_is_mine === null ? "in the middle" : cube_is_mine ? "with who rolls" : "with the other";
    this.board.turnCube({ value: cube, owner: cube_is_mine === null ? null : cube_is_mine ? 0 : 1 });
    const stakes = length
      ? `Match to ${length}: who rolls has ${score[0]}, the other ${score[1]}${crawford ? ", the Crawford game" : ""}`
      : "Money play";
    const notes = [
      jacoby && "The id asks for the Jacoby rule, which is not played here: gammons count at once.",
      length > 0 &&
        "Moves and the cube are ranked by the chance to win the match, told as points at the present cube; moves without a further double.",
      bare && "A position id alone says nothing of a match.",
      doubled && "A double is offered; it is up to the other.",
    ].filter(Boolean);
    write(this.stakes, [`${stakes}, the cube at ${cube} ${whose}.`, ...notes].join(" "));
    const link = `${location.origin}${location.pathname}?position=${encodeURIComponent(xgid.replace(/^XGID=/, ""))}#/backgammon`;
    this.links.replaceChildren(
      copyField("Link to this position", link),
      copyField("XGID", xgid),
      copyField("GNU Backgammon's ids", gnu_id),
    );
  }

  private showPosition({ mine, theirs }: Position): void {
    this.board.show({ mine, theirs });
    this.board.point(0, []);
  }

  private writeList(): void {
    const { analysis } = this;
    if (!analysis) return;
    const { candidates } = analysis;
    const shown = this.all ? candidates : candidates.slice(0, MOST);
    this.more.hidden = candidates.length <= MOST;
    write(this.more, this.all ? `The best ${MOST} alone` : `All ${candidates.length} moves`);
    const focused = document.activeElement?.closest(".candidates") ? this.chosen?.id : undefined;
    this.list.replaceChildren(
      ...(candidates.length
        ? [candidateTable("Moves, the best first", shown, { pick: (candidate) => this.choose(candidate), chosen: this.chosen?.id })]
        : []),
    );
    if (focused) this.list.querySelector<HTMLElement>("[aria-pressed=true]")?.focus();
  }

  /** Shows a candidate on the board, with how it comes about. */
  private choose(candidate: Candidate): void {
    const { analysis } = this;
    if (!analysis) return;
    this.chosen = candidate;
    this.board.show(analysis.position);
    void this.board.play(0, candidate.steps).then(() => {
      if (!this.closed && this.chosen === candidate) this.board.point(0, candidate.steps);
    });
    this.tree.choose(candidate.id);
    this.writeList();
    this.writeReplies(candidate);
    this.chosenId.replaceChildren(copyField("The position after it, seen by the mover", candidate.id));
  }

  private readonly known = new Map<string, Branch[]>();

  private async unfold(question: number): Promise<void> {
    this.known.clear();
    for (const { id } of this.tree.shown) {
      try {
        const branches = await this.client.ask({ ask: "unfold", unfold: { id, who: this.asked, evals: 0 } });
        if (this.closed || question !== this.question) return;
        this.known.set(id, branches);
        this.tree.unfold(id, branches);
        if (this.chosen?.id === id) this.writeReplies(this.chosen);
      } catch {
        return; // where the game ends with the move, nothing follows
      }
    }
  }

  private writeReplies({ id, text }: Candidate): void {
    const branches = this.known.get(id);
    this.replies.replaceChildren(
      branches
        ? h(
            "div",
            { class: "scroll", tabindex: 0, role: "region", "aria-label": "Replies" },
            h(
              "table",
              {},
              h("caption", {}, `After ${text}: the other side's best reply to each roll, and what is left for the mover`),
              h(
                "thead",
                {},
                h(
                  "tr",
                  {},
                  h("th", { scope: "col" }, "Roll"),
                  h("th", { scope: "col" }, "Of 36"),
                  h("th", { scope: "col", class: "text" }, "Reply"),
                  h("th", { scope: "col" }, "Equity"),
                ),
              ),
              h(
                "tbody",
                {},
                ...branches.map(({ dice, ways, text, equity }) =>
                  h(
                    "tr",
                    {},
                    h("th", { scope: "row" }, `${dice[0]}-${dice[1]}`),
                    h("td", {}, String(ways)),
                    h("td", { class: "text" }, text),
                    h("td", {}, signed(equity)),
                  ),
                ),
              ),
            ),
          )
        : h("p", { class: "small" }, "The tree unfolds the first five moves; choose one of them."),
    );
  }
}
