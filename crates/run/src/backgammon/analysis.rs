//! Conversion of a player's evaluation of a position to display data. With a roll, the data contain the candidates in notation. Before the
//! roll, the data contain the chances and the cube advice. After a move, the data contain the best replies to the move. Players evaluate
//! the boards; `one_ply` averages a player's evaluations over all rolls.
//!
//! A result is a board that a roll can lead to, from the point of view of the player who moves. A candidate is a result with its
//! evaluation.

use super::players::PlayerPool;
use super::protocol::{
    self, Analysis, AnalysisRequest, Branch, Candidate, CubeAct, CubeOutlook, CubeReview, Depth, Draft, Engine, Outlook, PlayerKind,
    Position, Review, Step, Unfold, Verdict,
};
use crate::RunError;
use learn::backgammon::{self as learners, Player};
use worlds::backgammon::notation::{self, route};
use worlds::backgammon::{
    BAR, Board, Chances, Crawford, Cube, CubeEquities, Game, GameState, Match, Player as Seat, Roll, Stakes, Standing,
};

pub(crate) fn position(board: &Board) -> Position {
    let counts = |side: worlds::backgammon::Side| (0..=worlds::backgammon::BAR).map(|p| side.count(p)).collect();
    Position {
        id: board.id().to_string(),
        mine: counts(board.mine()),
        theirs: counts(board.theirs()),
        my_pips: board.mine().pips(),
        their_pips: board.theirs().pips(),
    }
}

pub(crate) fn steps(of: &[notation::Step]) -> Vec<Step> {
    of.iter().map(|step| Step { from: step.from, to: step.to, hit: step.hit }).collect()
}

fn numbers(chances: &Chances) -> [f64; 6] {
    chances.0.map(f64::from)
}

/// Parses the id of a position. Returns the position with cube, stakes and score, from the point of view of the player on roll.
pub(crate) fn read_id(id: &str) -> Result<protocol::Standing, RunError> {
    Ok(standing(&Standing::read(id)?))
}

fn standing(Standing { game, bare, jacoby }: &Standing) -> protocol::Standing {
    let me = game.on_roll();
    let (length, score, crawford) = match game.stakes() {
        Stakes::Money => (0, [0; 2], false),
        Stakes::Match(m) => (m.length, [me, me.other()].map(|seat| m.score[seat as usize]), m.crawford == Crawford::Now),
    };
    protocol::Standing {
        position: position(&game.board()),
        gnu_id: game.gnu_id(),
        xgid: game.xgid(),
        bare: *bare,
        jacoby: *jacoby,
        dice: game.dice().map(Roll::dice),
        doubled: game.state() == GameState::Doubled,
        cube: game.cube().value,
        cube_is_mine: game.cube().owner.map(|owner| owner == me),
        length,
        score,
        crawford,
    }
}

/// Checks the input of a position editor. Returns the same data as [`read_id`] for the position.
pub(crate) fn compose(draft: &Draft) -> Result<protocol::Standing, RunError> {
    let side = |counts: &[u8]| {
        <[u8; BAR]>::try_from(counts)
            .map_err(|_| RunError::refused(format!("a side has {} places", counts.len()), "Give points 1 to 24 and the bar"))
    };
    let board = Board::new(side(&draft.mine)?, side(&draft.theirs)?)?;
    let owner = draft.cube_is_mine.map(|mine| if mine { Seat::One } else { Seat::Two });
    if owner.is_some() && draft.cube == 1 || owner.is_none() && draft.cube > 1 {
        return Err(RunError::refused(
            "a cube in the middle is at 1, and a turned cube has an owner",
            "Choose an owner and 2 or more, or no owner and 1",
        ));
    }
    let stakes = match draft.length {
        0 => Stakes::Money,
        length => {
            let crawford = if draft.crawford { Crawford::Now } else { Crawford::Ahead };
            Stakes::Match(Match { length, score: draft.score, crawford })
        }
    };
    let mut game = Game::at(board, Seat::One, Cube { value: draft.cube, owner }, stakes)?;
    if let GameState::Over(_) = game.state() {
        return Err(RunError::refused("the game has ended in this position", "Put a checker of each side on the board"));
    }
    if let Some(dice) = draft.dice {
        game.roll(dice)?;
    }
    read_id(&game.gnu_id())
}

