//! The learners that there are, behind one face: each with its cube, its words and its knobs. A new learner is an entry here.
//!
//! It refuses to know how they learn.

use super::agent::{Agent, AnyAgent};
use super::judging::Known;
use super::protocol::{CurriculumDepth, Gives, Inside, Puzzle, ReplayView, SearchKind, SolveMethod, TransitionView};
use crate::RunError;
use crate::knobs::Table;
use crate::protocol::{Goal, Knob, Knobs, Value, Variant};
use crate::room::Setup;
use learn::Find;
use learn::cube::{self, CubeLearner, Dqn, DqnConfig, Evaluator, Method, NetConfig, Preset, Scores, Signal, Supervised, SupervisedConfig};
use learn::settings::Settings;
use math::Isa;
use std::sync::Arc;
use worlds::cube::{Actions, Distances, Metric, Scheme, Three, Two};

/// A learner with the settings in force.
pub(super) trait Tuned<P>: Send + Sync {
    fn learner(&self) -> &(dyn CubeLearner<P> + 'static);
    fn learner_mut(&mut self) -> &mut (dyn CubeLearner<P> + 'static);
    fn metric(&self) -> Metric;
    fn inside(&self) -> Result<Option<Inside>, RunError>;
    fn values(&self) -> Knobs;
    fn check(&self, name: &str, value: &Value) -> Result<(), RunError>;
    fn set(&mut self, name: &str, value: &Value) -> Result<(Value, Value), RunError>;
}

/// One of the learners.
pub(super) struct Kind {
    id: &'static str,
    name: &'static str,
    summary: &'static str,
    goal: Goal,
    /// Some minutes for a sweep with a few settings.
    sweep_states: f64,
    pub size: u32,
    gives: Gives,
    /// It has a curriculum and a replay.
    pub plays: bool,
    /// Learning from so many states takes about as long as a test.
    pub test_states: f64,
    pub maker: &'static dyn Maker,
}

/// Where an agent comes from.
pub(super) trait Maker: Sync {
    fn knobs(&self) -> Vec<Knob>;
    /// Refuses what cannot be learned with.
    fn check(&self, knobs: &Knobs) -> Result<(), RunError>;
    /// About what it allocates, at most.
    fn bytes(&self, knobs: &Knobs) -> Result<u64, RunError>;
    /// Goes on from what was saved, where that is given.
    fn make(&self, setup: Setup, saved: Option<&Find>) -> Result<Box<dyn AnyAgent>, RunError>;
}

impl Kind {
    fn puzzle(&self) -> Puzzle {
        let scores = match self.gives {
            Gives::Value => Scores::Value,
            Gives::ActionValues => Scores::ActionValues,
            Gives::Policy => Scores::Policy,
        };
        let exact = self.size == 2;
        let method = if exact { Method::preset::<Two>(scores) } else { Method::preset::<Three>(scores) };
        let Method::Beam { width } = method else { unreachable!("a beam is what does best") };
        let nodes = if exact { 1_000_000 } else { 20_000_000 };
        let method = SolveMethod { search: SearchKind::Beam, width: width as u32, weight: 0.6, nodes };
        Puzzle { size: self.size, exact, gives: self.gives, plays: self.plays, method }
    }
}

pub(super) fn variants() -> Vec<Variant> {
    let variant = |kind: &Kind| Variant {
        id: kind.id,
        name: kind.name,
        summary: kind.summary,
        goal: Some(kind.goal),
        sweep_budget: kind.sweep_states,
        about: serde_json::to_value(kind.puzzle()).expect("plain data with string keys"),
    };
    KINDS.iter().map(variant).collect()
}

/// The learner of this name; the default where there is none.
pub(super) fn kind(id: &str) -> &'static Kind {
    KINDS.iter().find(|kind| kind.id == id).unwrap_or(&KINDS[0])
}

const ALL: Goal = Goal { column: "solved", at: 0.99 };
/// Deep Q-learning on the 2x2x2.
const DQN: Kind = Kind {
    id: "2x2x2-dqn",
    name: "2x2x2 by deep Q",
    summary: "Learns from moves of its own what each action is worth (a deep Q-network: double, dueling), from scrambles that grow \
              longer as it succeeds.",
    goal: Goal { column: "at_8", at: 0.95 },
    sweep_states: 1e7,
    size: 2,
    gives: Gives::ActionValues,
    plays: true,
    test_states: 1e6,
    maker: &Learns::<Dqn<Two>> { preset: || DqnConfig::preset(Preset::Tuned) },
};

static KINDS: [Kind; 7] = [
    Kind {
        id: "2x2x2",
        name: "2x2x2",
        summary: "Learns how long random walks from the solved state were, whose mean orders all states by how far away they are \
                  (walk-length regression).",
        goal: ALL,
        sweep_states: 1e7,
        size: 2,
        gives: Gives::Value,
        plays: false,
        test_states: 1.8e6,
        maker: &Learns::<Supervised<Two>> { preset: || SupervisedConfig::preset::<Two>(Signal::WalkLength) },
    },
    Kind {
        id: "2x2x2-last",
        name: "2x2x2 by last moves",
        summary: "Learns which move of a random walk came last, so that its network says at once which one to make (a policy).",
        goal: ALL,
        sweep_states: 1e7,
        size: 2,
        gives: Gives::Policy,
        plays: false,
        test_states: 1.8e6,
        maker: &Learns::<Supervised<Two>> { preset: || SupervisedConfig::preset::<Two>(Signal::LastMove) },
    },
    Kind {
        id: "2x2x2-exact",
        name: "2x2x2 by exact distances",
        summary: "Learns the true distance of each state of random walks, as a reference: for larger cubes there is no such table.",
        goal: ALL,
        sweep_states: 1e7,
        size: 2,
        gives: Gives::Value,
        plays: false,
        test_states: 1.8e6,
        maker: &Learns::<Supervised<Two>> { preset: || SupervisedConfig::preset::<Two>(Signal::Exact) },
    },
    DQN,
    Kind {
        id: "2x2x2-dqn-published",
        name: "2x2x2 by deep Q, as published",
        summary: "Deep Q-learning with the layers 144-128-64-6 of adamavixio's library (github.com/adamavixio/machine-learning, \
                  docs/OPTIMIZATION_PLAN.md), here double and dueling.",
        maker: &Learns::<Dqn<Two>> { preset: || DqnConfig::preset(Preset::Published) },
        ..DQN
    },
    Kind {
        id: "2x2x2-dqn-later",
        name: "2x2x2 by deep Q, as published later",
        summary: "Deep Q-learning with the later network of adamavixio's library (github.com/adamavixio/machine-learning, README), \
                  144-256-128-64, with layer norm, n-step returns, prioritised replay and Polyak's mean.",
        maker: &Learns::<Dqn<Two>> { preset: || DqnConfig::preset(Preset::Later) },
        ..DQN
    },
    Kind {
        id: "3x3x3",
        name: "3x3x3",
        summary: "The same as the 2x2x2 on a cube of 43,252,003,274,489,856,000 states, of which training sees next to none; a beam \
                  search makes up for what the network does not know.",
        goal: Goal { column: "solved", at: 1.0 },
        sweep_states: 5e6,
        size: 3,
        gives: Gives::Value,
        plays: false,
        test_states: 1.5e6,
        maker: &Learns::<Supervised<Three>> { preset: || SupervisedConfig::preset::<Three>(Signal::WalkLength) },
    },
];

/// What a learner has to have to be among them.
trait Tunable: CubeLearner<Self::Cube> + Sized + 'static {
    type Cube: Known;
    type Settings: Settings + Send + Sync;
    /// Settings that it has no use for.
    const UNUSED: &'static [&'static str];
    fn sound(settings: &Self::Settings) -> Result<(), RunError>;
    fn metric(settings: &Self::Settings) -> Metric;
    fn net(settings: &Self::Settings) -> &NetConfig;
    fn bytes(settings: &Self::Settings) -> u64;
    fn make(settings: Self::Settings, exact: Option<Arc<Distances>>, seed: u32, isa: Isa, saved: Option<&Find>) -> Result<Self, RunError>;
    fn set(&mut self, settings: Self::Settings) -> Result<(), RunError>;
    fn inside(&self) -> Result<Option<Inside>, RunError>;
}

