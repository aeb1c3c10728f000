//! Backgammon as a room: a learner that teaches itself, tested now and then against baselines; the agent as it was, kept to play
//! against; and beside the training an analysis and a game session, which leave no trace in what is learned. What is asked is
//! answered by the weights of the last round that has ended.

use super::analysis;
use super::learners::{self, AnyTuned};
use super::players::{CachedPlayer, FrozenAgent, PlayerPool};
use super::protocol::{FREEZE_MINUTES, Frozen, Question, RoomEvent};
use super::schema::SCHEMA;
use super::session::{GameSession, SavedSession};
use super::testing::{BaselineTest, CONFIRMATION_PAIRS, TEST_PAIRS};
use crate::bench::Bench;
use crate::checkpoint;
use crate::protocol::{Knob, Knobs, Progress, Row, Value, Variant};
use crate::room::{Answer, ByName, Room, Saved, Schema, Setup, Tensors};
use crate::{Host, RunError};
use learn::backgammon::{self, Player, SelfTaught};
use learn::{Data, Find};
use math::Isa;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// About what a test costs, in boards valued: two baselines, each pair two games of some thirty decisions.
const TEST_EVALUATIONS: u64 = 2 * TEST_PAIRS * 2 * 30 * 20;
/// Training goes on for so many times that between two tests; and early on for so many times what it has come to.
const TEST_SHARE: u64 = 20;
const TEST_GROWTH: u64 = 3;
pub struct Backgammon {
    tuned: Box<dyn AnyTuned>,
    frozen_agents: Vec<FrozenAgent>,
    baseline_test: Option<BaselineTest>,
    session: Option<GameSession>,
    /// The last one before it in which a person played, to go back to.
    former_session: Option<GameSession>,
    player_cache: Vec<CachedPlayer>,
}

/// What is saved beside the learner, and told when a run begins.
#[derive(Default, Serialize, Deserialize)]
struct Notes {
    frozen: Vec<Frozen>,
    #[serde(rename = "table")]
    session: Option<SavedSession>,
    #[serde(rename = "former_table", default, skip_serializing_if = "Option::is_none")]
    former_session: Option<SavedSession>,
}

/// The tensor of an agent that is kept as it was.
fn frozen_name(minutes: u32) -> String {
    format!("frozen.{minutes}")
}

impl Backgammon {
    fn around(tuned: Box<dyn AnyTuned>) -> Backgammon {
        Backgammon { tuned, frozen_agents: Vec::new(), baseline_test: None, session: None, former_session: None, player_cache: Vec::new() }
    }

    fn player_pool(&mut self) -> (PlayerPool<'_>, Option<&mut GameSession>) {
        let player_pool =
            PlayerPool { learner: self.tuned.learner(), frozen_agents: &self.frozen_agents, player_cache: &mut self.player_cache };
        (player_pool, self.session.as_mut())
    }

    fn shelve_session(&mut self) {
        if let Some(session) = self.session.take().filter(GameSession::is_played) {
            self.former_session = Some(session);
        }
    }
}

fn no_session() -> RunError {
    RunError::refused("no game has begun here", "Begin one")
}

impl Room for Backgammon {
    const SCHEMA: &'static Schema = &SCHEMA;
    type Learner = dyn SelfTaught;
    type Question = Question;

    fn variants() -> Vec<Variant> {
        learners::variants()
    }

    fn knobs(variant: &str) -> Vec<Knob> {
        (learners::kind(variant).learner.knobs)()
    }

    fn check(setup: Setup) -> Result<(), RunError> {
        (learners::kind(setup.variant).learner.check)(setup.knobs)
    }

    fn bytes(setup: Setup) -> Result<u64, RunError> {
        (learners::kind(setup.variant).learner.bytes)(setup.knobs)
    }

    fn begin(setup: Setup) -> Result<Self, RunError> {
        Ok(Backgammon::around((learners::kind(setup.variant).learner.make)(setup, None)?))
    }