fn no_opinion(name: &str) -> RunError {
    RunError::refused(format!("{name} gives no evaluations"), "Ask the agent")
}

/// Returns all results of the roll, in the player's order of preference. The player gives equities for money play. In a match, this
/// function converts these equities to equities of the match.
fn ranked(player: &mut dyn Player, game: &Game, roll: Roll) -> Result<Vec<learners::Candidate>, RunError> {
    let mut ranked = player.rank(game.board(), roll);
    if ranked.is_empty() {
        return Err(no_opinion(&player.name()));
    }
    if game.stakes() != Stakes::Money {
        for of in &mut ranked {
            let more = (game.equity(&of.chances) - of.chances.equity()) as f32;
            of.equity += more;
            of.first_equity += more;
        }
    }
    Ok(ranked)
}

/// Sorts results for display, by descending equity. If any result was searched, the results of depth `Static` come last.
fn sort(all: &mut [learners::Candidate]) {
    let any = searched(all);
    let behind = |of: &learners::Candidate| any && of.depth == Depth::Static;
    all.sort_by(|a, b| behind(a).cmp(&behind(b)).then(b.equity.total_cmp(&a.equity)));
}

/// Returns all results of the roll with the player's evaluations, sorted for display.
fn replies(player: &mut dyn Player, game: &Game, roll: Roll) -> Result<Vec<learners::Candidate>, RunError> {
    let mut replies = ranked(player, game, roll)?;
    sort(&mut replies);
    Ok(replies)
}

/// Returns true if any result was searched. Equities of depth `Static` are not comparable with searched equities.
fn searched(all: &[learners::Candidate]) -> bool {
    all.iter().any(|of| matches!(of.depth, Depth::Rolls { .. } | Depth::Visits { .. }))
}

/// Returns the id of the result `after`, from the point of view of the player who moved. In a match, the id also contains stakes and score,
/// unless the game has ended.
fn id_of(game: &Game, after: Board) -> String {
    let left = game.with(after, game.on_roll());
    match (left.stakes(), left.state()) {
        (Stakes::Match(_), GameState::ToRoll) => left.gnu_id(),
        _ => after.id().to_string(),
    }
}

/// Converts the result `of` to display data. The loss of `of` is relative to the first of the `considered` results. The loss is `None` if
/// `of` has the depth `Static` and another result was searched.
fn candidate(game: &Game, roll: Roll, of: &learners::Candidate, considered: &[learners::Candidate]) -> Result<Candidate, RunError> {
    let way = route(&game.board(), roll, &of.board)?;
    let compared = of.depth != Depth::Static || !searched(considered);
    let equity = f64::from(of.equity);
    Ok(Candidate {
        id: id_of(game, of.board),
        text: notation::words(&way),
        steps: steps(&way),
        equity,
        loss: compared.then(|| f64::from(considered[0].equity) - equity),
        depth: of.depth,
        chances: numbers(&of.chances),
        prior: of.prior.into(),
        share: of.share.into(),
    })
}

/// Converts the first results of `considered`, at most `most`, to display data.
pub(crate) fn candidates(game: &Game, roll: Roll, considered: &[learners::Candidate], most: usize) -> Result<Vec<Candidate>, RunError> {
    considered.iter().take(most).map(|of| candidate(game, roll, of, considered)).collect()
}

/// Evaluates the result `of` one ply ahead. For each of the 21 rolls, the other player makes the best reply. The new chances are the mean
/// of the chances after these replies, weighted by the probabilities of the rolls. A result that ends the game keeps its value and gets the
/// depth `Exact`.
fn one_ply(players: &mut PlayerPool, who: PlayerKind, game: &Game, of: &learners::Candidate) -> Result<learners::Candidate, RunError> {
    if of.board.points() != 0 {
        return Ok(learners::Candidate { depth: Depth::Exact, ..*of });
    }
    let player = players.player(Engine { who, evals: 1 })?;
    let theirs = game.with(of.board.turned(), game.on_roll().other());
    let mut sum = [0.0; 6];
    for roll in Roll::ALL {
        let reply = replies(player, &theirs, roll)?[0].chances;
        sum.iter_mut().zip(reply.0).for_each(|(sum, chance)| *sum += roll.ways() as f32 / 36.0 * chance);
    }
    let chances = Chances(sum).turned();
    let depth = Depth::Rolls { rolls: Roll::ALL.len() as u8 };
    Ok(learners::Candidate { chances, equity: game.equity(&chances) as f32, depth, ..*of })
}

