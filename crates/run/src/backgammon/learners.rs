//! List of the room's learners, each with its texts and knobs. To add a learner, add an entry to `KINDS`.
//!
//! The algorithms are in the crate `learn`.

use crate::RunError;
use crate::knobs::Table;
use crate::learners::Entry;
use crate::protocol::{Goal, Variant};
use learn::backgammon::{Published, PublishedConfig, SelfTaught, Strong, StrongConfig};

/// A learner as a variant of the room.
pub(super) struct LearnerKind {
    id: &'static str,
    name: &'static str,
    summary: &'static str,
    goal: Goal,
    /// Budget of one run in a sweep, in games.
    sweep_games: f64,
    pub learner: Entry<dyn SelfTaught>,
}

pub(super) fn variants() -> Vec<Variant> {
    let variant = |kind: &LearnerKind| Variant {
        id: kind.id.into(),
        name: kind.name.into(),
        summary: kind.summary.into(),
        goal: Some(kind.goal),
        sweep_budget: kind.sweep_games,
        about: serde_json::Value::Null,
    };
    KINDS.iter().map(variant).collect()
}

/// Returns the learner with this id; the default learner if the id is unknown.
pub(super) fn kind(id: &str) -> &'static LearnerKind {
    KINDS.iter().find(|kind| kind.id == id).unwrap_or(&KINDS[0])
}

/// Creates the `Entry` of the learner type `$learner`. The learner's knobs have the defaults of the settings type `$settings`.
macro_rules! learner {
    ($learner:ident, $settings:ident) => {
        Entry {
            knobs: || Table::new($settings::default()).knobs(),
            check: |knobs| Ok(Table::new($settings::default()).settings(knobs)?.check()?),
            bytes: |knobs| Ok(Table::new($settings::default()).settings(knobs)?.bytes()),
            make: |setup, saved| {
                let settings = Table::new($settings::default()).settings(setup.knobs)?;
                let (seed, isa) = (setup.seed, setup.host.isa);
                Ok(match saved {
                    None => Box::new($learner::new(settings, seed, isa)?),
                    Some(find) => Box::new($learner::restore(settings, seed, isa, find).map_err(RunError::damaged)?),
                })
            },
        }
    };
}

static KINDS: [LearnerKind; 2] = [
    LearnerKind {
        id: "strong",
        name: "Strong",
        summary: "Learns the value of positions from its own next evaluation and from the results of its games (temporal differences). \
                  Its networks read 24 handmade inputs per side, and an exact table plays bear-offs. Look-ahead is optional.",
        goal: Goal { column: "linear_points", at: 0.4 },
        sweep_games: 20_000.0,
        learner: learner!(Strong, StrongConfig),
    },
    LearnerKind {
        id: "published",
        name: "AlphaZero style",
        summary: "The configuration of AlphaZero.jl by sile16 (github.com/sile16/AlphaZero.jl, notes/perf_progress.md): a tree \
                  search with chance nodes chooses every move, and the network learns from its choices. Much slower.",
        goal: Goal { column: "random_points", at: 1.2 },
        sweep_games: 4000.0,
        learner: learner!(Published, PublishedConfig),
    },
];
