// What is considered, beside the board: the moves that somebody weighed, how they expect the game to end, and the tree of it.

import { h, id, write } from "../../parts/dom";
import { Turns } from "../shared/asking";
import { candidateTable, cubeAdvice, outcomeLegend, outcomeTable, outlookParts, signed } from "./candidates";
import type { Backgammon } from "./client";
import { rollText } from "./dice";
import { capital } from "../../parts/format";
import { whoIs, within } from "./players";
import type { Analysis, Candidate, Engine, Outlook, Session } from "./protocol";
import { Tree, unfold } from "./tree";

const SHOWN = 6;
const NOTHING: Thought = { heading: "What it considers", asks: "Its moves come here, each with what it expects." };

type Thought = {
  heading: string;
  asks: string;
  candidates?: Candidate[];
  root?: string;
  /** Who is asked for what follows. */
  engine?: Engine | undefined;
  pick?: (candidate: Candidate) => void;
};

export class Considered {
  readonly element: HTMLElement;
  private readonly heading = h("h2.label", { id: id("considered") });
  private readonly asks = h("p.small");
  private readonly list = h("div.candidate-place");
  private readonly ends = h("div");
  private readonly tree = new Tree();
  private readonly about = h("p.about");
  private readonly thoughts = new Turns();

  constructor(private readonly client: Backgammon) {
    this.element = h("section.considered", { "aria-labelledby": this.heading.id }, [
      this.heading,
      this.asks,
      this.list,
      outcomeLegend(),
      this.ends,
      this.tree.element,
      this.about,
    ]);
    this.show(NOTHING);
  }

  begin(): void {
    this.show({ ...NOTHING, asks: "After its move you see here what it weighed. A hint shows the same for yours." });
  }

  reply({ names, setup }: Session, { seat, dice, candidates, text }: NonNullable<Session["reply"]>): void {
    const name = whoIs(names[seat]!);
    const engine = setup.seats[seat] ?? undefined;
    const root = rollText(dice);
    if (candidates.length === 0) return this.show({ heading: `${name} played ${text}`, asks: "It has no opinion to tell.", root });
    const looked =
      candidates.length === 1
        ? "all rolls after the only move"
        : `up to ${engine?.evals} positions; the bars under the moves are their shares`;
    const asks = engine && engine.evals > 1 ? `Looked at ${looked}.` : "No look-ahead; the bars under the moves are its first impressions.";
    this.show({ heading: `${name} with ${root}`, asks, candidates, root, engine });
  }

  hint({ candidates, dice }: Analysis, engine: Engine, pick: (candidate: Candidate) => void): void {
    const asks = "By the agent as it is now. Choose a move to make it; it can be undone.";
    this.show({ heading: "Hint for you", asks, candidates, root: rollText(dice), engine, pick });
  }

  cubeHint(name: string, outlook: Outlook): string {
    const { equity, cube } = outlook;
    const advice = cubeAdvice(cube);
    const seen = cube.offered ? "doubled" : "rolls";
    const asks = `${advice} ${capital(within(name))} expects ${signed(equity)} points without the cube, seen by whoever ${seen}.`;
    this.show({ heading: "Hint", asks });
    this.ends.replaceChildren(...outlookParts(outlook));
    return advice;
  }

  private show({ heading, asks, candidates = [], root = "", engine, pick }: Thought): void {
    const stale = this.thoughts.take();
    write(this.heading, heading);
    write(this.asks, asks);
    const top = candidates.slice(0, SHOWN);
    const [best] = top;
    this.list.replaceChildren(...(best ? [candidateTable(heading, top, pick && { pick })] : []));
    this.ends.replaceChildren();
    if (best)
      this.ends.append(
        h("p.small", `How it expects the game to end after ${best.text} (${signed(best.equity)} points):`),
        outcomeTable(best.chances),
      );
    this.element.classList.toggle("empty", !best);
    this.tree.begin(root, top, best?.id);
    const mean = top.some(({ depth }) => depth.kind === "static")
      ? "equity, for a move that was not searched the one at first sight, which need not lie among its dots."
      : "equity, the mean of the dots that were tried.";
    write(
      this.about,
      best
        ? `The tree: each dot is one roll of the other side after its best reply, further right is better for the mover; the line is ` +
            `the move's ${mean}`
        : "",
    );
    const thinks = engine && engine.who.kind !== "random" && engine.who.kind !== "linear";
    if (thinks && best) void unfold(this.client, this.tree, engine.who, stale);
  }
}
