//! The learners that there are, behind one face: each with its words and its knobs. A new learner is an entry here.
//!
//! It refuses to know how they learn.

use super::protocol;
use crate::error::RunError;
use crate::knobs::{Table, count, float, int, number};
use crate::protocol::{Config, Knob};
use learn::Find;
use learn::backgammon::{Learner, Strong, StrongConfig};
use math::Isa;
use std::collections::BTreeMap;

/// Values by name.
type Knobs = BTreeMap<String, f64>;
type Taken = Result<Box<dyn Pupil>, RunError>;

/// What trains when nobody says otherwise.
pub(crate) const DEFAULT: &str = "strong";

pub(crate) fn learners() -> Vec<protocol::Learner> {
    SCHOOLS
        .iter()
        .map(|school| protocol::Learner { id: school.id, name: school.name, summary: school.summary })
        .collect()
}

/// A learner with the settings in force.
pub(crate) trait Pupil: math::par::Movable {
    fn learner(&self) -> &dyn Learner;
    fn learner_mut(&mut self) -> &mut dyn Learner;

    /// Every knob with its value in force.
    fn values(&self) -> Knobs;

    /// What [`Pupil::set`] would say.
    fn check(&self, name: &str, value: f64) -> Result<(), RunError>;

    /// Changes a live knob between two rounds: from what, and to what.
    fn set(&mut self, name: &str, value: f64) -> Result<(f64, f64), RunError>;
}

pub(crate) struct School {
    pub id: &'static str,
    name: &'static str,
    summary: &'static str,
    pub knobs: fn() -> Vec<Knob>,
    /// Refuses what cannot be learned with.
    pub check: fn(&Knobs) -> Result<(), RunError>,
    pub begin: fn(&Knobs, u32, Isa) -> Taken,
    pub restore: fn(&Knobs, u32, Isa, &Find) -> Taken,
}

pub(crate) fn school(config: &Config) -> Result<&'static School, RunError> {
    SCHOOLS.iter().find(|school| school.id == config.env).ok_or_else(|| RunError::UnknownLearner {
        id: config.env.clone(),
        known: SCHOOLS.iter().map(|school| school.id).collect::<Vec<_>>().join(", "),
    })
}

static SCHOOLS: [School; 1] = [School {
    id: "strong",
    name: "Strong",
    summary: "Learns what each position it leaves is worth, first from how its games end and from its own next opinion, and \
              looks ahead where it is asked to.",
    knobs: Taught::<Strong>::knobs,
    check: Taught::<Strong>::check,
    begin: Taught::<Strong>::begin,
    restore: Taught::<Strong>::restore,
}];

/// What a learner has to have to be taught here.
trait Teachable: Learner + Sized + 'static {
    type Settings: Clone + math::par::Movable;
    fn table() -> Table<Self::Settings>;
    fn begin(settings: Self::Settings, seed: u32, isa: Isa) -> Result<Self, RunError>;
    fn restore(settings: Self::Settings, seed: u32, isa: Isa, find: &Find) -> Result<Self, RunError>;
    fn sound(settings: &Self::Settings) -> Result<(), RunError>;
    fn set(&mut self, settings: Self::Settings) -> Result<(), RunError>;
}

struct Taught<L: Teachable> {
    learner: L,
    settings: L::Settings,
}

impl<L: Teachable> Taught<L> {
    fn knobs() -> Vec<Knob> {
        L::table().entries.into_iter().map(|entry| entry.knob).collect()
    }

    fn check(knobs: &Knobs) -> Result<(), RunError> {
        L::sound(&L::table().settings(knobs)?)
    }

    fn begin(knobs: &Knobs, seed: u32, isa: Isa) -> Taken {
        let settings = L::table().settings(knobs)?;
        Ok(Box::new(Taught { learner: L::begin(settings.clone(), seed, isa)?, settings }))
    }

    fn restore(knobs: &Knobs, seed: u32, isa: Isa, find: &Find) -> Taken {
        let settings = L::table().settings(knobs)?;
        Ok(Box::new(Taught { learner: L::restore(settings.clone(), seed, isa, find)?, settings }))
    }
}

impl<L: Teachable> Pupil for Taught<L> {
    fn learner(&self) -> &dyn Learner {
        &self.learner
    }

    fn learner_mut(&mut self) -> &mut dyn Learner {
        &mut self.learner
    }

    fn values(&self) -> Knobs {
        L::table().values(&self.settings)
    }

    fn check(&self, name: &str, value: f64) -> Result<(), RunError> {
        let mut settings = self.settings.clone();
        L::table().set_live(&mut settings, name, value)?;
        L::sound(&settings)
    }

    fn set(&mut self, name: &str, value: f64) -> Result<(f64, f64), RunError> {
        let mut settings = self.settings.clone();
        let change = L::table().set_live(&mut settings, name, value)?;
        self.learner.set(settings.clone())?;
        self.settings = settings;
        Ok(change)
    }
}

impl Teachable for Strong {
    type Settings = StrongConfig;

    fn table() -> Table<StrongConfig> {
        Table::new(StrongConfig::default())
            .with(
                "lr",
                "Learning rate",
                float(1e-5, 0.05, true),
                "",
                true,
                number!(lr),
                "How far each update moves the networks at the beginning. Too small and nothing happens; too large and they forget what they knew.",
            )
            .with(
                "lr_steps",
                "Slow down over",
                float(1.0, 1e6, true),
                "updates",
                true,
                number!(lr_steps),
                "After this many updates the learning rate is down to 0.7 of what it was, and it goes on falling with the root of their number.",
            )
            .with(
                "lambda",
                "Trust in the outcome",
                float(0.0, 1.0, false),
                "",
                true,
                number!(lambda),
                "At 0 a position is worth what the next one is thought to be worth, at 1 what the game came to in the end.",
            )
            .with(
                "games",
                "Games a round",
                int(1.0, 4096.0),
                "games",
                true,
                count!(games),
                "How many games are played by the same networks before they learn from them.",
            )
            .with(
                "batch",
                "Positions an update",
                int(16.0, 8192.0),
                "positions",
                true,
                count!(batch),
                "How many positions each update of the networks is a mean over.",
            )
            .with(
                "hidden",
                "Width of the networks",
                int(16.0, 1024.0),
                "units",
                false,
                count!(hidden),
                "Units in the first layer of each network, a multiple of 16. More can know more, and take longer.",
            )
    }

    fn begin(settings: StrongConfig, seed: u32, isa: Isa) -> Result<Self, RunError> {
        Ok(Strong::new(settings, seed, isa)?)
    }

    fn restore(settings: StrongConfig, seed: u32, isa: Isa, find: &Find) -> Result<Self, RunError> {
        Strong::restore(settings, seed, isa, find).map_err(|e| RunError::Damaged { why: e.to_string() })
    }

    fn sound(settings: &StrongConfig) -> Result<(), RunError> {
        Ok(settings.check()?)
    }

    fn set(&mut self, settings: StrongConfig) -> Result<(), RunError> {
        Ok(Strong::set(self, settings)?)
    }
}