/// Returns all results of a roll and the result that the player chooses. The results are sorted, best first. If any result was searched,
/// the results of depth `Static` come last.
///
/// If `evals` is above 1, the player looks ahead. Some results are then evaluated again over all 21 rolls, so that compared results have
/// the same depth:
/// - If results were searched over rolls: in money play, the results that were searched over fewer than 21 rolls; in a match, every result
///   that was searched over rolls.
/// - If no result was searched: only the best result, unless its value is exact.
pub(crate) fn considered(
    players: &mut PlayerPool,
    engine: Engine,
    game: &Game,
    roll: Roll,
) -> Result<(Vec<learners::Candidate>, Board), RunError> {
    let player = players.player(engine)?;
    let by_policy = player.has_policy();
    let mut all = ranked(player, game, roll)?;
    let preferred = all[0].board;
    if engine.evals > 1 {
        if !searched(&all) {
            sort(&mut all);
            if all[0].depth == Depth::Static {
                all[0] = one_ply(players, engine.who, game, &all[0])?;
            }
        }
        let in_match = game.stakes() != Stakes::Money;
        for of in &mut all {
            let Depth::Rolls { rolls } = of.depth else { continue };
            if in_match || usize::from(rolls) < Roll::ALL.len() {
                *of = one_ply(players, engine.who, game, of)?;
            }
        }
    }
    sort(&mut all);
    let played = if by_policy { preferred } else { all[0].board };
    Ok((all, played))
}

pub(crate) fn analyse(players: &mut PlayerPool, request: &AnalysisRequest) -> Result<Analysis, RunError> {
    let read = Standing::read(&request.id)?;
    let roll = request.dice.map(|[one, other]| Roll::new(one, other)).transpose()?;
    let mut game = read.game;
    if game.dice().is_some() {
        game = game.before_roll();
    }
    let engine = Engine { who: request.who, evals: request.evals };
    let analysis = analysis(players, engine, &game, true, roll)?;
    if let Some(roll) = roll {
        game = game.before_roll();
        game.roll(roll.dice())?;
    }
    Ok(Analysis { standing: Some(standing(&Standing { game, ..read })), ..analysis })
}

/// Analyses a position. With a roll, the analysis contains the candidates. Without a roll, the analysis contains the chances and the cube
/// decision: to double or to roll, or the answer to an offered double.
pub(crate) fn analysis(
    players: &mut PlayerPool,
    engine: Engine,
    game: &Game,
    cube_in_play: bool,
    roll: Option<Roll>,
) -> Result<Analysis, RunError> {
    let name = players.name(engine)?;
    let board = game.board();
    let mut analysis =
        Analysis { position: position(&board), dice: roll.map(Roll::dice), name, evals: engine.evals, ..Analysis::default() };
    match roll {
        Some(roll) => {
            let (considered, _) = considered(players, engine, game, roll)?;
            analysis.candidates = candidates(game, roll, &considered, usize::MAX)?;
        }
        None => {
            let expected = players.player(engine)?.expects(board);
            let chances = expected.ok_or_else(|| no_opinion(&analysis.name))?;
            analysis.outlook = Some(outlook(game, cube_in_play, &chances));
        }
    }
    Ok(analysis)
}

fn outlook(game: &Game, cube_in_play: bool, chances: &Chances) -> Outlook {
    Outlook {
        chances: numbers(chances),
        equity: game.equity(chances),
        cube: cube_outlook(game, cube_in_play, &game.cube_equities(chances)),
    }
}

fn cube_outlook(game: &Game, cube_in_play: bool, equities: &CubeEquities) -> CubeOutlook {
    CubeOutlook {
        may_double: cube_in_play && equities.may_double,
        offered: game.state() == GameState::Doubled,
        no_double: equities.no_double,
        double_take: equities.double_take,
        double_pass: equities.double_pass,
        double: cube_in_play && equities.double(),
        take: equities.take(),
        too_good: cube_in_play && equities.too_good(),
        match_chances: equities.match_chances,
    }
}

