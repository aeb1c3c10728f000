//! A learner with the settings in force, which are declared with [`learn::settings!`].

use crate::RunError;
use crate::knobs::Table;
use crate::protocol::{Knob, Knobs, Value};
use crate::room::Setup;
use learn::settings::Settings;
use learn::{Find, Learner};

/// What a learner has to have to be one of several in a room.
pub(crate) trait Tunable: Learner + Sized + 'static {
    type Settings: Settings + Send + Sync;
    /// Settings that it has no use for.
    const UNUSED: &'static [&'static str] = &[];

    /// Refuses what cannot be learned with.
    fn check(settings: &Self::Settings) -> Result<(), RunError>;
    /// About what it allocates, at most, with all that the room keeps beside it.
    fn bytes(settings: &Self::Settings) -> u64;
    /// Goes on from what was saved, where that is given.
    fn make(settings: Self::Settings, setup: Setup, saved: Option<&Find>) -> Result<Self, RunError>;
    /// Takes over settings that differ in live ones.
    fn retune(&mut self, settings: Self::Settings) -> Result<(), RunError>;
}

pub(crate) fn table<L: Tunable>(preset: L::Settings) -> Table<L::Settings> {
    Table::new(preset).without(L::UNUSED)
}

pub(crate) struct Tuned<L: Tunable> {
    pub learner: L,
    settings: L::Settings,
    table: Table<L::Settings>,
}

impl<L: Tunable> Tuned<L> {
    pub fn make(table: Table<L::Settings>, setup: Setup, saved: Option<&Find>) -> Result<Tuned<L>, RunError> {
        let settings = table.settings(setup.knobs)?;
        let learner = L::make(settings.clone(), setup, saved)?;
        Ok(Tuned { learner, settings, table })
    }

    pub fn settings(&self) -> &L::Settings {
        &self.settings
    }

    /// Every knob with its value in force.
    pub fn values(&self) -> Knobs {
        self.table.values(&self.settings)
    }

    /// What [`Tuned::set`] would say.
    pub fn may_set(&self, name: &str, value: &Value) -> Result<(), RunError> {
        L::check(&self.table.changed(&self.settings, name, value)?.0)
    }

    /// Changes a live knob at a boundary: from what, and to what.
    pub fn set(&mut self, name: &str, value: &Value) -> Result<(Value, Value), RunError> {
        let (settings, change) = self.table.changed(&self.settings, name, value)?;
        self.learner.retune(settings.clone())?;
        self.settings = settings;
        Ok(change)
    }
}

/// A learner, as an entry of a room's list: made by [`of_learner!`], in a box of the room's.
pub(crate) struct Entry<T: ?Sized> {
    pub knobs: fn() -> Vec<Knob>,
    /// Refuses what cannot be learned with.
    pub check: fn(&Knobs) -> Result<(), RunError>,
    /// About what it allocates, at most.
    pub bytes: fn(&Knobs) -> Result<u64, RunError>,
    /// Goes on from what was saved, where that is given.
    pub make: fn(Setup, Option<&Find>) -> Result<Box<T>, RunError>,
}

/// The entry of a learner that begins from a preset; `boxed` puts it, tuned, into the box.
macro_rules! of_learner {
    ($learner:ty, $preset:expr, $boxed:expr) => {
        $crate::tuned::Entry {
            knobs: || $crate::tuned::table::<$learner>($preset).knobs(),
            check: |knobs| <$learner as Tunable>::check(&$crate::tuned::table::<$learner>($preset).settings(knobs)?),
            bytes: |knobs| Ok(<$learner as Tunable>::bytes(&$crate::tuned::table::<$learner>($preset).settings(knobs)?)),
            make: |setup, saved| $boxed(Tuned::<$learner>::make($crate::tuned::table::<$learner>($preset), setup, saved)?, setup),
        }
    };
}
pub(crate) use of_learner;
