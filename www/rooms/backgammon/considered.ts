// Candidate moves beside the board: their table, the outcome probabilities, and the decision tree.

import { button, h, id, write } from "../../parts/dom";
import { Turns } from "../../parts/requests";
import { candidateTable, cubeAdvice, outcomeLegend, outcomeTable, outlookParts, signed } from "./candidates";
import type { MatchRun } from "./client";
import { rollText } from "./dice";
import { capital } from "../../parts/format";
import { whoIs, within } from "./players";
import type { Analysis, Candidate, Engine, Outlook, Session } from "./protocol";
import { Tree, unfold } from "./tree";

const SHOWN = 6;
/** Number of moves in the line under the board. */
const BEST = 3;
const NOTHING: Thought = { heading: "Candidate moves", intro: "The agent's candidate moves and equities appear here." };

type Thought = {
  heading: string;
  intro: string;
  candidates?: Candidate[];
  root?: string;
  /** Player that evaluates the replies in the tree. */
  engine?: Engine | undefined;
  pick?: (candidate: Candidate) => void;
  /** Seat of the player who moves, by default the visitor's. */
  seat?: number;
};

export class Considered {
  readonly element: HTMLElement;
  /** The best moves in one line. */
  readonly line = h("p.best.small");
  private readonly heading = h("h2.label", { id: id("considered") });
  private readonly intro = h("p.small");
  private readonly list = h("div.candidate-place");
  private readonly ends = h("div");
  private readonly tree = new Tree();
  private readonly thoughts = new Turns();

  constructor(private readonly run: MatchRun) {
    this.element = h("section.considered.card", { "aria-labelledby": this.heading.id }, [
      this.heading,
      this.intro,
      this.list,
      outcomeLegend(),
      this.ends,
      this.tree.element,
    ]);
    this.show(NOTHING);
  }

  begin(): void {
    this.show({ ...NOTHING, intro: "The agent's candidates appear here after its move. A hint shows yours." });
  }

  reply({ names, setup }: Session, { seat, dice, candidates, text }: NonNullable<Session["reply"]>): void {
    const name = whoIs(names[seat]!);
    const engine = setup.seats[seat] ?? undefined;
    const root = rollText(dice);
    if (candidates.length === 0)
      return this.show({ heading: `${name} played ${text}`, intro: "This player has no equities to show.", root });
    const looked =
      candidates.length === 1
        ? "There is only one legal move. The search covered all 21 rolls after it."
        : `The search covered up to ${engine?.evals} positions. Bars show each move's share of the search.`;
    const intro = engine && engine.evals > 1 ? looked : "No look-ahead. Bars show each move's prior probability.";
    this.show({ heading: `${name} with ${root}`, intro, candidates, root, engine, seat });
  }

  hint({ candidates, dice }: Analysis, engine: Engine, pick: (candidate: Candidate) => void): void {
    const intro = `By ${this.run.agent}. Choose a move to make it; you can undo it.`;
    this.show({ heading: "Hint for you", intro, candidates, root: rollText(dice), engine, pick });
  }

  cubeHint(name: string, outlook: Outlook): string {
    const { equity, cube } = outlook;
    const advice = cubeAdvice(cube);
    const side = cube.offered ? "the player who doubled" : "the player on roll";
    const intro = `${advice} ${capital(within(name))} expects ${signed(equity)} points without the cube, for ${side}.`;
    this.show({ heading: "Hint", intro });
    write(this.line, `Hint: ${advice}`);
    this.ends.replaceChildren(...outlookParts(outlook));
    return advice;
  }

  private show({ heading, intro, candidates = [], root = "", engine, pick, seat = 0 }: Thought): void {
    const stale = this.thoughts.take();
    write(this.heading, heading);
    write(this.intro, intro);
    const top = candidates.slice(0, SHOWN);
    const [best] = top;
    this.line.replaceChildren(...(best ? this.lineOf(pick ? "Hint" : `Agent's best with ${root}`, top, pick) : []));
    this.list.replaceChildren(...(best ? [candidateTable(heading, top, pick && { pick })] : []));
    this.ends.replaceChildren();
    if (best)
      this.ends.append(h("p.small", `Expected outcomes after ${best.text} (${signed(best.equity)} points):`), outcomeTable(best.chances));
    this.element.classList.toggle("empty", !best);
    this.tree.begin(root, top, best?.id);
    const thinks = engine && engine.who.kind !== "random" && engine.who.kind !== "linear";
    if (thinks && best) void unfold(this.run, this.tree, engine.who, seat, stale);
  }

  private lineOf(words: string, candidates: Candidate[], pick: Thought["pick"]): HTMLElement[] {
    const moves = candidates.slice(0, BEST).map((candidate) => {
      const parts = [candidate.text, " ", h("strong", signed(candidate.equity))];
      return pick ? button(parts, () => pick(candidate), { class: "quiet small" }) : h("span", parts);
    });
    return [h("span", `${words}:`), ...moves];
  }
}
