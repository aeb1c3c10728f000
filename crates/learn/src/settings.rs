//! Settings of learners. The macro [`crate::settings!`] declares a setting in one place: its field, its label and help text, its range, and
//! whether it may change during training.

use crate::decimal;
use serde::{Deserialize, Serialize};
#[cfg(feature = "typescript")]
use ts_rs::TS;

/// Value of a setting: a number (0 or 1 for a switch), the name of an option, or a text.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(TS))]
#[serde(untagged)]
pub enum Value {
    Number(f64),
    Text(String),
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "typescript", derive(TS))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum KnobKind {
    Float {
        min: f64,
        max: f64,
        /// True for sliders with a logarithmic scale.
        log: bool,
    },
    Int {
        min: f64,
        max: f64,
        log: bool,
    },
    /// A switch: 0 or 1.
    Bool,
    Choice {
        options: &'static [Named],
    },
    Text {
        /// Maximum number of bytes.
        most: u32,
    },
}

/// Name and label of one option of a choice.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "typescript", derive(TS))]
pub struct Named {
    pub name: &'static str,
    pub label: &'static str,
}

/// Description of a setting without its value.
#[derive(Debug)]
pub struct Setting {
    pub name: &'static str,
    pub label: &'static str,
    pub span: Span,
    pub unit: &'static str,
    pub help: &'static str,
    /// True if the setting may change during training.
    pub live: bool,
}

/// Values that a setting may have.
#[derive(Clone, Copy, Debug)]
pub struct Span {
    /// Kind of the setting, including the range from which users may choose a value.
    pub kind: KnobKind,
    /// Minimum value that learners accept. This value can be below the users' range, because tests and measurements use smaller values.
    least: f64,
    /// Maximum value that learners accept. This value can be above the users' range.
    most: f64,
}

impl Span {
    const fn new(kind: KnobKind, least: f64, most: f64) -> Span {
        Span { kind, least, most }
    }

    pub const fn down_to(self, least: f64) -> Span {
        Span { least, ..self }
    }

    pub const fn up_to(self, most: f64) -> Span {
        Span { most, ..self }
    }

    /// Returns the kind of the setting with the range that learners accept. This range can be wider than the users' range.
    pub fn bounds(self) -> KnobKind {
        let Span { kind, least: min, most: max } = self;
        match kind {
            KnobKind::Float { log, .. } => KnobKind::Float { min, max, log },
            KnobKind::Int { log, .. } => KnobKind::Int { min, max, log },
            _ => kind,
        }
    }
}

/// Returns the span of a number that is shown on a logarithmic scale.
pub const fn log(min: f64, max: f64) -> Span {
    Span::new(KnobKind::Float { min, max, log: true }, min, max)
}

pub const fn linear(min: f64, max: f64) -> Span {
    Span::new(KnobKind::Float { min, max, log: false }, min, max)
}

pub const SHARE: Span = linear(0.0, 1.0);

/// Returns the span of a whole number that is shown on a logarithmic scale.
pub const fn count(min: f64, max: f64) -> Span {
    Span::new(KnobKind::Int { min, max, log: true }, min, max)
}

pub const fn whole(min: f64, max: f64) -> Span {
    Span::new(KnobKind::Int { min, max, log: false }, min, max)
}

pub const SWITCH: Span = Span::new(KnobKind::Bool, 0.0, 1.0);

pub const fn one_of<C: Choice>() -> Span {
    Span::new(KnobKind::Choice { options: C::OPTIONS }, 0.0, 0.0)
}

/// Returns the span of a text of at most `most` bytes.
pub const fn text(most: u32) -> Span {
    Span::new(KnobKind::Text { most }, 0.0, 0.0)
}

/// Error for a value that a setting cannot have.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{name} = {value} {}; choose {expected}", if *.wrong_kind { "has the wrong type" } else { "is out of range" })]
pub struct SettingError {
    pub name: &'static str,
    pub value: String,
    /// Description of the allowed values, such as `a number from 0 to 1`.
    pub expected: String,
    /// True if the value has the wrong type, and for every error of a choice or a text.
    pub wrong_kind: bool,
}

