//! The learners that there are, behind one face: each with its cube, its words and its knobs. A new learner is an entry here.
//!
//! It refuses to know how they learn.

use super::agent::{Agent, AnyAgent};
use super::judging::Known;
use super::protocol::{Gives, Inside, Puzzle, SearchKind, SolveMethod};
use crate::RunError;
use crate::knobs::{Access, Table, choice, float, int};
use crate::protocol::{Goal, Knob, KnobKind, Knobs, Named, Value, Variant};
use crate::room::Setup;
use crate::{count, number};
use learn::Find;
use learn::cube::{self, Evaluator, Inputs, Learner, NetConfig, Signal, Supervised, SupervisedConfig};
use math::Isa;
use std::sync::Arc;
use worlds::cube::{Distances, Metric, Three, Two};

/// A learner with the settings in force.
pub(super) trait Tuned<P>: Send + Sync {
    fn learner(&self) -> &dyn Learner<P>;
    fn learner_mut(&mut self) -> &mut dyn Learner<P>;
    fn metric(&self) -> Metric;
    fn inside(&self) -> Option<Inside>;
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
    puzzle: Puzzle,
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
    pub fn make(&self, setup: Setup, saved: Option<&Find>) -> Result<Box<dyn AnyAgent>, RunError> {
        self.maker.make(setup, saved)
    }
}

pub(super) fn variants() -> Vec<Variant> {
    let variant = |kind: &Kind| Variant {
        id: kind.id,
        name: kind.name,
        summary: kind.summary,
        goal: Some(kind.goal),
        sweep_budget: kind.sweep_states,
        about: serde_json::to_value(&kind.puzzle).expect("plain data with string keys"),
    };
    KINDS.iter().map(variant).collect()
}

/// The learner of this name; the default where there is none.
pub(super) fn kind(id: &str) -> &'static Kind {
    KINDS.iter().find(|kind| kind.id == id).unwrap_or(&KINDS[0])
}

const BEAM: SolveMethod = SolveMethod { search: SearchKind::Beam, width: 256, weight: 0.6, nodes: 1_000_000 };
const TWO: Puzzle = Puzzle { size: 2, exact: true, gives: Gives::Value, plays: false, method: BEAM };
const THREE: Puzzle = Puzzle {
    size: 3,
    exact: false,
    gives: Gives::Value,
    plays: false,
    method: SolveMethod { width: 4096, nodes: 4_000_000, ..BEAM },
};
const ALL: Goal = Goal { column: "solved", at: 0.99 };

static KINDS: [Kind; 4] = [
    Kind {
        id: "2x2x2",
        name: "2x2x2",
        summary: "Learns how long random walks from the solved state were, whose mean orders all states by how far away they are \
                  (walk-length regression).",
        goal: ALL,
        sweep_states: 1e7,
        puzzle: TWO,
        test_states: 1.5e6,
        maker: &Learns::<Supervised<Two>> { preset: || SupervisedConfig::preset::<Two>(Signal::WalkLength) },
    },
    Kind {
        id: "2x2x2-last",
        name: "2x2x2 by last moves",
        summary: "Learns which move of a random walk came last, so that its network says at once which one to make (a policy).",
        goal: ALL,
        sweep_states: 1e7,
        puzzle: Puzzle { gives: Gives::Policy, ..TWO },
        test_states: 1.5e6,
        maker: &Learns::<Supervised<Two>> { preset: || SupervisedConfig::preset::<Two>(Signal::LastMove) },
    },
    Kind {
        id: "2x2x2-exact",
        name: "2x2x2 by exact distances",
        summary: "Learns the true distance of each state of random walks, as a reference: for larger cubes there is no such table.",
        goal: ALL,
        sweep_states: 1e7,
        puzzle: TWO,
        test_states: 1.5e6,
        maker: &Learns::<Supervised<Two>> { preset: || SupervisedConfig::preset::<Two>(Signal::Exact) },
    },
    Kind {
        id: "3x3x3",
        name: "3x3x3",
        summary: "The same as the 2x2x2 on a cube of 43,252,003,274,489,856,000 states, of which it never sees one twice; a beam search \
                  makes up for what the network does not know.",
        goal: Goal { column: "solved", at: 1.0 },
        sweep_states: 5e6,
        puzzle: THREE,
        test_states: 1.5e6,
        maker: &Learns::<Supervised<Three>> {
            preset: || SupervisedConfig::preset::<Three>(Signal::WalkLength),
        },
    },
];

