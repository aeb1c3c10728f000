//! Rounds whose games remote workers play. A piece is one actor with all of its games, because the games of an actor share batches and
//! cannot be divided. An actor's results follow from the positions of its games and the weights at the start of the round. A learner that
//! receives results therefore continues exactly as if it had played the games itself.
//!
//! The updates of a round do not depend on the games of that round, so the learner makes the updates while the workers play.

use super::net::{self, Evaluator, Shape, Weights};
use super::replay::{self, Sample, WORDS};
use super::saved_games::{GAMES, TRACES, games_parts, unread};
use super::selfplay::{Actor, Endings, Games, Playing, SAVED};
use super::{Phase, Published, PublishedConfig, PublishedError};
use crate::backgammon::Stats;
use crate::state::{bad, floats, missing, numbers, words};
use crate::{Data, Find, Parts, SavedError, Sharing, Slice};
use graph::Params;
use math::{Isa, par};
use std::ops::Range;

/// Description of a round: everything that a worker needs to play the games.
#[derive(Clone)]
pub struct Round {
    /// Settings that affect play. All other settings have their default values.
    config: PublishedConfig,
    seed: u32,
    /// Numbers of the pieces whose results have not been received yet. Pieces are numbered consecutively over the whole training.
    pieces: Range<u64>,
    weights: Vec<f32>,
    /// Saved games of each piece in `pieces`.
    games: Vec<Games>,
}

/// Results of consecutive actors. `first` is the number of the first actor's piece.
pub struct Played {
    first: u64,
    results: Vec<ActorResult>,
}

/// Results of one actor in a round. `games` are the actor's games at the end of the round.
struct ActorResult {
    games: Games,
    samples: Vec<Sample>,
    endings: Endings,
    moves: u64,
    evaluated: u64,
}

const ROUND: &str = "actors";
const RULE: &str = "actors.rule";
const WEIGHTS: &str = "actors.weights";
const PLAYED: &str = "played";
const COUNTS: &str = "played.counts";
const SAMPLES: &str = "played.samples";

/// Reads the saved games of `actors` actors and splits them by actor.
fn games_from_parts(find: &Find, actors: usize) -> Result<Vec<Games>, SavedError> {
    let mut saved = unread(find)?;
    let each = saved.games.len() / SAVED / actors.max(1);
    if each == 0 || saved.games.len() != actors * each * SAVED {
        return Err(missing(GAMES));
    }
    let of: Option<Vec<Games>> = (0..actors).map(|_| saved.split_off(each).map(|mine| mine.to_owned())).collect();
    of.filter(|_| saved.is_empty()).ok_or_else(|| missing(TRACES))
}

impl Round {
    pub fn is_in(find: &Find) -> bool {
        find(ROUND).is_some()
    }

    pub fn parts(&self) -> Parts {
        let PublishedConfig { evals, games, batch, leaves, round_batches, warm_decisions, .. } = self.config;
        let PublishedConfig { exploration, doubt, virtual_loss, noise, noise_alpha, temperature, .. } = self.config;
        let Shape { width, blocks } = self.config.shape();
        let sizes = [evals, games, batch, leaves, round_batches, warm_decisions as usize, width, blocks];
        let mut numbers = vec![u64::from(self.seed), self.pieces.start, self.pieces.end];
        numbers.extend(sizes.map(|size| size as u64));
        let rule = vec![exploration, doubt, virtual_loss, noise, noise_alpha, temperature];
        let mut parts = games_parts(self.games.iter());
        parts.extend([
            (ROUND.into(), vec![numbers.len()], Data::U64(numbers)),
            (RULE.into(), vec![rule.len()], Data::F32(rule)),
            (WEIGHTS.into(), vec![self.weights.len()], Data::F32(self.weights.clone())),
        ]);
        parts
    }

    pub fn from_parts(find: &Find) -> Result<Round, PublishedError> {
        let &[seed, start, end, ref sizes @ ..] = numbers(find, ROUND)? else { return Err(missing(ROUND).into()) };
        let &[evals, games, batch, leaves, round_batches, warm_decisions, width, blocks] = sizes else {
            return Err(missing(ROUND).into());
        };
        let &[exploration, doubt, virtual_loss, noise, noise_alpha, temperature] = floats(find, RULE)? else {
            return Err(missing(RULE).into());
        };
        let config = PublishedConfig {
            evals: evals as usize,
            actors: end.checked_sub(start).ok_or_else(|| missing(ROUND))? as usize,
            games: games as usize,
            batch: batch as usize,
            leaves: leaves as usize,
            round_batches: round_batches as usize,
            exploration,
            doubt,
            virtual_loss,
            noise,
            noise_alpha,
            temperature,
            warm_decisions: u32::try_from(warm_decisions).map_err(|_| missing(ROUND))?,
            width: width as usize,
            blocks: blocks as usize,
            ..PublishedConfig::default()
        };
        // Invalid settings and a wrong number of saved games are rejected before anything is allocated.
        config.check()?;
        let of = games_from_parts(find, config.actors)?;
        if of.iter().any(|one| one.games.len() != config.games * SAVED) {
            return Err(missing(GAMES).into());
        }
        Ok(Round {
            seed: u32::try_from(seed).map_err(|_| missing(ROUND))?,
            pieces: start..end,
            weights: floats(find, WEIGHTS)?.to_vec(),
            games: of,
            config,
        })
    }

