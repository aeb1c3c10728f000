//! Names of the numbers that a room reports, and conversion of named values to rows.

use crate::protocol::{Column, DataInfo, Goal, Rate, RoomInfo, TimePart, Variant};
use learn::ByName;

/// Columns of a room, and the room's names and words for display.
#[derive(Debug)]
pub struct Schema {
    pub id: &'static str,
    pub title: &'static str,
    pub variant_word: &'static str,
    pub iteration_word: &'static str,
    /// Counters of the room. Budgets are values of the first counter.
    pub counters: &'static [Column],
    pub metrics: &'static [Column],
    pub tests: &'static [Column],
    /// Parts of an iteration's time that the learner measures. The run adds `tests` and `rest` ([`COMMON_PARTS`]).
    pub parts: &'static [TimePart],
}

/// Parts of an iteration's time in which the learner does not work. All rooms have these parts.
pub const COMMON_PARTS: [TimePart; 2] = [
    TimePart { name: "tests", label: "Tests", help: "Testing the current weights." },
    TimePart { name: "rest", label: "Rest", help: "Between two slices: display, questions, saving." },
];

impl Schema {
    /// Returns all parts of an iteration's time. A metrics row ends with the shares of these parts, in this order.
    pub fn all_parts(&self) -> impl Iterator<Item = &TimePart> {
        self.parts.iter().chain(&COMMON_PARTS)
    }

    /// Returns the index of a metrics column in a row; `None` if there is no such column.
    pub fn metric(&self, name: &str) -> Option<usize> {
        self.metrics.iter().position(|column| column.name == name)
    }

    pub fn test(&self, name: &str) -> Option<usize> {
        self.tests.iter().position(|column| column.name == name)
    }

    pub fn counter(&self, name: &str) -> Option<usize> {
        self.counters.iter().position(|column| column.name == name)
    }

    /// Returns the number of values in a metrics row: one for each metric, and one for each part of an iteration's time.
    pub fn row_len(&self) -> usize {
        self.metrics.len() + self.parts.len() + COMMON_PARTS.len()
    }

    /// Returns the values of a learner's counters in the order of the schema.
    ///
    /// # Panics
    /// If the learner's counters are not exactly those of the schema.
    pub fn counts(&self, reported: &ByName<f64>) -> Vec<f64> {
        let counts = in_order(self.id, self.counters.iter().map(|column| column.name), reported);
        counts.into_iter().map(|count| count.expect("a learner reports every counter")).collect()
    }

    /// Returns a test's values in the order of the test columns. A column without a value gives `None`.
    ///
    /// # Panics
    /// If a value has no column.
    pub fn test_row(&self, reported: &ByName<Option<f64>>) -> Vec<Option<f64>> {
        let values = in_order(self.id, self.tests.iter().map(|column| column.name), reported);
        values.into_iter().map(Option::flatten).collect()
    }

    pub(crate) fn info(&self, variants: Vec<Variant>, data: Option<DataInfo>, data_variant: Option<&'static str>) -> RoomInfo {
        RoomInfo {
            id: self.id,
            title: self.title,
            variant_word: self.variant_word,
            iteration_word: self.iteration_word,
            counters: self.counters.to_vec(),
            metrics: self.metrics.to_vec(),
            tests: self.tests.to_vec(),
            parts: self.all_parts().copied().collect(),
            variants,
            data,
            data_variant,
        }
    }
}

/// Returns the values in the order of `names`. A name without a value gives `None`.
///
/// # Panics
/// If a value's name is not in `names` or appears twice. In both cases, the room `id` and its learner disagree.
pub(crate) fn in_order<T: Copy>(id: &str, names: impl Iterator<Item = &'static str>, reported: &ByName<T>) -> Vec<Option<T>> {
    let find = |name| reported.iter().find(|(known, _)| *known == name).map(|&(_, value)| value);
    let ordered: Vec<Option<T>> = names.map(find).collect();
    let found = ordered.iter().flatten().count();
    let names = reported.iter().map(|(name, _)| *name).collect::<Vec<_>>();
    assert_eq!(found, reported.len(), "{id} has no columns for some of {names:?}");
    ordered
}

/// Declares a table of columns. Each column has the form `name: "label", "help", unit("points"), chart("return");`.
macro_rules! columns {
    ($($name:ident: $label:literal, $help:literal $(, $part:ident $(($($value:expr),*))?)*;)*) => {
        &[$($crate::protocol::Column::new(stringify!($name), $label, $help)$(.$part($($($value),*)?))*),*]
    };
}
pub(crate) use columns;

impl Column {
    pub const fn new(name: &'static str, label: &'static str, help: &'static str) -> Column {
        Column { name, label, unit: "", help, chart: "", log: false, share: false, lead: "", brief: "", spread: &[], rate: None }
    }

    pub const fn unit(self, unit: &'static str) -> Column {
        Column { unit, ..self }
    }

    /// Shows the column in the chart with this name.
    pub const fn chart(self, chart: &'static str) -> Column {
        Column { chart, ..self }
    }

    pub const fn log(self) -> Column {
        Column { log: true, ..self }
    }

    pub const fn share(self) -> Column {
        Column { share: true, ..self }
    }

    /// Names the column where it leads a headline; see [`Column::lead`].
    pub const fn lead(self, lead: &'static str) -> Column {
        Column { lead, ..self }
    }

    /// Shows the column in the terminal's status line under this name.
    pub const fn brief(self, brief: &'static str) -> Column {
        Column { brief, ..self }
    }

    pub const fn spread(self, spread: &'static [&'static str]) -> Column {
        Column { spread, ..self }
    }

    pub const fn rate(self, counter: &'static str, seconds: f64) -> Column {
        Column { rate: Some(Rate { counter, seconds }), ..self }
    }
}

/// Returns a test's value in the goal's column, the value that the goal requires, and true if the test reaches the goal; `None` without a
/// goal.
pub(crate) fn goal_of(schema: &Schema, goal: Option<Goal>, values: &[Option<f64>]) -> Option<(Option<f64>, f64, bool)> {
    let Goal { column, at } = goal?;
    let value = values.get(schema.test(column)?).copied().flatten();
    Some((value, at, value.is_some_and(|value| value >= at)))
}