impl KnobKind {
    /// Returns an error with the expected values if `value` has the wrong type or is out of range.
    pub fn check(self, name: &'static str, value: &Value) -> Result<(), SettingError> {
        let between = |min: f64, max: f64, whole: bool| match *value {
            Value::Number(x) => x >= min && x <= max && (!whole || x.fract() == 0.0),
            Value::Text(_) => false,
        };
        let (fits, is_kind, expected) = match (self, value) {
            (KnobKind::Float { min, max, .. }, _) => (between(min, max, false), value.is_number(), format!("a number from {min} to {max}")),
            (KnobKind::Int { min, max, .. }, _) => {
                (between(min, max, true), value.is_number(), format!("a whole number from {min} to {max}"))
            }
            (KnobKind::Bool, _) => (between(0.0, 1.0, true), value.is_number(), "a whole number from 0 to 1".into()),
            (KnobKind::Choice { options }, _) => {
                let names: Vec<&str> = options.iter().map(|option| option.name).collect();
                let fits = matches!(value, Value::Text(text) if names.contains(&text.as_str()));
                (fits, false, format!("one of: {}", names.join(", ")))
            }
            (KnobKind::Text { most }, _) => {
                let fits = matches!(value, Value::Text(text) if text.len() <= most as usize);
                (fits, false, format!("a text of {most} bytes at most"))
            }
        };
        if fits {
            return Ok(());
        }
        Err(SettingError { name, value: value.to_string(), expected, wrong_kind: !is_kind })
    }

    /// Parses a value from a link or a command line.
    pub fn parse(self, name: &'static str, text: &str) -> Result<Value, SettingError> {
        let value = match self {
            KnobKind::Choice { .. } | KnobKind::Text { .. } => Value::Text(text.into()),
            KnobKind::Bool if text == "on" || text == "true" => Value::Number(1.0),
            KnobKind::Bool if text == "off" || text == "false" => Value::Number(0.0),
            _ => decimal(text).map_or_else(|| Value::Text(text.into()), Value::Number),
        };
        self.check(name, &value)?;
        Ok(value)
    }
}

/// Returns an error if `value` is not from `min` to `max`. Learners use this function for bounds that the setting's declaration does not
/// contain.
pub(crate) fn between(name: &'static str, value: usize, min: usize, max: usize) -> Result<(), SettingError> {
    whole(min as f64, max as f64).kind.check(name, &Value::Number(value as f64))
}

/// Returns an error if `value` is not a multiple of `of`.
pub(crate) fn multiple(name: &'static str, value: usize, of: usize) -> Result<(), SettingError> {
    if value.is_multiple_of(of) {
        return Ok(());
    }
    let below = value / of * of;
    let expected = format!("multiples of {of}, such as {} or {}", below.max(of), below + of);
    Err(SettingError { name, value: value.to_string(), expected, wrong_kind: false })
}

impl Value {
    fn is_number(&self) -> bool {
        matches!(self, Value::Number(_))
    }

    /// Returns the number. Panics if the value is a text. [`KnobKind::check`] rejects a text as the value of a numeric setting.
    pub fn number(&self) -> f64 {
        match self {
            Value::Number(number) => *number,
            Value::Text(_) => unreachable!("checked against the setting's kind"),
        }
    }

    /// Returns the text. Panics if the value is a number. [`KnobKind::check`] rejects a number as the value of a text or a choice.
    pub fn text(&self) -> &str {
        match self {
            Value::Text(text) => text,
            Value::Number(_) => unreachable!("checked against the setting's kind"),
        }
    }
}

impl From<f64> for Value {
    fn from(number: f64) -> Value {
        Value::Number(number)
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Value {
        Value::Text(text.into())
    }
}

impl std::fmt::Display for Value {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        match self {
            Value::Number(number) => number.fmt(f),
            Value::Text(text) => text.fmt(f),
        }
    }
}

/// Type that a field of a settings struct can have.
pub trait Field {
    fn get(&self) -> Value;
    /// Sets the field. [`KnobKind::check`] must have accepted the value.
    fn set(&mut self, value: &Value);
}

macro_rules! whole_fields {
    ($($type:ty)*) => {
        $(impl Field for $type {
            fn get(&self) -> Value {
                Value::Number(*self as f64)
            }

            fn set(&mut self, value: &Value) {
                *self = value.number() as $type;
            }
        })*
    };
}

whole_fields!(usize u32);

/// Time at which a component of the learning method starts, such as a number of games. The setting's value 0 means that the component never
/// starts; the field then contains `u64::MAX`.
impl Field for u64 {
    fn get(&self) -> Value {
        Value::Number(if *self == u64::MAX { 0.0 } else { *self as f64 })
    }

    fn set(&mut self, value: &Value) {
        *self = if value.number() == 0.0 { u64::MAX } else { value.number() as u64 };
    }
}

impl Field for f32 {
    /// Returns the shortest decimal number that rounds to the field's f32: 0.003, not 0.003000000026.
    fn get(&self) -> Value {
        Value::Number(decimal(&self.to_string()).unwrap_or(f64::from(*self)))
    }

    fn set(&mut self, value: &Value) {
        *self = value.number() as f32;
    }
}