    fn restore(setup: Setup, saved: Saved) -> Result<Self, RunError> {
        let find = |name: &str| saved.find(name);
        let mut room = Backgammon::around((learners::kind(setup.variant).learner.make)(setup, Some(&find))?);
        let notes = match saved.notes {
            serde_json::Value::Null => Notes::default(),
            notes => Notes::deserialize(notes).map_err(RunError::damaged)?,
        };
        let len = room.tuned.learner().weights().len();
        for frozen in notes.frozen {
            let name = frozen_name(frozen.minutes);
            match saved.find(&name) {
                Some((_, Data::F32(weights))) if weights.len() == len && weights.iter().all(|w| w.is_finite()) => {
                    room.frozen_agents.push(FrozenAgent { frozen, weights: weights.clone() });
                }
                _ => return Err(RunError::damaged(format!("{name} is missing or no agent"))),
            }
        }
        room.session = notes.session.as_ref().map(GameSession::from_saved).transpose()?;
        room.former_session = notes.former_session.as_ref().map(GameSession::from_saved).transpose()?;
        Ok(room)
    }

    fn more_parts(&self) -> Tensors {
        let part = |agent: &FrozenAgent| {
            let name = frozen_name(agent.frozen.minutes);
            (name, vec![agent.weights.len()], Data::F32(agent.weights.clone()))
        };
        self.frozen_agents.iter().map(part).collect()
    }

    fn notes(&self) -> serde_json::Value {
        let notes = Notes {
            frozen: self.frozen_agents.iter().map(|agent| agent.frozen.clone()).collect(),
            session: self.session.as_ref().map(GameSession::saved),
            former_session: self.former_session.as_ref().map(GameSession::saved),
        };
        serde_json::to_value(notes).expect("plain data with string keys")
    }

    /// The game goes on against the agent of the new run.
    fn follow(&mut self, before: Self) {
        self.session = before.session.or(self.session.take());
        self.former_session = before.former_session.or(self.former_session.take());
    }

    fn learner(&self) -> Option<&Self::Learner> {
        Some(self.tuned.learner())
    }

    fn learner_mut(&mut self) -> Option<&mut Self::Learner> {
        Some(self.tuned.learner_mut())
    }

    fn values(&self) -> Knobs {
        self.tuned.values()
    }

    fn may_set(&self, name: &str, value: &Value) -> Result<(), RunError> {
        self.tuned.may_set(name, value)
    }

    fn set(&mut self, name: &str, value: &Value) -> Result<(Value, Value), RunError> {
        self.tuned.set(name, value)
    }

    fn test_is_due(&self, tests: &[Row], _solved: bool) -> bool {
        let evaluations = SCHEMA.counter("evaluations").expect("one of the counters");
        let done = self.tuned.learner().progress().evaluations;
        let last = tests.last().map_or(0, |test| test.progress.counts[evaluations] as u64);
        let wait = (TEST_GROWTH * last).clamp(2 * TEST_EVALUATIONS, TEST_SHARE * TEST_EVALUATIONS);
        done >= last + wait
    }

    fn begin_test(&mut self) {
        let learner = self.tuned.learner();
        let seed = learner.progress().iterations as u32;
        self.baseline_test = Some(BaselineTest::new(learner.player(1), seed, TEST_PAIRS));
    }

    fn begin_confirmation(&mut self, seed: u32) -> bool {
        // No test gets that far.
        let player = self.tuned.learner().player(1);
        self.baseline_test = Some(BaselineTest::new(player, seed | 1 << 31, CONFIRMATION_PAIRS));
        true
    }

    fn advance_test(&mut self) -> Result<Option<ByName<Option<f64>>>, RunError> {
        let Some(baseline_test) = &mut self.baseline_test else { return Ok(None) };
        let values = baseline_test.advance()?;
        if values.is_some() {
            self.baseline_test = None;
        }
        Ok(values)
    }