pub(crate) fn verdict(error: f64) -> Verdict {
    match error {
        error if error >= 0.16 => Verdict::Blunder,
        error if error >= 0.08 => Verdict::Bad,
        error if error >= 0.04 => Verdict::Dubious,
        error if error >= 0.0005 => Verdict::Good,
        _ => Verdict::Best,
    }
}

/// Compares a cube decision with the best one. `game` is the state before the decision.
pub fn review_cube(game: &Game, chances: &Chances, did: CubeAct) -> CubeReview {
    let equities = game.cube_equities(chances);
    let (passed, taken) = (equities.double_pass, equities.double_take);
    let (best, error) = match did {
        CubeAct::NoDouble | CubeAct::Double => {
            let lost = equities.doubled() - equities.no_double;
            let best = if lost > 0.0 { CubeAct::Double } else { CubeAct::NoDouble };
            (best, if did == CubeAct::NoDouble { lost } else { -lost })
        }
        CubeAct::Take | CubeAct::Pass => {
            let lost = taken - passed;
            let best = if lost > 0.0 { CubeAct::Pass } else { CubeAct::Take };
            (best, if did == CubeAct::Take { lost } else { -lost })
        }
    };
    let error = error.max(0.0);
    CubeReview { did, best, error, verdict: verdict(error), outlook: cube_outlook(game, true, &equities) }
}

/// Returns the other player's best reply to a move for each of the 21 rolls. `request` contains the id of the position after the move.
pub(crate) fn unfold(players: &mut PlayerPool, request: &Unfold) -> Result<Vec<Branch>, RunError> {
    let game = Standing::read(&request.id)?.game;
    let game = game.with(game.board().turned(), game.on_roll().other());
    if game.state() != GameState::ToRoll {
        return Err(RunError::refused("the game has ended in this position", "Choose a position of a game in progress"));
    }
    let player = players.player(Engine { who: request.who, evals: request.evals })?;
    let branch = |roll: Roll| {
        let replies = replies(player, &game, roll)?;
        let best = candidate(&game, roll, &replies[0], &replies)?;
        Ok(Branch { dice: roll.dice(), ways: roll.ways(), equity: -best.equity, id: best.id, text: best.text })
    };
    Roll::ALL.into_iter().map(branch).collect()
}

/// Compares a move with the best move. `before` is the game before the move, and `after` is the board after the move. Both moves are
/// evaluated in the same way, unless the value of a move is exact.
pub(crate) fn review(players: &mut PlayerPool, engine: Engine, before: &Game, roll: Roll, after: &Board) -> Result<Review, RunError> {
    let (all, _) = considered(players, engine, before, roll)?;
    let yours = *all.iter().find(|of| of.board == *after).ok_or(notation::NotationError::Result)?;
    let mut pair = [all[0], yours];
    let any = searched(&all);
    if any && yours.depth == Depth::Static {
        // One result is static and the other may be from a tree search. Both are evaluated again over all rolls, so that the depths agree.
        for of in &mut pair {
            if !matches!(of.depth, Depth::Rolls { .. } | Depth::Exact) {
                *of = one_ply(players, engine.who, before, of)?;
            }
        }
        sort(&mut pair);
    }
    let [best, other] = pair;
    let yours = if best.board == *after { best } else { other };
    let better = |of: &&learners::Candidate| {
        let compared = !any || of.depth != Depth::Static;
        compared && of.board != *after && of.equity > yours.equity
    };
    let rank = if best.board == *after { 1 } else { 1 + all.iter().filter(better).count().max(1) };
    let yours = candidate(before, roll, &yours, &pair)?;
    let lost = yours.loss.unwrap_or(0.0);
    Ok(Review {
        dice: roll.dice(),
        before: position(&before.board()),
        best: candidate(before, roll, &best, &pair)?,
        rank: rank as u32,
        of: all.len() as u32,
        verdict: verdict(lost),
        yours,
        error: lost,
        reviewed: 0,
        lost: 0.0,
    })
}