impl Field for bool {
    fn get(&self) -> Value {
        Value::Number(f64::from(u8::from(*self)))
    }

    fn set(&mut self, value: &Value) {
        *self = value.number() != 0.0;
    }
}

impl Field for String {
    fn get(&self) -> Value {
        Value::Text(self.clone())
    }

    fn set(&mut self, value: &Value) {
        *self = value.text().into();
    }
}

/// Widths of layers. The setting's value is a text with the widths, separated by hyphens. If the text between two hyphens is not a number,
/// the width becomes 0, which all learners reject.
impl Field for Vec<usize> {
    fn get(&self) -> Value {
        Value::Text(self.iter().map(usize::to_string).collect::<Vec<_>>().join("-"))
    }

    fn set(&mut self, value: &Value) {
        *self = value.text().split('-').map(|units| units.parse().unwrap_or(0)).collect();
    }
}

/// Enum whose variants are the options of a setting. [`crate::choices!`] declares such enums.
pub trait Choice: Copy + PartialEq + 'static {
    const ALL: &'static [Self];
    /// Names and labels of [`Choice::ALL`], in the same order.
    const OPTIONS: &'static [Named];

    fn id(self) -> &'static str {
        let at = Self::ALL.iter().position(|value| *value == self);
        Self::OPTIONS[at.expect("one of them")].name
    }
}

impl<C: Choice> Field for C {
    fn get(&self) -> Value {
        self.id().into()
    }

    fn set(&mut self, value: &Value) {
        let at = C::OPTIONS.iter().position(|option| option.name == value.text());
        *self = C::ALL[at.expect("checked to be one of them")];
    }
}

