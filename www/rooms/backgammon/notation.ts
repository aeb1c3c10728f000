// Moves as the visitor reads them. In standard notation, each player counts the points from their own side. The numbers on the board count
// from the side of the first player, so the page writes the moves of the second player in the numbers of the board.

import type { Branch, Candidate, Session } from "./protocol";

/** Rewrites a move of the second player: `11/8 bar/21*` becomes `14/17 bar/4*`. Texts that are no moves are unchanged. */
export const onBoard = (seat: number, text: string): string =>
  seat === 1 && text.includes("/") ? text.replace(/(?<![\d(])\d+(?![\d)])/g, (point) => String(25 - Number(point))) : text;

export const candidateOnBoard = (seat: number, candidate: Candidate): Candidate => ({ ...candidate, text: onBoard(seat, candidate.text) });

/** Rewrites the replies to moves of `seat`. The other player makes these replies. */
export const branchesOnBoard = (seat: number, branches: Branch[]): Branch[] =>
  branches.map((branch) => ({ ...branch, text: onBoard(1 - seat, branch.text) }));

/** Rewrites all moves of a session. */
export function sessionOnBoard(session: Session): Session {
  const { reply } = session;
  return {
    ...session,
    moves: session.moves.map((move) => ({ ...move, text: onBoard(move.seat, move.text) })),
    reply: reply && {
      ...reply,
      text: onBoard(reply.seat, reply.text),
      candidates: reply.candidates.map((one) => candidateOnBoard(reply.seat, one)),
    },
  };
}
