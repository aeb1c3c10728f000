//! Knobs: the settings of a learner as users see them. Each setting has a single declaration ([`learn::settings!`]). `--help`, the page,
//! links and checkpoints use this declaration.

use crate::error::RunError;
use crate::protocol::{Knob, Knobs, Value};
use learn::settings::{Setting, SettingError, Settings};

/// Knobs of a learner whose settings have the type `C`. The defaults of the knobs are the values of `preset`.
pub struct Table<C> {
    preset: C,
    /// Names of settings that the preset's learner does not use.
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

    /// Returns the preset's settings with the values of `knobs`. An unknown knob or an invalid value is an error.
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

/// Returns a map from the name of each setting to its value.
pub(crate) fn by_name(values: Vec<(&'static Setting, Value)>) -> Knobs {
    values.into_iter().map(|(setting, value)| (setting.name.to_string(), value)).collect()
}

/// Returns an error if the knob `name` cannot change to `value` during a run.
pub(crate) fn check_live(knobs: &[Knob], name: &str, value: &Value) -> Result<(), RunError> {
    let unknown = || RunError::unknown_knob(name, knobs.iter().map(|knob| knob.name));
    let knob = knobs.iter().find(|knob| knob.name == name).ok_or_else(unknown)?;
    knob.kind.check(knob.name, value)?;
    if knob.live { Ok(()) } else { Err(RunError::NotLive { name: name.into() }) }
}

/// Parses the value of a knob from a link or a command line.
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