    fn play(due: &Find, pieces: Range<u64>, isa: Isa) -> Result<Tensors, RunError> {
        backgammon::play(due, pieces, isa).map_err(RunError::damaged)
    }

    fn fingerprint(isa: Isa) -> u64 {
        backgammon::fingerprint(isa)
    }

    /// Keeps the agent as it is when its minute has come.
    fn tell(&mut self, train_s: f64) -> Vec<(serde_json::Value, String)> {
        let mut told = Vec::new();
        let learner = self.tuned.learner();
        if !learner.at_boundary() {
            return told;
        }
        for minutes in FREEZE_MINUTES {
            let here = self.frozen_agents.iter().any(|agent| agent.frozen.minutes == minutes);
            if !here && train_s >= 60.0 * f64::from(minutes) {
                let (iteration, counts) = (learner.progress().iterations as u32, SCHEMA.counts(&learner.counts()));
                let progress = Progress { iteration, counts, train_s };
                let frozen = Frozen { minutes, progress };
                let event = RoomEvent::Frozen(frozen.clone());
                self.frozen_agents.push(FrozenAgent { frozen, weights: learner.weights().to_vec() });
                let text = format!("The agent as it is after {minutes} min is kept, to play against later.");
                told.push((serde_json::to_value(event).expect("plain data with string keys"), text));
            }
        }
        told
    }

    fn ask(&mut self, question: Question) -> Result<Answer, RunError> {
        let (mut players, session) = self.player_pool();
        Ok(match question {
            Question::Analyse { request } => Box::new(analysis::analyse(&mut players, &request)?),
            Question::ReadId { id } => Box::new(analysis::read_id(&id)?),
            Question::Compose { draft } => Box::new(analysis::compose(&draft)?),
            Question::Unfold { unfold } => Box::new(analysis::unfold(&mut players, &unfold)?),
            Question::NewSession { setup } => {
                let begun = GameSession::new(setup, &mut players)?;
                self.shelve_session();
                Box::new(self.session.insert(begun).view())
            }
            Question::FormerSession {} => {
                let former = self
                    .former_session
                    .take()
                    .ok_or_else(|| RunError::refused("nobody has played a match before this one", "Go on with this one"))?;
                self.shelve_session();
                Box::new(self.session.insert(former).view())
            }
            Question::Act { act } => {
                let session = session.ok_or_else(no_session)?;
                session.act(&act, &mut players)?;
                Box::new(session.view())
            }
            Question::Hint { engine } => Box::new(session.ok_or_else(no_session)?.hint(engine, &mut players)?),
            Question::Review { engine } => Box::new(session.ok_or_else(no_session)?.review(engine, &mut players)?),
            Question::ReviewCube { engine } => Box::new(session.ok_or_else(no_session)?.review_cube(engine, &mut players)?),
            Question::Moment { at } => Box::new(session.ok_or_else(no_session)?.moment(at)?),
            Question::Judge { at, engine } => Box::new(session.ok_or_else(no_session)?.judge(at, engine, &mut players)?),
            Question::Transcript {} => Box::new(session.ok_or_else(no_session)?.transcript()),
            Question::Session {} => Box::new(session.map(|session| session.view())),
        })
    }

    fn bench(bench: &mut Bench) {
        super::bench::run(bench);
    }
}

/// The agent of a checkpoint, which with more than one evaluation a decision searches.
pub fn player_from_checkpoint(bytes: &[u8], evals: u32, host: Host) -> Result<Box<dyn Player>, RunError> {
    let (header, tensors, _) = checkpoint::decode(bytes, &SCHEMA)?;
    let config = &header.config;
    let setup = Setup::new(config, &header.knobs, host);
    Backgammon::check(setup)?;
    let room = Backgammon::restore(setup, Saved { tensors: &tensors, notes: &serde_json::Value::Null })?;
    Ok(room.tuned.learner().player(evals.max(1)))
}
