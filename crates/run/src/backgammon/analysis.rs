//! What a player thinks of a position, in words and numbers for people: candidates with their notation, chances before the
//! roll with advice on the cube, and the tree one level on. It refuses to think by itself.

use super::protocol::{
    Analysis, AnalysisRequest, Branch, Candidate, Engine, MOST_EVALS, Outlook, Position, Review, Step,
    Unfold, Verdict,
};
use crate::RunError;
use learn::backgammon::{self as learners, Player};
use worlds::backgammon::notation::{self, route};
use worlds::backgammon::{Board, Chances, Cube, Game, Player as Seat, Roll, Stakes};

/// Where to find whoever is asked.
pub(crate) trait Players {
    fn player(&mut self, engine: Engine) -> Result<&mut dyn Player, RunError>;

    /// What it is called at a table.
    fn name(&mut self, engine: Engine) -> Result<String, RunError>;
}

pub(crate) fn check_evals(evals: u32) -> Result<(), RunError> {
    if evals > MOST_EVALS {
        return Err(RunError::refused(
            format!("{evals} evaluations are more than anyone here waits for"),
            format!("Ask for {MOST_EVALS} at most"),
        ));
    }
    Ok(())
}

pub(crate) fn position(board: &Board) -> Position {
    let counts =
        |side: worlds::backgammon::Side| (0..=worlds::backgammon::BAR).map(|p| side.count(p)).collect();
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

/// A position's id, alone or with a match's behind a colon.
pub(crate) fn board_from(id: &str) -> Result<Board, RunError> {
    let id = id.trim();
    let board = Board::from_id(id.split_once(':').map_or(id, |(board, _)| board.trim_end()))?;
    if board.points() != 0 {
        return Err(RunError::refused("in this position the game has ended", "Ask about one that goes on"));
    }
    Ok(board)
}

fn no_opinion(name: &str) -> RunError {
    RunError::refused(format!("{name} plays, but has no opinion to tell"), "Ask the agent")
}

/// Every result as a player ranks it, the best first.
fn ranked(player: &mut dyn Player, board: Board, roll: Roll) -> Result<Vec<learners::Candidate>, RunError> {
    let ranked = player.rank(board, roll);
    if ranked.is_empty() { Err(no_opinion(&player.name())) } else { Ok(ranked) }
}

pub(crate) fn candidate(
    board: &Board,
    roll: Roll,
    of: &learners::Candidate,
    best: f32,
) -> Result<Candidate, RunError> {
    let way = route(board, roll, &of.board)?;
    Ok(Candidate {
        id: of.board.id().to_string(),
        text: notation::words(&way),
        steps: steps(&way),
        equity: of.equity.into(),
        loss: f64::from(best) - f64::from(of.equity),
        chances: numbers(&of.chances),
        prior: of.prior.into(),
        share: of.share.into(),
    })
}

/// The first `most` of them.
pub(crate) fn candidates(
    board: &Board,
    roll: Roll,
    ranked: &[learners::Candidate],
    most: usize,
) -> Result<Vec<Candidate>, RunError> {
    let best = ranked.first().map_or(0.0, |best| best.equity);
    ranked.iter().take(most).map(|of| candidate(board, roll, of, best)).collect()
}

pub(crate) fn analyse(players: &mut dyn Players, asked: &AnalysisRequest) -> Result<Analysis, RunError> {
    let board = board_from(&asked.id)?;
    let roll = asked.dice.map(|[one, other]| Roll::new(one, other)).transpose()?;
    let centred = Cube { value: 1, owner: None };
    let game = Game::at(board, Seat::One, centred, Stakes::Money)?;
    analysis(players, Engine { who: asked.who, evals: asked.evals }, &game, true, roll)
}

/// Of a game before the roll or once a double is offered; or of a roll in it.
pub(crate) fn analysis(
    players: &mut dyn Players,
    engine: Engine,
    game: &Game,
    cube_in_play: bool,
    roll: Option<Roll>,
) -> Result<Analysis, RunError> {
    let name = players.name(engine)?;
    let player = players.player(engine)?;
    let board = game.board();
    let mut analysis = Analysis {
        position: position(&board),
        dice: roll.map(|roll| [roll.high(), roll.low()]),
        name,
        evals: engine.evals,
        ..Analysis::default()
    };
    match roll {
        Some(roll) => {
            analysis.candidates = candidates(&board, roll, &ranked(player, board, roll)?, usize::MAX)?;
        }
        None => {
            let chances = player.expects(board).ok_or_else(|| no_opinion(&analysis.name))?;
            analysis.outlook = Some(outlook(game, cube_in_play, &chances));
        }
    }
    Ok(analysis)
}

fn outlook(game: &Game, cube_in_play: bool, chances: &Chances) -> Outlook {
    let may_double = cube_in_play && game.may_double();
    let mut doubled = *game;
    // Where it is offered already, this changes nothing.
    let _ = doubled.double();
    Outlook {
        chances: numbers(chances),
        equity: chances.equity(),
        may_double,
        double: may_double && game.should_double(chances),
        take: doubled.should_take(&chances.turned()),
    }
}

/// The tree one level on: the other player's rolls, each with the best reply.
pub(crate) fn unfold(players: &mut dyn Players, asked: &Unfold) -> Result<Vec<Branch>, RunError> {
    let board = board_from(&asked.id)?.turned();
    let player = players.player(Engine { who: asked.who, evals: asked.evals })?;
    let branch = |roll: Roll| {
        let ranked = ranked(player, board, roll)?;
        let best = candidate(&board, roll, &ranked[0], ranked[0].equity)?;
        Ok(Branch {
            dice: [roll.high(), roll.low()],
            ways: roll.ways(),
            equity: -best.equity,
            id: best.id,
            text: best.text,
        })
    };
    Roll::ALL.into_iter().map(branch).collect()
}

/// A move that was made, held against the best one.
pub(crate) fn review(
    player: &mut dyn Player,
    before: &Board,
    roll: Roll,
    after: &Board,
) -> Result<Review, RunError> {
    let ranked = ranked(player, *before, roll)?;
    let best = ranked[0].equity;
    let rank = ranked.iter().position(|of| of.board == *after);
    let rank = rank.ok_or(notation::NotationError::Result)?;
    let yours = candidate(before, roll, &ranked[rank], best)?;
    let verdict = match yours.loss {
        _ if rank == 0 => Verdict::Best,
        loss if loss >= 0.16 => Verdict::Blunder,
        loss if loss >= 0.08 => Verdict::Bad,
        loss if loss >= 0.04 => Verdict::Doubtful,
        _ => Verdict::Good,
    };
    Ok(Review {
        dice: [roll.high(), roll.low()],
        before: position(before),
        best: candidate(before, roll, &ranked[0], best)?,
        yours,
        rank: rank as u32 + 1,
        of: ranked.len() as u32,
        verdict,
        reviewed: 0,
        lost: 0.0,
    })
}
