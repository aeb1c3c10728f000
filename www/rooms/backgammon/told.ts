// A session in words: how it stands, and how somebody played.

import { capital, minus } from "../../parts/format";
import { rollText } from "./dice";
import { whoIs } from "./players";
import type { CubeReview, Review, Session } from "./protocol";

export const VERDICTS: Record<Review["verdict"], string> = {
  best: "The best move.",
  good: "A good move.",
  dubious: "Dubious.",
  bad: "An error.",
  blunder: "A blunder.",
};
const CUBE_ACTS: Record<CubeReview["did"], string> = { no_double: "not to double", double: "to double", take: "to take", pass: "to pass" };
export const LEVELS = ["", "a single game", "a gammon", "a backgammon"];
/** Less is no error. */
const EXACT = 0.0005;

export const points = (n: number): string => (n === 1 ? "1 point" : `${n} points`);
/** What was lost, in points a game as everybody writes it: `−0.195`. */
const error = (loss: number): string => minus((-loss).toFixed(3));
/** What a player's moves give away, wherever it is told: points a game below zero, a move that had a choice. */
export const perMove = (equity: number): string => `${minus(equity.toFixed(4))} a move`;

export const isPlayed = ({ setup }: Session): boolean => setup.seats.includes(null);

/** What the last thing was, where it was an answer and still stands. */
export function answerOf({ reply, moves }: Session): Session["reply"] {
  return reply && reply.did !== "played" && moves.at(-1)?.text === reply.text ? reply : null;
}

export function statusOf(session: Session): string {
  const { phase, turn, dice, ending, names, may, reply, cube } = session;
  const person = session.setup.seats[0] === null;
  if (phase === "over" && ending) return endOf(session, ending, person);
  if (!person)
    return reply ? `${whoIs(names[reply.seat]!)}: ${reply.dice ? `${rollText(reply.dice)}, ` : ""}${reply.text}` : "A game begins.";
  const crawford = session.crawford ? " This is the Crawford game: no cube." : "";
  const other = whoIs(names[1]);
  if (may.answer) return `${other} doubles to ${2 * cube}. Take it, or pass and lose ${points(cube)}.`;
  if (phase === "opening") return `Roll to begin: one die each, the higher one plays both.${crawford}`;
  if (turn !== 0 || may.reply) return `${other} thinks.`;
  const answered = answerOf(session)?.did === "took" ? `${other} takes: the cube is at ${cube} and theirs. ` : "";
  if (phase === "to_roll") return `${answered}Your turn${may.double ? ": roll, or double first" : ": roll"}.${crawford}`;
  if (phase !== "to_play" || !dice) return "";
  if (session.legal.length === 0 && session.steps.length === 0) return `${rollText(dice)}: you have no move.`;
  return may.confirm ? "Confirm, or undo." : `${rollText(dice)}: move ${session.left.join(" and ")}.`;
}

function endOf(
  { names, setup }: Session,
  { winner, how, level, points: won, match_over }: NonNullable<Session["ending"]>,
  person: boolean,
): string {
  const who = person ? (winner === 0 ? "You win" : "You lose") : `${whoIs(names[winner]!)} wins`;
  const ways: Partial<Record<typeof how, string>> = { passed: " as the double was passed", resigned: " by resignation" };
  const way = ways[how] ?? (level > 1 ? ` ${LEVELS[level]}` : "");
  return `${who}${way}: ${points(won)}.${match_over && setup.length ? " The match is over." : ""}`;
}

/** How a move was, and all that were judged before. */
export function reviewOf({ verdict, yours, best, rank, of, error: lost, reviewed, lost: all }: Review): string {
  const judged =
    of === 1
      ? "There was no other move."
      : lost < EXACT
        ? `The best of ${of} moves: ${yours.text}.`
        : `${VERDICTS[verdict]} ${yours.text} is number ${rank} of ${of}, ${error(lost)} against ${best.text}.`;
  const sum = reviewed > 1 ? ` Your ${reviewed} moves with a choice, each judged when it was made: ${perMove(-all / reviewed)}.` : "";
  return judged + sum;
}

/** Of a roll instead of a double there is something to say only where that was wrong. */
export function cubeReviewOf({ did, best, error: lost, verdict }: CubeReview, quietly: boolean): string | undefined {
  if (lost < EXACT) return quietly ? undefined : `Right ${CUBE_ACTS[did]}.`;
  return (
    `${verdict === "good" ? "Close." : VERDICTS[verdict]} ${capital(CUBE_ACTS[best])} was right: ${CUBE_ACTS[did]} costs ` +
    `${error(lost)} at that cube.`
  );
}
