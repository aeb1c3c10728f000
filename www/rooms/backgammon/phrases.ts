// Texts about a game session: its state, and reviews of moves and cube decisions.

import { rollText } from "./dice";
import { whoIs } from "./players";
import type { CubeReview, Review, Session } from "./protocol";

export const VERDICTS: Record<Review["verdict"], string> = {
  best: "Best move.",
  good: "Good move.",
  dubious: "Dubious.",
  bad: "Error.",
  blunder: "Blunder.",
};
const CUBE_ACTS: Record<CubeReview["did"], { name: string; should: string; doing: string }> = {
  no_double: { name: "no double", should: "not double", doing: "waiting" },
  double: { name: "double", should: "double", doing: "doubling" },
  take: { name: "take", should: "take", doing: "taking" },
  pass: { name: "pass", should: "pass", doing: "passing" },
};
const NUMBERS = ["", "", "two", "three", "four"];
const FACES = ["", "ones", "twos", "threes", "fours", "fives", "sixes"];
export const LEVELS = ["", "a single game", "a gammon", "a backgammon"];
/** Loss of equity below which an action counts as correct, in points per game. */
const EXACT = 0.0005;

export const points = (n: number): string => (n === 1 ? "1 point" : `${n} points`);
/** Formats the dice that are left to play: `four sixes`, or `3 and 1`. */
const diceLeft = (left: number[]): string =>
  left.length > 1 && left.every((die) => die === left[0]) ? `${NUMBERS[left.length]} ${FACES[left[0]!]}` : left.join(" and ");
/** Formats the mean loss per move, such as `0.0195 points lost per move`. The mean includes only moves that had an alternative. */
export const lostPerMove = (equity: number): string => `${equity.toFixed(4)} points lost per move`;
export const moveCount = (n: number): string => (n === 1 ? "1 move" : `${n} moves`);

export const isPlayed = ({ setup }: Session): boolean => setup.seats.includes(null);

/** Returns the last action of an engine if it is a cube action and the last action of the game; otherwise null. */
export function answerOf({ reply, moves }: Session): Session["reply"] {
  return reply && reply.did !== "played" && moves.at(-1)?.text === reply.text ? reply : null;
}

export function statusOf(session: Session): string {
  const { phase, turn, dice, ending, names, may, reply, cube } = session;
  const person = session.setup.seats[0] === null;
  if (phase === "over" && ending) return endOf(session, ending, person);
  if (!person) return reply ? `${whoIs(names[reply.seat]!)}: ${reply.dice ? `${rollText(reply.dice)}, ` : ""}${reply.text}` : "New game.";
  const crawford = session.crawford ? " Crawford game: no cube." : "";
  const other = whoIs(names[1]);
  if (may.answer) return `${other} doubles to ${2 * cube}. Take it, or pass and lose ${points(cube)}.`;
  if (phase === "opening") return `Roll to begin: one die each; the higher one starts.${crawford}`;
  if (turn !== 0 || may.reply) return `${other} is thinking.`;
  const answered = answerOf(session)?.did === "took" ? `${other} takes: the cube is at ${cube} and theirs. ` : "";
  if (phase === "to_roll") return `${answered}Your turn${may.double ? ": roll, or double first" : ": roll"}.${crawford}`;
  if (phase !== "to_play" || !dice) return "";
  if (session.legal.length === 0 && session.steps.length === 0) return `${rollText(dice)}: you have no move.`;
  return may.confirm ? "Confirm, or undo." : `${rollText(dice)}: play ${diceLeft(session.left)}.`;
}

function endOf(
  { names, setup }: Session,
  { winner, how, level, points: won, match_over }: NonNullable<Session["ending"]>,
  person: boolean,
): string {
  const who = person ? (winner === 0 ? "You win" : "You lose") : `${whoIs(names[winner]!)} wins`;
  const ways: Partial<Record<typeof how, string>> = { passed: " by a passed double", resigned: " by resignation" };
  const way = ways[how] ?? (level > 1 ? ` ${LEVELS[level]}` : "");
  return `${who}${way}: ${points(won)}.${match_over && setup.length ? " The match is over." : ""}`;
}

/** Describes the review of a move. From the second reviewed move on, the text contains the mean loss of all reviewed moves. */
export function reviewOf({ verdict, yours, best, rank, of, error: lost, reviewed, lost: all }: Review): string {
  const judged =
    of === 1
      ? "The only move."
      : lost < EXACT
        ? `${yours.text} is the best of ${of} moves.`
        : `${VERDICTS[verdict]} ${yours.text} ranks ${rank} of ${of}, ${lost.toFixed(3)} worse than ${best.text}.`;
  const sum = reviewed > 1 ? ` So far: ${lostPerMove(all / reviewed)}, in ${moveCount(reviewed)}.` : "";
  return judged + sum;
}

/** Describes the review of a cube decision. If `quietly` is true, returns undefined for a correct decision. */
export function cubeReviewOf({ did, best, error: lost, verdict }: CubeReview, quietly: boolean): string | undefined {
  if (lost < EXACT) return quietly ? undefined : `Correct: ${CUBE_ACTS[did].name}.`;
  const how = verdict === "good" ? "Close." : VERDICTS[verdict];
  return `${how} Should ${CUBE_ACTS[best].should}: ${CUBE_ACTS[did].doing} costs ${lost.toFixed(3)}.`;
}
