//! List of the room's learners, each with its cube, texts and knobs. To add a learner, add an entry to `KINDS`.
//!
//! The algorithms are in the crate `learn`.

use super::agent::{self, Agent};
use super::judging::Known;
use super::protocol::{Gives, Puzzle, SearchKind, SolveMethod};
use crate::RunError;
use crate::knobs::Table;
use crate::learners::Entry;
use crate::plain_data::json;
use crate::protocol::{Goal, Knob, Value, Variant};
use learn::cube::{Dqn, DqnConfig, Method, Preset, Signal, Supervised, SupervisedConfig};
use worlds::cube::{Three, Two};

/// A learner as a variant of the room.
pub(super) struct LearnerKind {
    id: &'static str,
    name: &'static str,
    summary: &'static str,
    goal: Goal,
    /// Budget of one run in a sweep, in training states.
    sweep_states: f64,
    pub size: u32,
    gives: Gives,
    /// True if the learner trains on episodes that it plays. Such a learner has a curriculum and a replay.
    pub plays: bool,
    /// Number of training states that cost about as much time as a test.
    pub test_states: f64,
    pub learner: Entry<dyn Agent>,
}

impl LearnerKind {
    fn puzzle(&self) -> Puzzle {
        let exact = self.size == 2;
        let method = if exact { Method::preset::<Two>(self.gives) } else { Method::preset::<Three>(self.gives) };
        let Method::Beam { width } = method else { unreachable!("all presets are beams") };
        let nodes = if exact { 1_000_000 } else { 20_000_000 };
        let method = SolveMethod { search: SearchKind::Beam, width: width as u32, weight: 0.6, nodes };
        Puzzle { size: self.size, exact, gives: self.gives, plays: self.plays, method }
    }

    /// Returns the summary. That of a learner by deep Q-learning names the techniques that its preset uses.
    fn summary(&self) -> String {
        if self.plays { format!("{} Techniques: {}.", self.summary, techniques(&(self.learner.knobs)())) } else { self.summary.into() }
    }
}

/// Names the techniques of deep Q-learning that the default values of the knobs switch on.
fn techniques(knobs: &[Knob]) -> String {
    let default = |name: &str| knobs.iter().find(|knob| knob.name == name).map(|knob| &knob.default);
    let switches =
        [("double", "double Q-learning"), ("dueling", "dueling heads"), ("norm", "layer norm"), ("prioritised", "prioritised replay")];
    let on = switches.into_iter().filter(|&(name, _)| default(name) == Some(&Value::Number(1.0))).map(|(_, words)| words.into());
    let steps = match default("n_step") {
        Some(Value::Number(steps)) if *steps > 1.0 => Some(format!("{steps}-step returns")),
        _ => None,
    };
    let averaged = (default("follow") == Some(&Value::from("polyak"))).then(|| "Polyak averaging of the target network".into());
    on.chain(steps).chain(averaged).collect::<Vec<String>>().join(", ")
}

pub(super) fn variants() -> Vec<Variant> {
    let variant = |kind: &LearnerKind| Variant {
        id: kind.id.into(),
        name: kind.name.into(),
        summary: kind.summary().into(),
        goal: Some(kind.goal),
        sweep_budget: kind.sweep_states,
        about: json(&kind.puzzle()),
    };
    KINDS.iter().map(variant).collect()
}

/// Returns the learner with this id; the default learner if the id is unknown.
pub(super) fn kind(id: &str) -> &'static LearnerKind {
    KINDS.iter().find(|kind| kind.id == id).unwrap_or(&KINDS[0])
}

