// Any position by its id: what is expected of it, and with dice every move ranked, each to be looked at on a board and
// followed one level further.

import type { Analysis, Branch, Candidate, Frozen, Position, PlayerKind } from "./protocol";
import type { Announcer } from "../../parts/announce";
import { copyField } from "../../parts/dialog";
import { h, id, write } from "../../parts/dom";
import type { Backgammon } from "./client";
import { Board } from "./board";
import { candidateTable, folding, outcomeLegend, outcomeTable, signed } from "./candidates";
import { Tree } from "./tree";
import { capital, lookAheadField, whoIs, WhoField } from "./players";

export const START = "4HPwATDgc/ABMA";
const MOST = 12;

export class AnalysisPane {
  readonly element: HTMLElement;
  private readonly board = new Board("The position, seen by the player who rolls");
  private readonly position = h("input", { type: "text", id: id("position"), value: START, autocomplete: "off", autocapitalize: "off", spellcheck: "false", class: "position" });
  private readonly dice = h("input", { type: "text", id: id("dice"), value: "3 1", autocomplete: "off", inputmode: "numeric", class: "dice-field" });
  private readonly errorId = id("error");
  private readonly error = h("p", { class: "error", role: "alert", id: this.errorId });
  private readonly who = new WhoField("By", false);
  private readonly lookAhead = lookAheadField("Look-ahead", 100);
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

  constructor(
    private readonly client: Backgammon,
    private readonly announcer: Announcer,
  ) {
    this.tree = new Tree((candidate) => this.choose(candidate));
    for (const input of [this.position, this.dice]) input.setAttribute("aria-describedby", this.errorId);
    const form = h(
      "form",
      { class: "analysis-form" },
      h("p", { class: "field grow" }, h("label", { for: this.position.id }, "Position id"), this.position),
      h("p", { class: "field" }, h("label", { for: this.dice.id }, "Dice (may be empty)"), this.dice),
      this.who.element,
      this.lookAhead.element,
      h("button", { type: "submit", class: "strong" }, "Analyse"),
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
      h("p", { class: "small" }, "An id is what GNU Backgammon calls a position id: 14 letters and digits, seen by the player who rolls. Without dice the position itself is judged, and what to do with the cube."),
      form,
      this.error,
      h(
        "div",
        { class: "analysis-body" },
        h("div", {}, this.board.element, this.chosenId),
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

  /** Takes up a position from elsewhere in the room. */
  show(position: string, dice: [number, number] | null): void {
    this.position.value = position;
    this.dice.value = dice ? dice.join(" ") : "";
    this.element.scrollIntoView({ block: "start" });
    this.position.focus({ preventScroll: true });
    void this.ask();
  }

  private refuse(words: string, input: HTMLInputElement): void {
    input.setAttribute("aria-invalid", "true");
    write(this.error, capital(words));
  }

  private async ask(quietly = false): Promise<void> {
    const question = ++this.question;
    write(this.error, "");
    for (const input of [this.position, this.dice]) input.removeAttribute("aria-invalid");
    const digits = this.dice.value.replaceAll(/[\s,-]+/g, "");
    if (!/^(\d\d)?$/.test(digits)) return this.refuse("Give two dice like 3 1, or none.", this.dice);
    const dice = digits ? (digits.split("").map(Number) as [number, number]) : null;
    this.asked = this.who.who;
    try {
      const analysis = await this.client.ask({ ask: "analyse", request: { id: this.position.value.trim(), dice, who: this.asked, evals: this.lookAhead.evals() } });
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

  private write({ position, dice, name, candidates, outlook, evals }: Analysis, quietly: boolean): void {
    this.showPosition(position);
    this.board.throw(dice ? { side: 0, shown: dice, left: dice[0] === dice[1] ? [...dice, ...dice] : dice } : undefined);
    this.legend.hidden = candidates.length === 0;
    this.ends.replaceChildren(...(outlook ? [outcomeTable(outlook.chances)] : []));
    this.chosenId.replaceChildren();
    const by = `${whoIs(name)}${evals > 1 ? `, ${evals} positions looked at` : ""}`;
    if (outlook) {
      const cube = !outlook.may_double ? "" : outlook.double ? ` Double${outlook.take ? ", and take." : ", and pass."}` : " No double yet.";
      write(this.summary, `${by}: ${signed(outlook.equity)} points a game before the roll.${cube}`);
    } else {
      const aside = evals > 1 && candidates.some(({ share }) => share === 0) ? " Those without a bar were set aside before the search, and come last." : "";
      write(this.summary, `${by}: ${candidates.length === 1 ? "one move" : `${candidates.length} moves`}.${aside}`);
    }
    if (!quietly) this.announcer.say(candidates[0] ? `${candidates.length} moves, the best ${candidates[0].text}, ${signed(candidates[0].equity)} points.` : (this.summary.textContent ?? ""), "analysis");
    const root = dice ? `${dice[0]}-${dice[1]}` : "";
    this.tree.begin(root, candidates);
    this.repliesFold.hidden = candidates.length === 0;
    this.replies.replaceChildren();
    this.writeList();
    if (candidates[0]) this.choose(candidates[0]);
    void this.unfold(this.question);
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
    this.list.replaceChildren(...(candidates.length ? [candidateTable("Moves, the best first", shown, { pick: (candidate) => this.choose(candidate), chosen: this.chosen?.id })] : []));
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
              h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "Roll"), h("th", { scope: "col" }, "Of 36"), h("th", { scope: "col", class: "text" }, "Reply"), h("th", { scope: "col" }, "Equity"))),
              h("tbody", {}, ...branches.map(({ dice, ways, text, equity }) => h("tr", {}, h("th", { scope: "row" }, `${dice[0]}-${dice[1]}`), h("td", {}, String(ways)), h("td", { class: "text" }, text), h("td", {}, signed(equity))))),
            ),
          )
        : h("p", { class: "small" }, "The tree unfolds the first five moves; choose one of them."),
    );
  }
}