/// The learner `L`, which begins from a preset.
struct Learns<L: Tunable> {
    preset: fn() -> L::Settings,
}

impl<L: Tunable> Learns<L> {
    fn table(&self) -> Table<L::Settings> {
        Table::new((self.preset)()).without(L::UNUSED)
    }
}

/// Judges that an agent keeps at most, apart from those of a learner's own.
const JUDGES: usize = 3;

impl<L: Tunable> Maker for Learns<L> {
    fn knobs(&self) -> Vec<Knob> {
        self.table().knobs()
    }

    fn check(&self, knobs: &Knobs) -> Result<(), RunError> {
        L::sound(&self.table().settings(knobs)?)
    }

    fn bytes(&self, knobs: &Knobs) -> Result<u64, RunError> {
        let settings = self.table().settings(knobs)?;
        let judge = Evaluator::<L::Cube>::bytes(L::net(&settings));
        Ok(L::bytes(&settings).saturating_add(L::Cube::bytes() + JUDGES as u64 * judge))
    }

    fn make(&self, setup: Setup, saved: Option<&Find>) -> Result<Box<dyn AnyAgent>, RunError> {
        let table = self.table();
        let settings = table.settings(setup.knobs)?;
        let exact = L::Cube::exact(L::metric(&settings));
        let learner = L::make(settings.clone(), exact, setup.seed, setup.host.isa, saved)?;
        let free_bytes = setup.host.memory_bytes.saturating_sub(self.bytes(setup.knobs)?);
        Ok(Box::new(Agent::new(Box::new(With { learner, settings, table }), free_bytes)))
    }
}

