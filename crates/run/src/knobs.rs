//! The knobs of a learner: one table ties each to its field, its range and its words. Nothing else lists them: `--help`, the
//! page, links and checkpoints all read this table. Which knobs are live follows from what the learner can go on with.

use crate::error::RunError;
use crate::protocol::{Knob, KnobKind, Knobs, Named, Value};

/// A knob of the settings `C`.
pub struct Entry<C> {
    pub knob: Knob,
    access: Access<C>,
}

/// How a field of the settings is read and written.
pub enum Access<C> {
    Number(fn(&C) -> f64, fn(&mut C, f64)),
    Text(fn(&C) -> String, fn(&mut C, &str)),
}

impl<C> Access<C> {
    fn get(&self, settings: &C) -> Value {
        match self {
            // f32 fields shown as the short decimal that names them: 0.003, not 0.003000000026.
            Access::Number(get, _) => Value::Number(tidy(get(settings))),
            Access::Text(get, _) => Value::Text(get(settings)),
        }
    }

    fn set(&self, settings: &mut C, value: &Value) {
        match (self, value) {
            (Access::Number(_, set), Value::Number(number)) => set(settings, *number),
            (Access::Text(_, set), Value::Text(text)) => set(settings, text),
            _ => unreachable!("checked against the knob's kind"),
        }
    }
}

/// The knobs of some settings, which begin as the preset.
pub struct Table<C> {
    preset: C,
    can_become: fn(&C, &C) -> bool,
    pub entries: Vec<Entry<C>>,
}

impl<C: Clone> Table<C> {
    /// `can_become` says whether a learner with some settings can go on with others.
    pub fn new(preset: C, can_become: fn(&C, &C) -> bool) -> Self {
        Table { preset, can_become, entries: Vec::new() }
    }

    /// Its default is what the preset has; it is live where the learner can go on with another value.
    pub fn with(
        mut self,
        name: &'static str,
        label: &'static str,
        kind: KnobKind,
        unit: &'static str,
        access: Access<C>,
        help: &'static str,
    ) -> Self {
        let default = access.get(&self.preset);
        let mut other = self.preset.clone();
        access.set(&mut other, &another(kind, &default));
        let live = (self.can_become)(&self.preset, &other);
        self.entries.push(Entry { knob: Knob { name, label, kind, default, unit, help, live }, access });
        self
    }

    pub fn knobs(&self) -> Vec<Knob> {
        self.entries.iter().map(|entry| entry.knob.clone()).collect()
    }

    /// The settings under `knobs`, each checked; what is left out keeps its default.
    pub fn settings(&self, knobs: &Knobs) -> Result<C, RunError> {
        let mut settings = self.preset.clone();
        for (name, value) in knobs {
            let entry = self.find(name)?;
            check(&entry.knob, value)?;
            entry.access.set(&mut settings, value);
        }
        Ok(settings)
    }

    /// Every knob with its value in force.
    pub fn values(&self, settings: &C) -> Knobs {
        self.entries.iter().map(|entry| (entry.knob.name.to_string(), entry.access.get(settings))).collect()
    }

    /// Changes one live knob: from what, and to what.
    pub fn set_live(&self, settings: &mut C, name: &str, value: &Value) -> Result<(Value, Value), RunError> {
        let entry = self.find(name)?;
        check(&entry.knob, value)?;
        if !entry.knob.live {
            return Err(RunError::NotLive { name: name.into() });
        }
        let before = entry.access.get(settings);
        entry.access.set(settings, value);
        Ok((before, entry.access.get(settings)))
    }

    fn find(&self, name: &str) -> Result<&Entry<C>, RunError> {
        self.entries.iter().find(|e| e.knob.name == name).ok_or_else(|| RunError::UnknownKnob {
            name: name.into(),
            known: self.entries.iter().map(|e| e.knob.name).collect::<Vec<_>>().join(", "),
        })
    }
}

