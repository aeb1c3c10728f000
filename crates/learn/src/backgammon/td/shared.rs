//! Rounds whose games remote workers play. The result of a game follows from the seed, the game's number and the weights of the round. A
//! learner that receives games therefore continues exactly as if it had played the games itself. The division of the games among workers
//! has no effect.
//!
//! Processes exchange rounds and games as named arrays, in the same form as checkpoints.

use super::{GameResult, LONGEST, Phase, SelfPlay, Strong, StrongConfig, StrongError};
use crate::backgammon::inputs::{self, INPUTS};
use crate::backgammon::net::{NETS, Network, Sample, Shape};
use crate::backgammon::outcomes::OUTCOMES;
use crate::state::{bad, bytes, counters, floats_of, missing, numbers};
use crate::{Data, Find, Parts, SavedError, Sharing};
use math::{Isa, par};
use std::ops::Range;

/// Description of a round: everything that a worker needs to play the games.
#[derive(Clone, Debug, PartialEq)]
pub struct Round {
    seed: u32,
    shape: Shape,
    lambda: f32,
    lookahead: bool,
    /// Numbers of the round's games whose results are still missing. Games are numbered consecutively over the whole training.
    pub games: Range<u64>,
    learned: Vec<f32>,
}

/// Results of consecutive games. `first` is the number of the first game.
#[derive(Default)]
pub struct Games {
    first: u64,
    samples: Vec<Sample>,
    results: Vec<GameResult>,
}

const ROUND: &str = "round";
const WEIGHTS: &str = "round.weights";
const LAMBDA: &str = "round.lambda";
const GAMES: &str = "games";
const OUTCOME: &str = "games.outcome";
const BOARDS: &str = "boards";
const TARGETS: &str = "boards.target";

impl Round {
    pub fn into_parts(self) -> Parts {
        let Round { seed, shape, lambda, lookahead, games, learned } = self;
        let Shape { hidden, narrow, depth, handmade, bearoff } = shape;
        let sizes = [hidden, narrow, depth].map(|size| size as u64);
        let switches = [handmade, bearoff, lookahead].map(u64::from);
        let numbers = [&[u64::from(seed)][..], &sizes, &switches, &[games.start, games.end]].concat();
        vec![
            (ROUND.into(), vec![numbers.len()], Data::U64(numbers)),
            (LAMBDA.into(), vec![1], Data::F32(vec![lambda])),
            (WEIGHTS.into(), vec![learned.len()], Data::F32(learned)),
        ]
    }

    pub fn from_parts(find: &Find) -> Result<Round, StrongError> {
        let [seed, hidden, narrow, depth, handmade, bearoff, lookahead, start, end] = counters(find, ROUND)?;
        let [handmade, bearoff, lookahead] = [handmade, bearoff, lookahead].map(|word| word == 1);
        let [hidden, narrow, depth] = [hidden, narrow, depth].map(|size| size as usize);
        let settings = StrongConfig { hidden, narrow, depth, handmade, bearoff, ..StrongConfig::default() };
        let Ok(seed) = u32::try_from(seed) else { return Err(missing(ROUND).into()) };
        if settings.check().is_err() || start > end {
            return Err(missing(ROUND).into());
        }
        let shape = settings.shape();
        let lambda = floats_of(find, LAMBDA, 1)?[0];
        let learned = floats_of(find, WEIGHTS, shape.weights_len())?.to_vec();
        Ok(Round { seed, shape, lambda, lookahead, games: start..end, learned })
    }

    /// Plays the games of this round that have the numbers `games`, on all threads.
    pub fn play(&self, isa: Isa, games: Range<u64>) -> Games {
        let games = games.start.max(self.games.start)..games.end.min(self.games.end);
        let network = Network::new(isa, self.shape, &self.learned);
        let mut played = Games { first: games.start, ..Games::default() };
        let at_once = par::threads().max(1) * 2;
        let mut self_plays: Vec<SelfPlay> = std::iter::repeat_with(SelfPlay::default).take(at_once).collect();
        let mut next = games.start;
        while next < games.end {
            let count = at_once.min((games.end - next) as usize);
            par::each_mut(&mut self_plays[..count], |i, self_play| {
                self_play.play(&network, self.seed, next + i as u64, self.lambda, self.lookahead);
            });
            for self_play in &mut self_plays[..count] {
                played.results.push(self_play.take_result());
                played.samples.extend_from_slice(&self_play.samples);
            }
            next += count as u64;
        }
        played
    }

    /// Returns a hash of one short game. Two builds with different hashes play differently, so a worker must have the same hash as the
    /// learner.
    pub fn fingerprint(isa: Isa) -> u64 {
        let shape = StrongConfig { hidden: 16, ..StrongConfig::default() }.shape();
        let learned = shape.first_weights(isa, 1, super::WEIGHTS);
        let round = Round { seed: 1, shape, lambda: 0.7, lookahead: false, games: 0..1, learned };
        let mut hash = 0xcbf2_9ce4_8422_2325_u64;
        let mut write = |bytes: &[u8]| {
            bytes.iter().for_each(|&b| hash = (hash ^ u64::from(b)).wrapping_mul(0x0000_0100_0000_01b3));
        };
        for sample in &round.play(isa, 0..1).samples {
            write(&sample.inputs);
            write(&[sample.open, sample.net]);
            sample.target.iter().for_each(|p| write(&p.to_le_bytes()));
        }
        hash
    }
}

