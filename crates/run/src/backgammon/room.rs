//! The backgammon room: a learner that trains an agent by self-play. Tests compare the agent with baselines, and earlier copies of the
//! agent are kept as opponents. Analysis and game sessions do not affect training. Questions are answered with the weights after the latest
//! complete iteration.

use super::frozen::Kept;
use super::learners;
use super::players::{CachedPlayer, PlayerPool};
use super::protocol::{Frozen, Question};
use super::schema::SCHEMA;
use super::session::SavedSession;
use super::sessions::Sessions;
use super::testing::{self, BaselineTest, CONFIRMATION_PAIRS, TEST_PAIRS};
use crate::checkpoint;
use crate::plain_data::json;
use crate::protocol::{Knob, Row, Variant};
use crate::room::{Answer, ByName, Room, Saved, Schema, Setup, States, Tensors};
use crate::{Host, RunError};
use learn::backgammon::{self, Player, SelfTaught};
use learn::{Find, NetworkValues};
use math::Isa;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// Number of sample positions for the histograms of activations.
const SAMPLE: usize = 64;

pub struct Backgammon {
    learner: Box<dyn SelfTaught>,
    kept: Kept,
    baseline_test: Option<BaselineTest>,
    sessions: Sessions,
    player_cache: Vec<CachedPlayer>,
}

/// Value of [`Room::notes`]: saved data that are not tensors. The event `Began` also contains this value.
#[derive(Default, Serialize, Deserialize)]
struct Notes {
    frozen: Vec<Frozen>,
    #[serde(rename = "table")]
    session: Option<SavedSession>,
    #[serde(rename = "former_table", default, skip_serializing_if = "Option::is_none")]
    former_session: Option<SavedSession>,
}

impl Backgammon {
    fn from_learner(learner: Box<dyn SelfTaught>) -> Backgammon {
        Backgammon { learner, kept: Kept::default(), baseline_test: None, sessions: Sessions::default(), player_cache: Vec::new() }
    }
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
        Ok(Backgammon::from_learner((learners::kind(setup.variant).learner.make)(setup, None)?))
    }

    fn restore(setup: Setup, saved: Saved) -> Result<Self, RunError> {
        let find = |name: &str| saved.find(name);
        let mut room = Backgammon::from_learner((learners::kind(setup.variant).learner.make)(setup, Some(&find))?);
        let notes = match saved.notes {
            serde_json::Value::Null => Notes::default(),
            notes => Notes::deserialize(notes).map_err(RunError::damaged)?,
        };
        room.kept = Kept::restore(notes.frozen, saved, room.learner.weights().len())?;
        room.sessions = Sessions::from_saved([notes.session, notes.former_session])?;
        Ok(room)
    }

    fn more_parts(&self) -> Tensors {
        self.kept.parts()
    }

    fn notes(&self) -> serde_json::Value {
        let [session, former_session] = self.sessions.saved();
        let notes = Notes { frozen: self.kept.frozen(), session, former_session };
        json(&notes)
    }

    /// Takes over the game sessions of the previous run. The games of these sessions continue against the agent of the new run.
    fn follow(&mut self, before: Self) {
        self.sessions.follow(before.sessions);
    }

    fn learner(&self) -> Option<&Self::Learner> {
        Some(&*self.learner)
    }

    fn learner_mut(&mut self) -> Option<&mut Self::Learner> {
        Some(&mut *self.learner)
    }

    fn networks(&self, of: States) -> Result<Vec<NetworkValues>, RunError> {
        let boards = match of {
            States::Shown => vec![self.sessions.position()],
            States::Sample => backgammon::positions(SAMPLE),
        };
        self.learner.networks(&boards).map_err(RunError::below)
    }

    fn test_is_due(&self, tests: &[Row], _solved: bool) -> bool {
        testing::is_due(self.learner.progress().evaluations, tests)
    }

    fn begin_test(&mut self) {
        let learner = &*self.learner;
        let seed = learner.progress().iterations as u32;
        self.baseline_test = Some(BaselineTest::new(learner.player(1), seed, TEST_PAIRS));
    }

    fn begin_confirmation(&mut self, seed: u32) -> bool {
        // The seed of a test is an iteration number, whose highest bit is 0. In the seed of a confirmation, this bit is 1, so the two seeds
        // differ.
        let player = self.learner.player(1);
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

    /// Keeps a copy of the agent for each time in `FREEZE_MINUTES` that has passed, and returns an event for each new copy.
    fn take_events(&mut self, train_s: f64) -> Vec<(serde_json::Value, String)> {
        self.kept.keep(&*self.learner, train_s)
    }

    #[cfg(feature = "export")]
    fn exported(&self) -> Result<crate::export::Described, RunError> {
        Ok(super::export::described(&*self.learner))
    }

    #[cfg(feature = "export")]
    fn examples(&self, count: usize, seed: u32) -> Result<crate::export::Examples, RunError> {
        self.learner.examples(count, seed).map_err(RunError::below)
    }

    fn ask(&mut self, question: Question) -> Result<Answer, RunError> {
        let mut players = PlayerPool { learner: &*self.learner, frozen_agents: &self.kept.0, player_cache: &mut self.player_cache };
        self.sessions.answer(&mut players, question)
    }
}

/// Returns the agent of a checkpoint as a player. The player searches if `evals`, the number of evaluations per decision, exceeds 1.
pub fn player_from_checkpoint(bytes: &[u8], evals: u32, host: Host) -> Result<Box<dyn Player>, RunError> {
    let (header, tensors, _) = checkpoint::decode(bytes, &SCHEMA)?;
    let config = &header.config;
    let setup = Setup::new(config, &header.knobs, host);
    Backgammon::check(setup)?;
    let room = Backgammon::restore(setup, Saved { tensors: &tensors, notes: &serde_json::Value::Null })?;
    Ok(room.learner.player(evals.max(1)))
}
