// Result of an analysis: the position on the board, the match score and the cube, and the ranked moves with the opponent's replies.

import { copyField } from "../../parts/dialog";
import { button, h, write } from "../../parts/dom";
import { untilClosed } from "../../parts/life";
import { bodyRow, headRow, scrolling } from "../shared/tables";
import type { Board } from "./board";
import { candidateTable, cubeAdvice, folding, outcomeLegend, outlookParts, signed } from "./candidates";
import { allOf, rollText } from "./dice";
import { whoIs } from "./players";
import type { Analysis, Branch, Candidate, Standing } from "./protocol";
import { Tree } from "./tree";

/** Number of moves in the list before the visitor opens the rest. */
const MOST = 4;

export class Findings {
  /** The ranked moves and the outcome probabilities. */
  readonly moves: HTMLElement;
  readonly replying: HTMLElement;
  readonly under: HTMLElement;
  readonly tree = new Tree((candidate) => this.choose(candidate));
  private readonly stakes = h("p.small.stakes");
  private readonly links = h("div");
  private readonly summary = h("p.analysis-summary");
  private readonly list = h("div.candidate-place");
  private readonly legend = outcomeLegend();
  private readonly ends = h("div");
  private readonly more = button("", () => this.unfold(), { class: "small" });
  private readonly chosenId = h("div");
  private readonly replies = h("div");
  private analysis: Analysis | undefined;
  private chosen: Candidate | undefined;
  private all = false;

  constructor(private readonly board: Board) {
    this.moves = h("div.found.card", this.summary, this.list, this.more, this.legend, this.ends);
    this.replying = h("div.card", this.tree.element, folding("Replies as a table", this.replies));
    this.under = h("div", this.stakes, folding("Ids and a link to copy", h("div", this.chosenId, this.links)));
    this.showList();
    untilClosed(() => (this.chosen = undefined));
  }

  clear(): void {
    this.analysis = this.chosen = undefined;
    write(this.summary, "No analysis yet.");
    write(this.stakes, "");
    for (const part of [this.ends, this.links, this.chosenId, this.replies]) part.replaceChildren();
    this.tree.begin("", []);
    this.board.point(0, []);
    this.board.throw(undefined);
    this.showList();
  }

  show(analysis: Analysis): string {
    const { position, dice, candidates, outlook, standing } = analysis;
    [this.analysis, this.chosen, this.all] = [analysis, undefined, false];
    this.board.show(position);
    this.board.point(0, []);
    this.board.throw(dice ? { side: 0, shown: dice, left: allOf(dice) } : undefined);
    this.ends.replaceChildren(...(outlook ? outlookParts(outlook) : []));
    for (const part of [this.chosenId, this.replies]) part.replaceChildren();
    if (standing) this.showStanding(standing);
    const summary = summaryOf(analysis);
    write(this.summary, summary);
    this.tree.begin(rollText(dice), candidates);
    const [best] = candidates;
    if (best) this.choose(best);
    else this.showList();
    return best ? `${candidates.length} moves, the best ${best.text}, ${signed(best.equity)} points.` : summary;
  }

  /** Shows the replies to the move `id` if this move is selected. Called when the replies arrive, which is later than the analysis. */
  followed(id: string): void {
    if (this.chosen?.id === id) this.showReplies(this.chosen);
  }

  private showStanding(standing: Standing): void {
    const { cube, cube_is_mine, xgid, gnu_id } = standing;
    this.board.turnCube({ value: cube, owner: cube_is_mine === null ? null : cube_is_mine ? 0 : 1 });
    write(this.stakes, stakesOf(standing));
    const link = `${location.origin}${location.pathname}?position=${encodeURIComponent(xgid.replace(/^XGID=/, ""))}#/backgammon`;
    this.links.replaceChildren(
      ...copied("Link to this position", link),
      ...copied("XGID", xgid),
      ...copied("GNU Backgammon's ids", gnu_id),
    );
  }

  private unfold(): void {
    this.all = !this.all;
    this.showList();
  }

  private showList(): void {
    const candidates = this.analysis?.candidates ?? [];
    this.legend.hidden = this.replying.hidden = candidates.length === 0;
    this.more.hidden = candidates.length <= MOST;
    write(this.more, this.all ? `Best ${MOST} only` : `All ${candidates.length} moves`);
    const shown = this.all ? candidates : candidates.slice(0, MOST);
    const focused = this.list.contains(document.activeElement);
    this.list.replaceChildren(
      ...(candidates.length
        ? [candidateTable("Moves, best first", shown, { pick: (candidate) => this.choose(candidate), chosen: this.chosen?.id })]
        : []),
    );
    if (focused) this.list.querySelector<HTMLElement>("[aria-pressed=true]")?.focus();
  }

  private choose(candidate: Candidate): void {
    if (!this.analysis) return;
    this.chosen = candidate;
    this.board.show(this.analysis.position);
    void this.board.play(0, candidate.steps).then(() => {
      if (this.chosen === candidate) this.board.point(0, candidate.steps);
    });
    this.tree.choose(candidate.id);
    this.showList();
    this.showReplies(candidate);
    this.chosenId.replaceChildren(...copied("Position after the move, seen by the mover", candidate.id));
  }

  private showReplies({ id, text }: Candidate): void {
    const branches = this.tree.branches.get(id);
    this.replies.replaceChildren(
      branches ? repliesTable(text, branches) : h("p.small", "Replies are available for the first five moves; choose one of them."),
    );
  }
}

const copied = (label: string, text: string): HTMLElement[] => [h("p.about", label), copyField(label, text)];

function summaryOf({ name, candidates, outlook, evals }: Analysis): string {
  const by = `${whoIs(name)}${evals > 1 && candidates.length ? `, up to ${evals} positions` : ""}`;
  if (!outlook) return `${by}: ${candidates.length === 1 ? "one move" : `${candidates.length} moves`}.`;
  const { equity, cube } = outlook;
  return `${by}: ${cubeAdvice(cube)} Equity before the roll: ${signed(equity)} without the cube, ` + `${signed(cube.no_double)} with it.`;
}

function stakesOf({ length, score, crawford, cube, cube_is_mine, jacoby, bare, doubled }: Standing): string {
  const whose =
    cube_is_mine === null
      ? `in the middle${cube === 1 ? " (it shows 64)" : ""}`
      : cube_is_mine
        ? "owned by the player on roll"
        : "owned by the opponent";
  const stakes = length
    ? `Match to ${length}: player on roll ${score[0]}, opponent ${score[1]}${crawford ? ", Crawford game" : ""}`
    : "Money play";
  const notes = [
    jacoby && "The id has the Jacoby rule, which is not supported: gammons always count.",
    length > 0 &&
      "Moves and cube decisions are ranked by the chance to win the match, shown as points at the current cube. The ranking of " +
        "moves ignores further doubles.",
    bare && "A position id alone contains no match.",
    doubled && "A double is offered; the opponent decides.",
  ].filter(Boolean);
  return [`${stakes}, cube at ${cube} ${whose}.`, ...notes].join(" ");
}

const repliesTable = (move: string, branches: Branch[]): HTMLElement =>
  scrolling(
    { "aria-label": "Replies" },
    h("table", [
      h("caption", `After ${move}: the opponent's best reply to each roll, and the mover's equity`),
      headRow("Roll", "Of 36", { class: "text", words: "Reply" }, "Equity"),
      h("tbody", [
        branches.map(({ dice, ways, text, equity }) =>
          bodyRow(false, rollText(dice), String(ways), { class: "text", words: text }, signed(equity)),
        ),
      ]),
    ]),
  );