/// Number of bytes of a board in the array called [`BOARDS`]: the inputs, the mask of possible outcomes, and the index of the network.
const BOARD: usize = INPUTS + 2;

impl Games {
    pub fn parts(&self) -> Parts {
        let mut numbers = vec![self.first];
        numbers.extend(self.results.iter().flat_map(|game| [game.samples as u64, game.moves, game.evaluations]));
        let outcomes: Vec<f32> = self.results.iter().flat_map(|game| game.outcome).collect();
        let mut boards = Vec::with_capacity(BOARD * self.samples.len());
        for sample in &self.samples {
            boards.extend_from_slice(&sample.inputs);
            boards.extend([sample.open, sample.net]);
        }
        let targets: Vec<f32> = self.samples.iter().flat_map(|sample| sample.target).collect();
        vec![
            (GAMES.into(), vec![numbers.len()], Data::U64(numbers)),
            (OUTCOME.into(), vec![self.results.len(), OUTCOMES], Data::F32(outcomes)),
            (BOARDS.into(), vec![self.samples.len(), BOARD], Data::U8(boards)),
            (TARGETS.into(), vec![self.samples.len(), OUTCOMES], Data::F32(targets)),
        ]
    }

    fn from_parts(find: &Find) -> Result<Games, SavedError> {
        let (&first, counts) = numbers(find, GAMES)?.split_first().ok_or_else(|| missing(GAMES))?;
        let (counts, []) = counts.as_chunks::<3>() else { return Err(missing(GAMES)) };
        let outcomes = floats_of(find, OUTCOME, OUTCOMES * counts.len())?.as_chunks::<OUTCOMES>().0;
        let (boards, []) = bytes(find, BOARDS)?.as_chunks::<BOARD>() else { return Err(missing(BOARDS)) };
        let targets = floats_of(find, TARGETS, OUTCOMES * boards.len())?.as_chunks::<OUTCOMES>().0;
        let results: Vec<GameResult> = counts
            .iter()
            .zip(outcomes)
            .map(|(&[samples, moves, evaluations], &outcome)| GameResult { samples: samples as usize, moves, evaluations, outcome })
            .collect();
        let most = results.iter().map(|game| game.samples).max().unwrap_or(0);
        if most > LONGEST || results.iter().map(|game| game.samples).sum::<usize>() != boards.len() {
            return Err(missing(GAMES));
        }
        let samples = boards.iter().zip(targets).map(|(board, &target)| {
            let (&inputs, &[open, net]) = board.split_first_chunk().expect("longer than INPUTS") else { return Err(missing(BOARDS)) };
            let is_sound = inputs::layout().is_valid(&inputs) && usize::from(net) < NETS;
            if is_sound { Ok(Sample { inputs, open, net, target }) } else { Err(bad(BOARDS)) }
        });
        Ok(Games { first, samples: samples.collect::<Result<_, _>>()?, results })
    }

    pub fn range(&self) -> Range<u64> {
        self.first..self.first + self.results.len() as u64
    }
}

impl Strong {
    /// Returns a description of this round for workers. It contains all games of the round that are not complete. Returns `None` while the
    /// learner trains.
    pub fn round(&self) -> Option<Round> {
        let Phase::Playing(_) = self.phase else { return None };
        Some(Round {
            seed: self.seed,
            shape: self.shape,
            lambda: self.lambda(),
            lookahead: self.looks_ahead(),
            games: self.due_games(),
            learned: self.learned.clone(),
        })
    }

    fn due_games(&self) -> Range<u64> {
        let played = if let Phase::Playing(played) = self.phase { played } else { self.games() };
        self.progress.games..self.progress.games + (self.games() - played) as u64
    }

    /// Adds the results of the next games of this round, which a worker played from the description of [`Strong::round`]. Returns an error
    /// if the first game of `games` is not the next game of the round, or if `games` is empty or too long.
    pub fn take_games(&mut self, games: &Games) -> Result<(), StrongError> {
        let (found, due) = (games.range(), self.due_games());
        if found.is_empty() || found.start != due.start || found.end > due.end {
            return Err(StrongError::OtherGames { found, due });
        }
        // The received games replace the learner's own games in progress.
        self.under_way = 0;
        let mut samples = games.samples.as_slice();
        for game in &games.results {
            let (played, rest) = samples.split_at(game.samples);
            samples = rest;
            self.add_game(game, played);
        }
        self.phase = self.next_phase(self.games() - (due.end - found.end) as usize);
        Ok(())
    }
}

impl Sharing for Strong {
    fn share(&mut self, shared: bool) {
        self.shared = shared;
    }

    fn is_shared(&self) -> bool {
        self.shared
    }

    fn is_due(&self) -> bool {
        matches!(self.phase, Phase::Playing(_))
    }

    fn due(&self) -> Option<(Range<u64>, Parts)> {
        let round = self.round()?;
        Some((round.games.clone(), round.into_parts()))
    }

    fn take(&mut self, find: &Find) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
        Ok(self.take_games(&Games::from_parts(find)?)?)
    }
}