/// What a learner has to have to be among them.
trait Tunable: Learner<Self::Cube> + Sized + 'static {
    type Cube: Known;
    type Settings: Clone + Send + Sync;
    /// Its knobs, with these as their defaults.
    fn table(preset: Self::Settings) -> Table<Self::Settings>;
    fn sound(settings: &Self::Settings) -> Result<(), RunError>;
    fn metric(settings: &Self::Settings) -> Metric;
    fn net(settings: &Self::Settings) -> &NetConfig;
    fn bytes(settings: &Self::Settings) -> u64;
    fn make(
        settings: Self::Settings,
        exact: Option<Arc<Distances>>,
        seed: u32,
        isa: Isa,
        saved: Option<&Find>,
    ) -> Result<Self, RunError>;
    fn set(&mut self, settings: Self::Settings) -> Result<(), RunError>;
    fn inside(&self) -> Option<Inside> {
        None
    }
}

/// The learner `L`, which begins from a preset.
struct Learns<L: Tunable> {
    preset: fn() -> L::Settings,
}

impl<L: Tunable> Learns<L> {
    fn table(&self) -> Table<L::Settings> {
        L::table((self.preset)())
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
        Ok(L::bytes(&settings).saturating_add(L::Cube::bytes() + (JUDGES * judge) as u64))
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
    fn learner(&self) -> &dyn Learner<L::Cube> {
        &self.learner
    }

    fn learner_mut(&mut self) -> &mut dyn Learner<L::Cube> {
        &mut self.learner
    }

    fn metric(&self) -> Metric {
        L::metric(&self.settings)
    }

    fn inside(&self) -> Option<Inside> {
        self.learner.inside()
    }

    fn values(&self) -> Knobs {
        self.table.values(&self.settings)
    }

    fn check(&self, name: &str, value: &Value) -> Result<(), RunError> {
        let mut settings = self.settings.clone();
        self.table.set_live(&mut settings, name, value)?;
        L::sound(&settings)
    }

    fn set(&mut self, name: &str, value: &Value) -> Result<(Value, Value), RunError> {
        let mut settings = self.settings.clone();
        let change = self.table.set_live(&mut settings, name, value)?;
        self.learner.set(settings.clone())?;
        self.settings = settings;
        Ok(change)
    }
}

const METRICS: [Named; 2] = [
    Named { name: "qtm", label: "Quarter turns (qtm)" },
    Named { name: "htm", label: "Half turns too (htm)" },
];
const INPUTS: [Named; 2] = [
    Named { name: "stickers", label: "Stickers, one-hot" },
    Named { name: "cubies", label: "Cubies, one-hot" },
];

fn metric(name: &str) -> Metric {
    Metric::ALL.into_iter().find(|metric| metric.id() == name).expect("one of the choices")
}

fn inputs(name: &str) -> Inputs {
    Inputs::ALL.into_iter().find(|inputs| inputs.id() == name).expect("one of the choices")
}

/// `512-256`. What is no number there is a layer of no units, which no learner takes.
fn widths(text: &str) -> Vec<usize> {
    text.split('-').map(|units| units.parse().unwrap_or(0)).collect()
}

fn shape(widths: &[usize]) -> String {
    widths.iter().map(usize::to_string).collect::<Vec<_>>().join("-")
}

impl From<cube::SupervisedError> for RunError {
    fn from(error: cube::SupervisedError) -> RunError {
        RunError::below(error)
    }
}

impl<P: Known> Tunable for Supervised<P> {
    type Cube = P;
    type Settings = SupervisedConfig;

