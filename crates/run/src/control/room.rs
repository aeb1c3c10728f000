//! The control room: PPO on an environment of Gymnasium or of a file, tested on fresh episodes. The page also shows a single environment
//! large. A user can push or drive this environment. It does not affect training.

use super::crowd::Crowd;
use super::file::{Compiles, OWN, Opens};
use super::preview::Preview;
use super::protocol::{Crowd as CrowdView, Frame, Question};
use super::schema::SCHEMA;
use super::stage::Stage;
use super::testing::{self, TEST_EPISODES, columns};
use super::trail::Trail;
use super::{environments, knobs};
use crate::RunError;
use crate::protocol::{DataInfo, Knob, Problem, Row, Variant};
use crate::room::{Answer, ByName, Pack, Policy, Room, Saved, Schema, Setup, States};
use learn::control::{Ppo, PpoConfig};
use learn::{Learner, NetworkValues};
use std::marker::PhantomData;

/// The control room. The type `F` decides whether the room accepts environments from files.
pub struct Control<F = Compiles> {
    ppo: Ppo,
    seed: u32,
    stage: Stage,
    /// The small environments; `None` before the first question about them, or if the environment draws no pictures.
    crowd: Option<Crowd>,
    preview: Preview,
    trail: Trail,
    files: PhantomData<F>,
}

fn settings(setup: Setup) -> Result<PpoConfig, RunError> {
    knobs::table(setup.variant).settings(setup.knobs)
}

impl<F: Opens> Control<F> {
    fn from_learner(seed: u32, ppo: Ppo) -> Self {
        let (stage, trail) = (Stage::new(ppo.kind(), seed), Trail::new(&ppo));
        Control { ppo, seed, stage, crowd: None, preview: Preview::new(), trail, files: PhantomData }
    }

    /// Tests the policy on fresh episodes, without an effect on training. Returns the test row: mean, minimum and maximum return, and the
    /// number of episodes.
    pub fn evaluate(&mut self, episodes: u32, seed: u32) -> Vec<Option<f64>> {
        SCHEMA.test_row(&columns(self.ppo.evaluate(episodes, seed), episodes))
    }

    /// Advances the small environments, and draws some of them.
    fn crowd(&mut self, dt_s: f64) -> CrowdView {
        if self.crowd.is_none() {
            self.crowd = Crowd::new(self.ppo.kind(), self.seed);
        }
        let Control { ppo, crowd, .. } = self;
        crowd.as_mut().map_or(CrowdView { count: 0, tiles: Vec::new() }, |crowd| crowd.advance(ppo, dt_s))
    }

    /// Returns the recorded steps of the displayed environments since the previous call.
    pub fn frame(&mut self) -> Frame {
        self.trail.take(&mut self.ppo)
    }
}

impl<F: Opens> Room for Control<F> {
    const SCHEMA: &'static Schema = &SCHEMA;
    type Learner = Ppo;
    type Question = Question;
    const DATA: Option<DataInfo> = if F::ACCEPTS {
        Some(DataInfo { label: "Environment", help: "A Python file that defines an environment (docs/worlds.md)." })
    } else {
        None
    };
    const PACK: Option<Pack> = F::PACK;
    const DATA_VARIANT: Option<&'static str> = if F::ACCEPTS { Some(OWN) } else { None };

    fn variants() -> Vec<Variant> {
        environments::variants()
    }

    fn variant(setup: Setup) -> Result<Variant, RunError> {
        environments::variant::<F>(setup)
    }

    fn problems(text: &str) -> Vec<Problem> {
        F::problems(text)
    }

    fn knobs(variant: &str) -> Vec<Knob> {
        knobs::table(variant).knobs()
    }

    fn check(setup: Setup) -> Result<(), RunError> {
        environments::kind::<F>(setup)?;
        settings(setup)?.check().map_err(RunError::below)
    }

    fn bytes(setup: Setup) -> Result<u64, RunError> {
        let (settings, kind) = (settings(setup)?, environments::kind::<F>(setup)?);
        Ok(kind.map_or(0, |kind| settings.bytes(&kind).saturating_add(Trail::bytes(&kind, &settings)).saturating_add(Crowd::bytes(&kind))))
    }