struct With<L: Tunable> {
    learner: L,
    settings: L::Settings,
    table: Table<L::Settings>,
}

impl<L: Tunable> Tuned<L::Cube> for With<L> {
    fn learner(&self) -> &(dyn CubeLearner<L::Cube> + 'static) {
        &self.learner
    }

    fn learner_mut(&mut self) -> &mut (dyn CubeLearner<L::Cube> + 'static) {
        &mut self.learner
    }

    fn metric(&self) -> Metric {
        L::metric(&self.settings)
    }

    fn inside(&self) -> Result<Option<Inside>, RunError> {
        Tunable::inside(&self.learner)
    }

    fn values(&self) -> Knobs {
        self.table.values(&self.settings)
    }

    fn check(&self, name: &str, value: &Value) -> Result<(), RunError> {
        L::sound(&self.table.changed(&self.settings, name, value)?.0)
    }

    fn set(&mut self, name: &str, value: &Value) -> Result<(Value, Value), RunError> {
        let (settings, change) = self.table.changed(&self.settings, name, value)?;
        self.learner.set(settings.clone())?;
        self.settings = settings;
        Ok(change)
    }
}

impl From<cube::LearnerError> for RunError {
    fn from(error: cube::LearnerError) -> RunError {
        RunError::below(error)
    }
}

/// What each learner has by the same names; and what it has to tell of its inside.
macro_rules! tunable {
    ($learner:ident, $settings:ident, $unused:expr, $inside:expr) => {
        impl<P: Known> Tunable for $learner<P> {
            type Cube = P;
            type Settings = $settings;

            const UNUSED: &'static [&'static str] = $unused;

            fn sound(settings: &$settings) -> Result<(), RunError> {
                settings.check::<P>()?;
                Ok(())
            }

            fn metric(settings: &$settings) -> Metric {
                settings.metric
            }

            fn net(settings: &$settings) -> &NetConfig {
                &settings.net
            }

            fn bytes(settings: &$settings) -> u64 {
                settings.bytes::<P>()
            }

            fn make(
                settings: $settings,
                exact: Option<Arc<Distances>>,
                seed: u32,
                isa: Isa,
                saved: Option<&Find>,
            ) -> Result<Self, RunError> {
                match saved {
                    None => Ok($learner::new(settings, exact, seed, isa)?),
                    Some(find) => $learner::restore(settings, exact, seed, isa, find).map_err(RunError::damaged),
                }
            }

            fn set(&mut self, settings: $settings) -> Result<(), RunError> {
                Ok($learner::set(self, settings)?)
            }

            fn inside(&self) -> Result<Option<Inside>, RunError> {
                $inside(self)
            }
        }
    };
}

tunable!(Supervised, SupervisedConfig, &["dueling"], |_| Ok(None));
tunable!(Dqn, DqnConfig, &[], |learner| inside(learner).map(Some));

/// Transitions of the greatest priority that are told.
const TOP: usize = 20;

fn inside<P: Known>(learner: &Dqn<P>) -> Result<Inside, RunError> {
    let inside = learner.inside(TOP).map_err(RunError::below)?;
    let moves = Actions::of::<P>(learner.config().metric).moves();
    let depths = inside.depths.iter().map(|of| CurriculumDepth {
        depth: of.depth as u32,
        share: of.share,
        success: of.success,
        episodes: of.episodes as u32,
    });
    let top = inside.top.into_iter().map(|of| TransitionView {
        facelets: of.state.facelets(&Scheme::FACES),
        action: moves[of.action].to_string(),
        reward: of.reward,
        done: of.done,
        priority: of.priority,
        q: of.q,
    });
    Ok(Inside {
        stage: inside.stage as u32,
        depths: depths.collect(),
        replay: ReplayView {
            len: inside.len as u32,
            capacity: inside.capacity as u32,
            prioritised: inside.prioritised,
            priorities: inside.priorities.to_vec(),
            top: top.collect(),
        },
    })
}