    fn table(preset: SupervisedConfig) -> Table<SupervisedConfig> {
        Table::new(preset, SupervisedConfig::can_become)
            .with(
                "lr",
                "Learning rate",
                float(1e-5, 0.1, true),
                "",
                number!(lr),
                "How far each update moves the network at the beginning. Too small and nothing happens; too large and it forgets what it knew.",
            )
            .with(
                "lr_steps",
                "Learning-rate decay: slow down over",
                float(1.0, 1e6, true),
                "updates",
                number!(lr_steps),
                "After this many updates the learning rate is down to 0.7 of what it was, and it goes on falling with the root of their number.",
            )
            .with(
                "max_grad_norm",
                "Max gradient norm: gradient limit",
                float(0.05, 1000.0, true),
                "",
                number!(max_grad_norm),
                "Longer gradients are shortened to this length, so that one odd batch cannot wreck the network.",
            )
            .with(
                "updates",
                "Updates an iteration",
                int(1.0, 10_000.0),
                "updates",
                count!(updates),
                "Steps of the optimiser before the run tells how it stands, can be saved and takes up new knobs.",
            )
            .with(
                "walk",
                "Random-walk length: moves of a scramble",
                int(1.0, 200.0),
                "moves",
                count!(walk),
                "How many moves from the solved state each random walk goes; all states on the way are learned from.",
            )
            .with(
                "batch",
                "Minibatch: states an update",
                int(16.0, 65_536.0),
                "states",
                count!(batch),
                "How many states each update of the network is a mean over, as many walks as fit.",
            )
            .with(
                "hidden",
                "Hidden layers: units of each",
                KnobKind::Text { most: 60 },
                "",
                Access::Text(|c| shape(&c.net.hidden), |c, text| c.net.hidden = widths(text)),
                "Units of each layer, multiples of 16 with a hyphen between, as in 512-256. More can know more, and take longer.",
            )
            .with(
                "blocks",
                "Residual blocks",
                KnobKind::Int { min: 0.0, max: 32.0, log: false },
                "blocks",
                Access::Number(|c| c.net.blocks as f64, |c, v| c.net.blocks = v as usize),
                "Pairs of layers, as wide as the last one, whose result is added to what they read. They make a deep network easy to train.",
            )
            .with(
                "norm",
                "Layer norm",
                KnobKind::Bool,
                "",
                Access::Number(|c| f64::from(u8::from(c.net.norm)), |c, v| c.net.norm = v != 0.0),
                "Brings the sums of each layer to mean 0 and spread 1 before each activation.",
            )
            .with(
                "inputs",
                "Inputs: what the network is shown",
                choice(&INPUTS),
                "",
                Access::Text(|c| c.net.inputs.id().into(), |c, name| c.net.inputs = inputs(name)),
                "The colour of each sticker, as published, or which cubie is where and how it is turned.",
            )
            .with(
                "metric",
                "Metric: what counts as a move",
                choice(&METRICS),
                "",
                Access::Text(|c| c.metric.id().into(), |c, name| c.metric = metric(name)),
                "Quarter turns alone, or half turns as one move as well.",
            )
    }

    fn sound(settings: &SupervisedConfig) -> Result<(), RunError> {
        settings.check::<P>()?;
        Ok(())
    }

    fn metric(settings: &SupervisedConfig) -> Metric {
        settings.metric
    }

    fn net(settings: &SupervisedConfig) -> &NetConfig {
        &settings.net
    }

    fn bytes(settings: &SupervisedConfig) -> u64 {
        settings.bytes::<P>()
    }

    fn make(
        settings: SupervisedConfig,
        exact: Option<Arc<Distances>>,
        seed: u32,
        isa: Isa,
        saved: Option<&Find>,
    ) -> Result<Self, RunError> {
        match saved {
            None => Ok(Supervised::new(settings, exact, seed, isa)?),
            Some(find) => Supervised::restore(settings, exact, seed, isa, find).map_err(RunError::damaged),
        }
    }

    fn set(&mut self, settings: SupervisedConfig) -> Result<(), RunError> {
        Ok(Supervised::set(self, settings)?)
    }
}