    fn begin(setup: Setup) -> Result<Self, RunError> {
        let (settings, kind) = (settings(setup)?, environments::loaded::<F>(setup)?);
        let ppo = Ppo::new(&kind, settings, setup.seed, setup.host.isa).map_err(RunError::below)?;
        Ok(Control::from_learner(setup.seed, ppo))
    }

    fn restore(setup: Setup, saved: Saved) -> Result<Self, RunError> {
        let (settings, kind) = (settings(setup)?, environments::loaded::<F>(setup)?);
        let ppo = Ppo::restore(&kind, settings, setup.seed, setup.host.isa, &|name| saved.find(name)).map_err(RunError::damaged)?;
        Ok(Control::from_learner(setup.seed, ppo))
    }

    fn learner(&self) -> Option<&Ppo> {
        Some(&self.ppo)
    }

    /// The sample states are the latest states of the single environment.
    fn networks(&self, of: States) -> Result<Vec<NetworkValues>, RunError> {
        let found = match of {
            States::Shown => self.ppo.networks(std::iter::once(self.stage.observation())),
            States::Sample => self.ppo.networks(self.stage.recent()),
        };
        found.map_err(RunError::below)
    }

    fn learner_mut(&mut self) -> Option<&mut Ppo> {
        Some(&mut self.ppo)
    }

    fn test_is_due(&self, tests: &[Row], solved: bool) -> bool {
        testing::is_due(&self.ppo, tests, solved)
    }

    /// Begins a test. The seed of its episodes is the number of iterations.
    fn begin_test(&mut self) {
        let seed = self.ppo.progress().iterations as u32;
        self.ppo.begin_evaluation(TEST_EPISODES, seed);
    }

    fn begin_confirmation(&mut self, seed: u32) -> bool {
        // The seed of a test is an iteration number, whose highest bit is 0. In the seed of a confirmation, this bit is 1, so the two seeds
        // differ.
        self.ppo.begin_evaluation(TEST_EPISODES, seed | 1 << 31);
        true
    }

    fn advance_test(&mut self) -> Result<Option<ByName<Option<f64>>>, RunError> {
        let evaluation = self.ppo.advance_evaluation().map_err(|fault| RunError::WorldFailed { fault: fault.to_string() })?;
        Ok(evaluation.map(|evaluation| columns(evaluation, TEST_EPISODES)))
    }

    fn policy(&self) -> Option<Box<dyn Policy>> {
        // An error is impossible here, because the learner has already created this plan.
        self.ppo.policy().ok().map(|policy| Box::new(policy) as Box<dyn Policy>)
    }

    #[cfg(feature = "export")]
    fn exported(&self) -> Result<crate::export::Described, RunError> {
        Ok(super::export::described(&self.ppo))
    }

    #[cfg(feature = "export")]
    fn examples(&self, count: usize, seed: u32) -> Result<crate::export::Examples, RunError> {
        self.ppo.examples(count, seed).map_err(RunError::below)
    }

    /// Records the steps of the last slice for the next frame. Returns no events, because the room has none.
    fn take_events(&mut self, _: f64) -> Vec<(serde_json::Value, String)> {
        self.trail.follow(&mut self.ppo);
        Vec::new()
    }

    fn ask(&mut self, question: Question) -> Result<Answer, RunError> {
        Ok(match question {
            Question::Frame {} => Box::new(self.frame()),
            Question::Picture { width, height, axes } => Box::new(environments::picture(&mut self.ppo, width, height, &axes)?),
            Question::Touch { touch } => Box::new(self.stage.touch(&mut self.ppo, touch)),
            Question::Crowd { dt_s } => Box::new(self.crowd(dt_s)),
            Question::Preview { text, dt_s } => Box::new(self.preview.advance::<F>(text, dt_s)),
            Question::Plan {} => Box::new(super::plan::view(&self.ppo)),
        })
    }
}