/// How a whole number, a float, a switch, a choice (an enum with `NAMES`, `name` and `named`) and a text of some settings
/// are read and written.
#[macro_export]
macro_rules! count {
    ($field:ident) => {
        $crate::knobs::Access::Number(|c| c.$field as f64, |c, v| c.$field = v as _)
    };
}
#[macro_export]
macro_rules! number {
    ($field:ident) => {
        $crate::knobs::Access::Number(|c| f64::from(c.$field), |c, v| c.$field = v as _)
    };
}
#[macro_export]
macro_rules! switch {
    ($field:ident) => {
        $crate::knobs::Access::Number(|c| f64::from(u8::from(c.$field)), |c, v| c.$field = v != 0.0)
    };
}
#[macro_export]
macro_rules! text {
    ($field:ident) => {
        $crate::knobs::Access::Text(|c| c.$field.to_string(), |c, v| c.$field = v.into())
    };
}

pub const fn float(min: f64, max: f64, log: bool) -> KnobKind {
    KnobKind::Float { min, max, log }
}

pub const fn int(min: f64, max: f64) -> KnobKind {
    KnobKind::Int { min, max, log: true }
}

pub const fn choice(options: &'static [Named]) -> KnobKind {
    KnobKind::Choice { options }
}

/// A value of this kind beside the default.
fn another(kind: KnobKind, default: &Value) -> Value {
    match (kind, default) {
        (KnobKind::Float { min, max, .. } | KnobKind::Int { min, max, .. }, default) => {
            Value::Number(if *default == Value::Number(min) { max } else { min })
        }
        (KnobKind::Bool, default) => Value::Number(if *default == Value::Number(0.0) { 1.0 } else { 0.0 }),
        (KnobKind::Choice { options }, default) => {
            let other = options.iter().find(|option| *default != Value::Text(option.name.into()));
            other.map_or(default.clone(), |option| Value::Text(option.name.into()))
        }
        (KnobKind::Text { .. }, default) => Value::Text(format!("{default} ")),
    }
}

/// The shortest decimal that a 32-bit float prints as.
pub(crate) fn tidy(value: f64) -> f64 {
    (value as f32).to_string().parse().unwrap_or(value)
}

/// Refuses what is of the wrong kind or out of range, and says what would do.
pub fn check(knob: &Knob, value: &Value) -> Result<(), RunError> {
    let wrong = |kind: String| RunError::WrongKind { name: knob.name.into(), value: value.to_string(), kind };
    let between = |min: f64, max: f64, whole: bool| {
        let kind = if whole { "a whole number" } else { "a number" };
        let range = format!("{kind} from {min} to {max}");
        match *value {
            Value::Number(x) if x >= min && x <= max && (!whole || x.fract() == 0.0) => Ok(()),
            Value::Number(_) => {
                Err(RunError::OutOfRange { name: knob.name.into(), value: value.to_string(), range })
            }
            Value::Text(_) => Err(wrong(range)),
        }
    };
    match knob.kind {
        KnobKind::Float { min, max, .. } => between(min, max, false),
        KnobKind::Int { min, max, .. } => between(min, max, true),
        KnobKind::Bool => between(0.0, 1.0, true),
        KnobKind::Choice { options } => {
            let known = || options.iter().map(|option| option.name).collect::<Vec<_>>().join(", ");
            match value {
                Value::Text(text) if options.iter().any(|option| option.name == text) => Ok(()),
                _ => Err(wrong(format!("one of: {}", known()))),
            }
        }
        KnobKind::Text { most } => match value {
            Value::Text(text) if text.len() <= most as usize => Ok(()),
            _ => Err(wrong(format!("a text of {most} bytes at most"))),
        },
    }
}

/// The value that a text stands for in a link or on a command line.
pub fn parse(knob: &Knob, text: &str) -> Result<Value, RunError> {
    let value = match knob.kind {
        KnobKind::Choice { .. } | KnobKind::Text { .. } => Value::Text(text.into()),
        KnobKind::Bool if text == "on" || text == "true" => Value::Number(1.0),
        KnobKind::Bool if text == "off" || text == "false" => Value::Number(0.0),
        _ => text.parse().map_or_else(|_| Value::Text(text.into()), Value::Number),
    };
    check(knob, &value)?;
    Ok(value)
}
