//! The learners that there are, behind one face: each with its words and its knobs. A new learner is an entry here.
//!
//! It refuses to know how they learn.

use crate::RunError;
use crate::protocol::{Goal, Knobs, Value, Variant};
use crate::room::Setup;
use crate::tuned::{Entry, Tunable, Tuned, of_learner};
use learn::Find;
use learn::backgammon::{Published, PublishedConfig, SelfTaught, Strong, StrongConfig};

/// A learner with the settings in force, whichever it is.
pub(super) trait AnyTuned: Send + Sync {
    fn learner(&self) -> &(dyn SelfTaught + 'static);
    fn learner_mut(&mut self) -> &mut (dyn SelfTaught + 'static);
    fn values(&self) -> Knobs;
    fn may_set(&self, name: &str, value: &Value) -> Result<(), RunError>;
    fn set(&mut self, name: &str, value: &Value) -> Result<(Value, Value), RunError>;
}

impl<L: Tunable + SelfTaught> AnyTuned for Tuned<L> {
    fn learner(&self) -> &(dyn SelfTaught + 'static) {
        &self.learner
    }

    fn learner_mut(&mut self) -> &mut (dyn SelfTaught + 'static) {
        &mut self.learner
    }

    fn values(&self) -> Knobs {
        self.values()
    }

    fn may_set(&self, name: &str, value: &Value) -> Result<(), RunError> {
        self.may_set(name, value)
    }

    fn set(&mut self, name: &str, value: &Value) -> Result<(Value, Value), RunError> {
        self.set(name, value)
    }
}

fn boxed<L: Tunable + SelfTaught>(tuned: Tuned<L>, _: Setup) -> Result<Box<dyn AnyTuned>, RunError> {
    Ok(Box::new(tuned))
}

/// One of the learners.
pub(super) struct Kind {
    id: &'static str,
    name: &'static str,
    summary: &'static str,
    goal: Goal,
    /// Some minutes for a sweep with a few settings.
    sweep_games: f64,
    pub learner: Entry<dyn AnyTuned>,
}

pub(super) fn variants() -> Vec<Variant> {
    let variant = |kind: &Kind| Variant {
        id: kind.id,
        name: kind.name,
        summary: kind.summary,
        goal: Some(kind.goal),
        sweep_budget: kind.sweep_games,
        about: serde_json::Value::Null,
    };
    KINDS.iter().map(variant).collect()
}

/// The learner of this name; the default where there is none.
pub(super) fn kind(id: &str) -> &'static Kind {
    KINDS.iter().find(|kind| kind.id == id).unwrap_or(&KINDS[0])
}

static KINDS: [Kind; 2] = [
    Kind {
        id: "strong",
        name: "Strong",
        summary: "Learns what each position that it leaves is worth, from its own next opinion and from how its games end (temporal \
                  differences). Its networks read 24 handmade inputs of each side, and an exact table plays bear-offs. It looks \
                  ahead where it is asked to.",
        goal: Goal { column: "linear_points", at: 0.4 },
        sweep_games: 20_000.0,
        learner: of_learner!(Strong, StrongConfig::default(), boxed),
    },
    Kind {
        id: "published",
        name: "AlphaZero style",
        summary: "The configuration of AlphaZero.jl by sile16 (github.com/sile16/AlphaZero.jl, notes/perf_progress.md): every move \
                  is searched over chance nodes, and the network learns from what the search preferred. Much slower.",
        goal: Goal { column: "random_points", at: 1.2 },
        sweep_games: 4000.0,
        learner: of_learner!(Published, PublishedConfig::default(), boxed),
    },
];

macro_rules! tunable {
    ($learner:ident, $settings:ident) => {
        impl Tunable for $learner {
            type Settings = $settings;

            fn check(settings: &$settings) -> Result<(), RunError> {
                Ok(settings.check()?)
            }

            fn bytes(settings: &$settings) -> u64 {
                $settings::bytes(settings)
            }

            fn make(settings: $settings, setup: Setup, saved: Option<&Find>) -> Result<Self, RunError> {
                match saved {
                    None => Ok($learner::new(settings, setup.seed, setup.host.isa)?),
                    Some(find) => $learner::restore(settings, setup.seed, setup.host.isa, find).map_err(RunError::damaged),
                }
            }

            fn retune(&mut self, settings: $settings) -> Result<(), RunError> {
                Ok(self.set_config(settings)?)
            }
        }
    };
}

tunable!(Strong, StrongConfig);
tunable!(Published, PublishedConfig);
