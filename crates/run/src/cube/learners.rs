//! The learners that there are, behind one face: each with its cube, its words and its knobs. A new learner is an entry here.
//!
//! It refuses to know how they learn.

use super::agent::{Agent, AnyAgent};
use super::judging::Known;
use super::protocol::{Gives, Puzzle, SearchKind, SolveMethod};
use crate::RunError;
use crate::plain_data::json;
use crate::protocol::{Goal, Variant};
use crate::room::Setup;
use crate::tuned::{Entry, Tunable, Tuned, of_learner};
use learn::cube::{CubeLearner, Dqn, DqnConfig, Method, Preset, Signal, Supervised, SupervisedConfig};
use worlds::cube::{Three, Two};

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
    pub learner: Entry<dyn AnyAgent>,
}

/// With what is left beside the run.
fn boxed<L: Tunable + CubeLearner<Cube: Known>>(tuned: Tuned<L>, setup: Setup) -> Result<Box<dyn AnyAgent>, RunError> {
    let free_bytes = setup.host.memory_bytes.saturating_sub(L::bytes(tuned.settings()));
    Ok(Box::new(Agent::new(tuned, free_bytes)))
}

impl Kind {
    fn puzzle(&self) -> Puzzle {
        let exact = self.size == 2;
        let method = if exact { Method::preset::<Two>(self.gives) } else { Method::preset::<Three>(self.gives) };
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
        about: json(&kind.puzzle()),
    };
    KINDS.iter().map(variant).collect()
}

/// The learner of this name; the default where there is none.
pub(super) fn kind(id: &str) -> &'static Kind {
    KINDS.iter().find(|kind| kind.id == id).unwrap_or(&KINDS[0])
}

/// On the 2x2x2, of walks from the solved state.
const WALKS: Kind = Kind {
    id: "2x2x2",
    name: "2x2x2",
    summary: "Learns how long random walks from the solved state were, whose mean orders all states by how far away they are \
              (walk-length regression).",
    goal: Goal { column: "solved", at: 0.99 },
    sweep_states: 1e7,
    size: 2,
    gives: Gives::Value,
    plays: false,
    test_states: 1.8e6,
    learner: of_learner!(Supervised<Two>, SupervisedConfig::preset::<Two>(Signal::WalkLength), boxed),
};

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
    learner: of_learner!(Dqn<Two>, DqnConfig::preset(Preset::Tuned), boxed),
};

static KINDS: [Kind; 7] = [
    WALKS,
    Kind {
        id: "2x2x2-last",
        name: "2x2x2 by last moves",
        summary: "Learns which move of a random walk came last, so that its network says at once which one to make (a policy).",
        gives: Gives::Policy,
        learner: of_learner!(Supervised<Two>, SupervisedConfig::preset::<Two>(Signal::LastMove), boxed),
        ..WALKS
    },
    Kind {
        id: "2x2x2-exact",
        name: "2x2x2 by exact distances",
        summary: "Learns the true distance of each state of random walks, as a reference: for larger cubes there is no such table.",
        learner: of_learner!(Supervised<Two>, SupervisedConfig::preset::<Two>(Signal::Exact), boxed),
        ..WALKS
    },
    DQN,
    Kind {
        id: "2x2x2-dqn-published",
        name: "2x2x2 by deep Q, as published",
        summary: "Deep Q-learning with the layers 144-128-64-6 of adamavixio's library (github.com/adamavixio/machine-learning, \
                  docs/OPTIMIZATION_PLAN.md), here double and dueling.",
        learner: of_learner!(Dqn<Two>, DqnConfig::preset(Preset::Published), boxed),
        ..DQN
    },
    Kind {
        id: "2x2x2-dqn-later",
        name: "2x2x2 by deep Q, as published later",
        summary: "Deep Q-learning with the later network of adamavixio's library (github.com/adamavixio/machine-learning, README), \
                  144-256-128-64, with layer norm, n-step returns, prioritised replay and Polyak's mean.",
        learner: of_learner!(Dqn<Two>, DqnConfig::preset(Preset::Later), boxed),
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
        test_states: 1.5e6,
        learner: of_learner!(Supervised<Three>, SupervisedConfig::preset::<Three>(Signal::WalkLength), boxed),
        ..WALKS
    },
];