/// Creates the `Entry` of the learner type `$learner` on the cube `$cube`. `$table` is the table of the learner's knobs.
macro_rules! learner {
    ($learner:ident, $cube:ident, $table:expr) => {
        Entry {
            knobs: || $table.knobs(),
            check: |knobs| Ok($table.settings(knobs)?.check::<$cube>().map(|_| ())?),
            bytes: |knobs| {
                let settings = $table.settings(knobs)?;
                Ok(settings.bytes::<$cube>().saturating_add(agent::bytes::<$cube>(&settings.net)))
            },
            make: |setup, saved| {
                let settings = $table.settings(setup.knobs)?;
                let taken = settings.bytes::<$cube>().saturating_add(agent::bytes::<$cube>(&settings.net));
                let (exact, seed, isa) = ($cube::exact(settings.metric), setup.seed, setup.host.isa);
                let learner = match saved {
                    None => $learner::<$cube>::new(settings, exact, seed, isa)?,
                    Some(find) => $learner::<$cube>::restore(settings, exact, seed, isa, find).map_err(RunError::damaged)?,
                };
                Ok(agent::of(Box::new(learner), setup.host.memory_bytes.saturating_sub(taken)))
            },
        }
    };
}

/// Supervised learning from random walks that start at the solved state of the 2x2x2.
const WALKS: LearnerKind = LearnerKind {
    id: "2x2x2",
    name: "2x2x2",
    summary: "Predicts the length of random walks from the solved state. The mean length orders states by distance (walk-length \
              regression).",
    goal: Goal { column: "solved", at: 0.99 },
    sweep_states: 1e7,
    size: 2,
    gives: Gives::Value,
    plays: false,
    test_states: 1.8e6,
    learner: learner!(Supervised, Two, Table::new(SupervisedConfig::preset::<Two>(Signal::WalkLength)).without(&["dueling"])),
};

/// Deep Q-learning on the 2x2x2.
const DQN: LearnerKind = LearnerKind {
    id: "2x2x2-dqn",
    name: "2x2x2 by deep Q",
    summary: "Learns the value of each action from its own play, by deep Q-learning. Scrambles grow longer as it succeeds.",
    goal: Goal { column: "at_8", at: 0.95 },
    sweep_states: 1e7,
    size: 2,
    gives: Gives::ActionValues,
    plays: true,
    test_states: 1e6,
    learner: learner!(Dqn, Two, Table::new(DqnConfig::preset(Preset::Tuned))),
};

static KINDS: [LearnerKind; 7] = [
    WALKS,
    LearnerKind {
        id: "3x3x3",
        name: "3x3x3",
        summary: "The same method as for the 2x2x2, on a cube of 43,252,003,274,489,856,000 states. Training visits almost none of \
                  them; a beam search makes up for errors of the network.",
        goal: Goal { column: "solved", at: 1.0 },
        sweep_states: 5e6,
        size: 3,
        test_states: 1.5e6,
        learner: learner!(Supervised, Three, Table::new(SupervisedConfig::preset::<Three>(Signal::WalkLength)).without(&["dueling"])),
        ..WALKS
    },
    LearnerKind {
        id: "2x2x2-last",
        name: "2x2x2 by last moves",
        summary: "Predicts the last move of a random walk. Its network outputs a policy: which move to make.",
        gives: Gives::Policy,
        learner: learner!(Supervised, Two, Table::new(SupervisedConfig::preset::<Two>(Signal::LastMove)).without(&["dueling"])),
        ..WALKS
    },
    LearnerKind {
        id: "2x2x2-exact",
        name: "2x2x2 by exact distances",
        summary: "Learns the exact distances of states on random walks, as a reference. Larger cubes have no table of distances.",
        learner: learner!(Supervised, Two, Table::new(SupervisedConfig::preset::<Two>(Signal::Exact)).without(&["dueling"])),
        ..WALKS
    },
    DQN,
    LearnerKind {
        id: "2x2x2-dqn-published",
        name: "2x2x2 by deep Q, as published",
        summary: "Deep Q-learning with the layers 144-128-64-6 of adamavixio's library (github.com/adamavixio/machine-learning, \
                  docs/OPTIMIZATION_PLAN.md).",
        learner: learner!(Dqn, Two, Table::new(DqnConfig::preset(Preset::Published))),
        ..DQN
    },
    LearnerKind {
        id: "2x2x2-dqn-later",
        name: "2x2x2 by deep Q, later version",
        summary: "Deep Q-learning with the later network of adamavixio's library (github.com/adamavixio/machine-learning, README), \
                  144-256-128-64.",
        learner: learner!(Dqn, Two, Table::new(DqnConfig::preset(Preset::Later))),
        ..DQN
    },
];
