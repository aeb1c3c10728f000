//! The learners that there are, behind one face: each with its words and its knobs. A new learner is an entry here.
//!
//! It refuses to know how they learn.

use crate::RunError;
use crate::knobs::Table;
use crate::learners::Entry;
use crate::protocol::{Goal, Variant};
use learn::backgammon::{Published, PublishedConfig, SelfTaught, Strong, StrongConfig};

/// One of the learners.
pub(super) struct Kind {
    id: &'static str,
    name: &'static str,
    summary: &'static str,
    goal: Goal,
    /// Some minutes for a sweep with a few settings.
    sweep_games: f64,
    pub learner: Entry<dyn SelfTaught>,
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

/// The entry of a learner, whose knobs begin as its defaults.
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

static KINDS: [Kind; 2] = [
    Kind {
        id: "strong",
        name: "Strong",
        summary: "Learns what each position that it leaves is worth, from its own next opinion and from how its games end (temporal \
                  differences). Its networks read 24 handmade inputs of each side, and an exact table plays bear-offs. It looks \
                  ahead where it is asked to.",
        goal: Goal { column: "linear_points", at: 0.4 },
        sweep_games: 20_000.0,
        learner: learner!(Strong, StrongConfig),
    },
    Kind {
        id: "published",
        name: "AlphaZero style",
        summary: "The configuration of AlphaZero.jl by sile16 (github.com/sile16/AlphaZero.jl, notes/perf_progress.md): every move \
                  is searched over chance nodes, and the network learns from what the search preferred. Much slower.",
        goal: Goal { column: "random_points", at: 1.2 },
        sweep_games: 4000.0,
        learner: learner!(Published, PublishedConfig),
    },
];