/// Struct declared by [`crate::settings!`].
pub trait Settings: Clone {
    /// Calls `see` with each setting and its field, in declaration order. Settings whose `when` condition is false are skipped.
    fn visit(&mut self, see: &mut dyn FnMut(&'static Setting, &mut dyn Field));

    /// Returns true if a learner with the settings `self` can change to the settings `other`. All fields that are not live must be equal.
    fn can_become(&self, other: &Self) -> bool;

    fn values(&self) -> Vec<(&'static Setting, Value)> {
        let mut values = Vec::new();
        self.clone().visit(&mut |setting, field| values.push((setting, field.get())));
        values
    }

    /// Sets the setting called `name`. Returns false if there is no such setting, and an error if the value is outside the users' range.
    fn set(&mut self, name: &str, value: &Value) -> Result<bool, SettingError> {
        let mut found = Ok(false);
        self.visit(&mut |setting, field| {
            if setting.name == name {
                found = setting.span.kind.check(setting.name, value).map(|()| true);
                if found.is_ok() {
                    field.set(value);
                }
            }
        });
        found
    }

    /// Parses `text` and sets the setting called `name`. Returns false if there is no such setting.
    fn parse(&mut self, name: &str, text: &str) -> Result<bool, SettingError> {
        match self.values().iter().find(|(setting, _)| setting.name == name) {
            Some((setting, _)) => self.set(name, &setting.span.kind.parse(setting.name, text)?),
            None => Ok(false),
        }
    }

    /// Returns an error for the first setting whose value is outside the range that learners accept ([`Span::bounds`]).
    fn in_range(&self) -> Result<(), SettingError> {
        self.values().iter().try_for_each(|(setting, value)| setting.span.bounds().check(setting.name, value))
    }
}

/// Reason why a learner rejects a changed setting.
pub type Refusal = Box<dyn std::error::Error + Send + Sync>;

/// Returns a copy of `settings` in which the setting called `name` has the value `value`.
pub fn changed<S: Settings>(settings: &S, name: &str, value: &Value) -> Result<S, Refusal> {
    let mut changed = settings.clone();
    match changed.set(name, value)? {
        true => Ok(changed),
        false => Err(format!("there is no setting called {name}").into()),
    }
}

/// Implements the methods of [`crate::Learner`] that read, check and change settings. The arguments are the field that holds the settings,
/// the method that accepts new settings, and the function that checks settings.
#[macro_export]
macro_rules! learner_settings {
    ($field:ident, $take:ident, $check:expr) => {
        fn settings(&self) -> Vec<(&'static $crate::settings::Setting, $crate::settings::Value)> {
            $crate::settings::Settings::values(&self.$field)
        }

        fn may_change(&self, name: &str, value: &$crate::settings::Value) -> Result<(), $crate::settings::Refusal> {
            $check(&$crate::settings::changed(&self.$field, name, value)?)?;
            Ok(())
        }

        fn change(&mut self, name: &str, value: &$crate::settings::Value) -> Result<(), $crate::settings::Refusal> {
            Ok(self.$take($crate::settings::changed(&self.$field, name, value)?)?)
        }
    };
}

/// Declares a struct of settings. A field is `live` (may change during training), `fixed`, or a `nest` of further settings. Either all
/// fields of the struct or none have a default value.
///
/// A description follows the type and the default value: `[as "name", values, "Label", "unit", "Help.", when |of| ...]`. `values` is a
/// `Span`. Without `as`, the setting has the field's name. With `when`, the setting exists only if the condition on the struct `of` holds.
/// A field may have several descriptions with different conditions. Users cannot set a field without a description.
#[macro_export]
macro_rules! settings {
    (
        $(#[$attribute:meta])*
        $vis:vis struct $name:ident {
            $($(#[$about:meta])* $mark:ident $field:ident: $type:ty $(= $default:expr)? $(, [$($setting:tt)*])*;)*
        }
    ) => {
        $(#[$attribute])*
        #[derive(Clone, Debug, PartialEq)]
        $vis struct $name {
            $($(#[$about])* pub $field: $type,)*
        }

        $crate::settings!(@default $name { $($field = $($default)?;)* });

        impl $crate::settings::Settings for $name {
            fn visit(
                &mut self,
                see: &mut dyn FnMut(&'static $crate::settings::Setting, &mut dyn $crate::settings::Field),
            ) {
                $($crate::settings!(@visit $mark self, $field, see $([$($setting)*])*);)*
            }

            fn can_become(&self, other: &Self) -> bool {
                $($crate::settings!(@can_continue $mark self.$field, other.$field) &&)* true
            }
        }
    };
    (@default $name:ident { $($field:ident = $default:expr;)* }) => {
        impl Default for $name {
            fn default() -> Self {
                Self { $($field: $default),* }
            }
        }
    };
    (@default $name:ident { $($other:tt)* }) => {};
    (@can_continue live $here:expr, $there:expr) => {{
        let _ = (&$here, &$there);
        true
    }};
    (@can_continue fixed $here:expr, $there:expr) => { $here == $there };
    (@can_continue nest $here:expr, $there:expr) => { $crate::settings::Settings::can_become(&$here, &$there) };
    (@visit nest $self:ident, $field:ident, $see:ident) => {
        $crate::settings::Settings::visit(&mut $self.$field, $see)
    };
    (@visit $mark:ident $self:ident, $field:ident, $see:ident $([$($setting:tt)*])*) => {
        $($crate::settings!(@named $mark $self, $field, $see, $($setting)*);)*
    };
    (@named $mark:ident $self:ident, $field:ident, $see:ident, as $name:literal, $($rest:tt)*) => {
        $crate::settings!(@see $mark $self, $field, $see, $name, $($rest)*)
    };
    (@named $mark:ident $self:ident, $field:ident, $see:ident, $($rest:tt)*) => {
        $crate::settings!(@see $mark $self, $field, $see, stringify!($field), $($rest)*)
    };
    (
        @see $mark:ident $self:ident, $field:ident, $see:ident, $name:expr,
        $span:expr, $label:literal, $unit:literal, $help:expr $(, when $when:expr)?
    ) => {{
        static SETTING: $crate::settings::Setting = $crate::settings::Setting {
            name: $name,
            label: $label,
            span: $span,
            unit: $unit,
            help: $help,
            live: $crate::settings!(@live $mark),
        };
        let has_it: fn(&Self) -> bool = $crate::settings!(@when $($when)?);
        if has_it($self) {
            $see(&SETTING, &mut $self.$field);
        }
    }};
    (@live live) => { true };
    (@live fixed) => { false };
    (@when) => { |_| true };
    (@when $when:expr) => { $when };
}

/// Declares an enum that implements [`crate::settings::Choice`]. Each variant has a name and a label. The form `impl` implements the trait
/// for an enum that is declared elsewhere.
#[macro_export]
macro_rules! choices {
    (
        $(#[$attribute:meta])*
        $vis:vis enum $type:ident {
            $($(#[$about:meta])* $variant:ident = $name:literal, $label:literal;)*
        }
    ) => {
        $(#[$attribute])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        $vis enum $type {
            $($(#[$about])* $variant,)*
        }

        $crate::choices!(impl $type { $($variant = $name, $label;)* });
    };
    (impl $type:ident { $($variant:ident = $name:literal, $label:literal;)* }) => {
        impl $crate::settings::Choice for $type {
            const ALL: &'static [$type] = &[$($type::$variant),*];
            const OPTIONS: &'static [$crate::settings::Named] =
                &[$($crate::settings::Named { name: $name, label: $label }),*];
        }
    };
}