    /// Plays the pieces of this round that have the numbers `pieces`, on all threads.
    pub fn play(&self, isa: Isa, pieces: Range<u64>) -> Result<Played, PublishedError> {
        let Round { config, seed, .. } = self;
        let first = pieces.start.clamp(self.pieces.start, self.pieces.end);
        let end = pieces.end.clamp(first, self.pieces.end);
        let mine = &self.games[(first - self.pieces.start) as usize..(end - self.pieces.start) as usize];
        let plan = net::plan_search(config.shape(), config.batch, isa)?;
        let mut params = Params::new(plan.table(), 0);
        if params.values().len() != self.weights.len() {
            return Err(missing(WEIGHTS).into());
        }
        params.values_mut().copy_from_slice(&self.weights);
        let weights = Weights::new(&plan, &params);
        let playing = Playing { config, isa, weights: &weights, clock: || 0.0 };
        let at_once = par::threads().clamp(1, mine.len().max(1));
        let actor = || Actor::new(&plan, config, *seed, 0);
        let mut actors: Vec<Actor> = std::iter::repeat_with(actor).take(at_once).collect();
        let mut results = Vec::with_capacity(mine.len());
        for mine in mine.chunks(at_once) {
            let actors = &mut actors[..mine.len()];
            for (actor, games) in actors.iter_mut().zip(mine) {
                actor.restore(config, *seed, &mut games.unread()).ok_or_else(|| bad(GAMES))?;
            }
            par::each_mut(actors, |_, actor| {
                (0..config.round_batches).for_each(|_| actor.step(playing));
            });
            results.extend(actors.iter().map(ActorResult::new));
        }
        Ok(Played { first, results })
    }

    /// Returns words that identify how this build plays. The words are the network's outputs for the positions at the end of a short round,
    /// and the saved games and searches of this round. Builds with different words play differently.
    pub fn fingerprint(isa: Isa) -> Result<Vec<u32>, PublishedError> {
        let config = PublishedConfig { evals: 60, actors: 1, games: 2, batch: 8, round_batches: 24, ..Default::default() };
        let plan = net::plan_search(config.shape(), config.batch, isa)?;
        let params = Params::new(plan.table(), 1);
        let mut games = Games::default();
        Actor::new(&plan, &config, 1, 0).save(&mut games);
        let weights = params.values().to_vec();
        let round = Round { config, seed: 1, pieces: 0..1, weights, games: vec![games] };
        let mut words = Vec::new();
        for ActorResult { games: Games { games, traces, searches }, .. } in round.play(isa, 0..1)?.results {
            let mut evaluator = Evaluator::new(&plan, round.config.batch);
            evaluator.clear();
            let decisions = games.chunks_exact(SAVED).map(replay::read_decision);
            let count = decisions.flatten().map(|decision| evaluator.see(&decision)).count();
            evaluator.run(&Weights::new(&plan, &params));
            words.extend((0..count).flat_map(|row| evaluator.heads(row)).map(f32::to_bits));
            words.extend((0..count).flat_map(|row| evaluator.hidden(row)).map(|x| x.to_bits()));
            words.extend(games.iter().chain(&traces).chain(&searches));
        }
        Ok(words)
    }
}

impl ActorResult {
    fn new(actor: &Actor) -> ActorResult {
        let mut games = Games::default();
        actor.save(&mut games);
        ActorResult {
            games,
            samples: actor.finished_samples.clone(),
            endings: actor.endings,
            moves: actor.moves,
            evaluated: actor.evaluated(),
        }
    }
}

impl Played {
    pub fn parts(&self) -> Parts {
        let counts = self.results.iter().flat_map(|one| {
            let Endings { games, turns, gammons, backgammons } = one.endings;
            [one.samples.len() as u64, games, turns, gammons, backgammons, one.moves, one.evaluated]
        });
        let counts: Vec<u32> = counts.map(|count| count as u32).collect();
        let samples: Vec<u32> = self.results.iter().flat_map(|one| one.samples.iter().flatten()).copied().collect();
        let mut parts = games_parts(self.results.iter().map(|one| &one.games));
        parts.extend([
            (PLAYED.into(), vec![1], Data::U64(vec![self.first])),
            (COUNTS.into(), vec![self.results.len(), 7], Data::U32(counts)),
            (SAMPLES.into(), vec![samples.len() / WORDS, WORDS], Data::U32(samples)),
        ]);
        parts
    }

