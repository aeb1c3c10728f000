//! The knobs of a run: what a user sees of its learner's settings, which stand in one declaration ([`learn::settings!`]). `--help`, the
//! page, links and checkpoints all read that.

use crate::error::RunError;
use crate::protocol::{Knob, Knobs, Value};
use learn::settings::{Setting, SettingError, Settings};

/// The knobs of some settings, which begin as the preset.
pub struct Table<C> {
    preset: C,
    /// Names of those that the preset's learner has no use for.
    unused: &'static [&'static str],
}

impl<C: Settings> Table<C> {
    pub const fn new(preset: C) -> Self {
        Table { preset, unused: &[] }
    }

    pub fn without(self, unused: &'static [&'static str]) -> Self {
        Table { unused, ..self }
    }

    pub fn knobs(&self) -> Vec<Knob> {
        let knob =
            |(&Setting { name, label, span, unit, help, live }, default)| Knob { name, label, kind: span.kind, default, unit, help, live };
        self.used(&self.preset).map(knob).collect()
    }

    /// The settings under `knobs`, each checked; what is left out keeps its default.
    pub fn settings(&self, knobs: &Knobs) -> Result<C, RunError> {
        let mut settings = self.preset.clone();
        for (name, value) in knobs {
            self.find(name)?;
            settings.set(name, value)?;
        }
        Ok(settings)
    }

    fn used(&self, settings: &C) -> impl Iterator<Item = (&'static Setting, Value)> {
        settings.values().into_iter().filter(|(setting, _)| !self.unused.contains(&setting.name))
    }

    fn find(&self, name: &str) -> Result<&'static Setting, RunError> {
        let found = self.used(&self.preset).map(|(setting, _)| setting).find(|setting| setting.name == name);
        found.ok_or_else(|| RunError::unknown_knob(name, self.used(&self.preset).map(|(setting, _)| setting.name)))
    }
}

/// Values by the names of their settings.
pub(crate) fn by_name(values: Vec<(&'static Setting, Value)>) -> Knobs {
    values.into_iter().map(|(setting, value)| (setting.name.to_string(), value)).collect()
}

/// Refuses a change that no run with these knobs could make while it goes on.
pub(crate) fn check_live(knobs: &[Knob], name: &str, value: &Value) -> Result<(), RunError> {
    let unknown = || RunError::unknown_knob(name, knobs.iter().map(|knob| knob.name));
    let knob = knobs.iter().find(|knob| knob.name == name).ok_or_else(unknown)?;
    knob.kind.check(knob.name, value)?;
    if knob.live { Ok(()) } else { Err(RunError::NotLive { name: name.into() }) }
}

/// The value that a text stands for in a link or on a command line.
pub fn parse(knob: &Knob, text: &str) -> Result<Value, RunError> {
    Ok(knob.kind.parse(knob.name, text)?)
}

impl From<SettingError> for RunError {
    fn from(error: SettingError) -> RunError {
        let SettingError { name, value, expected, wrong_kind } = error;
        match wrong_kind {
            true => RunError::WrongKind { name: name.into(), value, kind: expected },
            false => RunError::OutOfRange { name: name.into(), value, range: expected },
        }
    }
}
