//! The learners that there are, behind one face: each with its words and its knobs. A new learner is an entry here.
//!
//! It refuses to know how they learn.

use crate::RunError;
use crate::knobs::Table;
use crate::protocol::{Goal, Knob, Knobs, Value, Variant};
use crate::room::Setup;
use learn::Find;
use learn::backgammon::{Published, PublishedConfig, SelfTaught, Strong, StrongConfig};
use learn::settings::Settings;
use math::Isa;

type Made = Result<Box<dyn Tuned>, RunError>;

/// A learner with the settings in force.
pub(super) trait Tuned: Send + Sync {
    fn learner(&self) -> &(dyn SelfTaught + 'static);
    fn learner_mut(&mut self) -> &mut (dyn SelfTaught + 'static);

    /// Every knob with its value in force.
    fn values(&self) -> Knobs;

    /// What [`Tuned::set`] would say.
    fn check(&self, name: &str, value: &Value) -> Result<(), RunError>;

    /// Changes a live knob between two rounds: from what, and to what.
    fn set(&mut self, name: &str, value: &Value) -> Result<(Value, Value), RunError>;
}

/// One of the learners.
pub(super) struct Kind {
    id: &'static str,
    name: &'static str,
    summary: &'static str,
    goal: Goal,
    /// Some minutes for a sweep with a few settings.
    sweep_games: f64,
    pub knobs: fn() -> Vec<Knob>,
    /// Refuses what cannot be learned with.
    pub check: fn(&Knobs) -> Result<(), RunError>,
    /// About what it allocates, at most.
    pub bytes: fn(&Knobs) -> Result<u64, RunError>,
    pub begin: fn(Setup) -> Made,
    pub restore: fn(Setup, &Find) -> Made,
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
        knobs: With::<Strong>::knobs,
        check: With::<Strong>::check,
        bytes: With::<Strong>::bytes,
        begin: With::<Strong>::begin,
        restore: With::<Strong>::restore,
    },
    Kind {
        id: "published",
        name: "AlphaZero style",
        summary: "The configuration of AlphaZero.jl by sile16 (github.com/sile16/AlphaZero.jl, notes/perf_progress.md): every move \
                  is searched over chance nodes, and the network learns from what the search preferred. Much slower.",
        goal: Goal { column: "random_points", at: 1.2 },
        sweep_games: 4000.0,
        knobs: With::<Published>::knobs,
        check: With::<Published>::check,
        bytes: With::<Published>::bytes,
        begin: With::<Published>::begin,
        restore: With::<Published>::restore,
    },
];

/// What a learner has to have to be among them.
trait Tunable: SelfTaught + Sized + 'static {
    type Settings: Settings + Default + Send + Sync;
    fn begin(settings: Self::Settings, seed: u32, isa: Isa) -> Result<Self, RunError>;
    fn restore(settings: Self::Settings, seed: u32, isa: Isa, find: &Find) -> Result<Self, RunError>;
    fn sound(settings: &Self::Settings) -> Result<(), RunError>;
    fn bytes(settings: &Self::Settings) -> u64;
    fn set(&mut self, settings: Self::Settings) -> Result<(), RunError>;
}

fn table<L: Tunable>() -> Table<L::Settings> {
    Table::new(L::Settings::default())
}

struct With<L: Tunable> {
    learner: L,
    settings: L::Settings,
}

impl<L: Tunable> With<L> {
    fn knobs() -> Vec<Knob> {
        table::<L>().knobs()
    }

    fn check(knobs: &Knobs) -> Result<(), RunError> {
        L::sound(&table::<L>().settings(knobs)?)
    }

    fn bytes(knobs: &Knobs) -> Result<u64, RunError> {
        Ok(L::bytes(&table::<L>().settings(knobs)?))
    }

    fn begin(setup: Setup) -> Made {
        let settings = table::<L>().settings(setup.knobs)?;
        let learner = L::begin(settings.clone(), setup.seed, setup.host.isa)?;
        Ok(Box::new(With { learner, settings }))
    }

    fn restore(setup: Setup, find: &Find) -> Made {
        let settings = table::<L>().settings(setup.knobs)?;
        let learner = L::restore(settings.clone(), setup.seed, setup.host.isa, find)?;
        Ok(Box::new(With { learner, settings }))
    }
}

impl<L: Tunable> Tuned for With<L> {
    fn learner(&self) -> &(dyn SelfTaught + 'static) {
        &self.learner
    }

    fn learner_mut(&mut self) -> &mut (dyn SelfTaught + 'static) {
        &mut self.learner
    }

    fn values(&self) -> Knobs {
        table::<L>().values(&self.settings)
    }

    fn check(&self, name: &str, value: &Value) -> Result<(), RunError> {
        L::sound(&table::<L>().changed(&self.settings, name, value)?.0)
    }

    fn set(&mut self, name: &str, value: &Value) -> Result<(Value, Value), RunError> {
        let (settings, change) = table::<L>().changed(&self.settings, name, value)?;
        self.learner.set(settings.clone())?;
        self.settings = settings;
        Ok(change)
    }
}

impl Tunable for Strong {
    type Settings = StrongConfig;

    fn begin(settings: StrongConfig, seed: u32, isa: Isa) -> Result<Self, RunError> {
        Ok(Strong::new(settings, seed, isa)?)
    }

    fn restore(settings: StrongConfig, seed: u32, isa: Isa, find: &Find) -> Result<Self, RunError> {
        Strong::restore(settings, seed, isa, find).map_err(RunError::damaged)
    }

    fn sound(settings: &StrongConfig) -> Result<(), RunError> {
        Ok(settings.check()?)
    }

    fn bytes(settings: &StrongConfig) -> u64 {
        StrongConfig::bytes(settings)
    }

    fn set(&mut self, settings: StrongConfig) -> Result<(), RunError> {
        Ok(self.set_config(settings)?)
    }
}

impl Tunable for Published {
    type Settings = PublishedConfig;

    fn begin(settings: PublishedConfig, seed: u32, isa: Isa) -> Result<Self, RunError> {
        Ok(Published::new(settings, seed, isa)?)
    }

    fn restore(settings: PublishedConfig, seed: u32, isa: Isa, find: &Find) -> Result<Self, RunError> {
        Published::restore(settings, seed, isa, find).map_err(RunError::damaged)
    }

    fn sound(settings: &PublishedConfig) -> Result<(), RunError> {
        Ok(settings.check()?)
    }

    fn bytes(settings: &PublishedConfig) -> u64 {
        PublishedConfig::bytes(settings)
    }

    fn set(&mut self, settings: PublishedConfig) -> Result<(), RunError> {
        Ok(self.set_config(settings)?)
    }
}