    fn from_parts(find: &Find) -> Result<Played, SavedError> {
        let &[first] = numbers(find, PLAYED)? else { return Err(missing(PLAYED)) };
        let (counts, []) = words(find, COUNTS)?.as_chunks::<7>() else { return Err(missing(COUNTS)) };
        let (mut left, []) = words(find, SAMPLES)?.as_chunks::<WORDS>() else { return Err(missing(SAMPLES)) };
        if !left.iter().all(replay::is_sound) {
            return Err(bad(SAMPLES));
        }
        let mut results = Vec::with_capacity(counts.len());
        for (games, counts) in games_from_parts(find, counts.len())?.into_iter().zip(counts) {
            let &[samples, ref counts @ ..] = counts;
            let (mine, rest) = left.split_at_checked(samples as usize).ok_or_else(|| missing(SAMPLES))?;
            left = rest;
            let [ended, turns, gammons, backgammons, moves, evaluated] = counts.map(u64::from);
            let endings = Endings { games: ended, turns, gammons, backgammons };
            results.push(ActorResult { games, samples: mine.to_vec(), endings, moves, evaluated });
        }
        if !left.is_empty() {
            return Err(missing(SAMPLES));
        }
        Ok(Played { first, results })
    }
}

impl Published {
    /// Returns the number of this round's first piece. Numbering continues over rounds, so an actor has a different number in each round.
    fn first_piece(&self) -> u64 {
        self.progress.iterations * self.config.actors as u64
    }

    /// Returns a description of this round for workers. It contains all actors whose results have not been received yet. Returns `None` in
    /// three cases: all results were received, the learner has played batches of this round itself, or work is offloaded.
    pub fn round(&self) -> Option<Round> {
        self.is_due().then(|| Round {
            config: self.config.clone(),
            seed: self.seed,
            pieces: self.due_pieces(),
            weights: self.playing.params.values().to_vec(),
            games: self.actors[self.sharing.received..].iter().map(|actor| ActorResult::new(actor).games).collect(),
        })
    }

    fn due_pieces(&self) -> Range<u64> {
        let first = self.first_piece();
        first + self.sharing.received as u64..first + self.actors.len() as u64
    }

    /// Runs one slice of the round's updates while workers play. Returns [`Slice::Waiting`] if no updates are left.
    pub(super) fn learn_meanwhile(&mut self, updates: usize) -> Slice<Stats> {
        let until = self.updates_until(self.config.round_batches, updates);
        if until == updates {
            return Slice::Waiting;
        }
        let pieces = self.limits.pieces(&self.trainer.cut, 0.0);
        let learned = self.beside(0..0, until - updates, pieces, |_, _| {});
        self.phase = Phase::Play { batches: 0, ahead: 0, updates: updates + learned };
        Slice::Worked
    }

    /// Adds the results of actors that a worker played from [`Published::round`]. Returns an error in three cases: the first actor of
    /// `played` is not the first actor without results, `played` is empty or too long, or a game is invalid.
    pub fn take_played(&mut self, played: &Played) -> Result<(), PublishedError> {
        let due = if self.is_due() { self.due_pieces() } else { 0..0 };
        let found = played.first..played.first.saturating_add(played.results.len() as u64);
        if found.is_empty() || found.start != due.start || found.end > due.end {
            return Err(PublishedError::OtherPieces { found, due });
        }
        let Published { config, seed, .. } = self;
        let received = self.sharing.received..self.sharing.received + played.results.len();
        let actors = &mut self.actors[received.clone()];
        let before: Vec<Games> = actors.iter().map(|actor| ActorResult::new(actor).games).collect();
        let each = config.games * SAVED;
        let sound = actors.iter_mut().zip(&played.results).all(|(actor, result)| {
            let ActorResult { games, samples, endings, moves, evaluated } = result;
            let mut saved = games.unread();
            let sound = games.games.len() == each && actor.restore(config, *seed, &mut saved).is_some() && saved.is_empty();
            actor.credit(samples, *endings, *moves, *evaluated);
            sound
        });
        if !sound {
            for (actor, games) in actors.iter_mut().zip(&before) {
                actor.restore(config, *seed, &mut games.unread()).expect("saved from these actors");
            }
            return Err(bad(GAMES).into());
        }
        self.sharing.received = received.end;
        if let Phase::Play { batches, .. } = &mut self.phase
            && self.sharing.received == self.actors.len()
        {
            *batches = self.config.round_batches;
        }
        Ok(())
    }
}

impl Sharing for Published {
    fn share(&mut self, shared: bool) {
        self.sharing.on = shared;
    }

    fn is_shared(&self) -> bool {
        self.sharing.on
    }

    fn is_due(&self) -> bool {
        matches!(self.phase, Phase::Play { batches: 0, ahead: 0, .. }) && self.away.offloaded.is_none()
    }

    fn due(&self) -> Option<(Range<u64>, Parts)> {
        let round = self.round()?;
        Some((round.pieces.clone(), round.parts()))
    }

    fn take(&mut self, find: &Find) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
        Ok(self.take_played(&Played::from_parts(find).map_err(PublishedError::from)?)?)
    }
}
