//! What a room's numbers are called, and how what is told by name becomes a row of them.

use crate::protocol::{Column, DataInfo, Goal, Part, Rate, RoomInfo, Variant};
use learn::ByName;

/// A room's numbers and words, declared once.
#[derive(Debug)]
pub struct Schema {
    pub id: &'static str,
    pub title: &'static str,
    pub variant_word: &'static str,
    pub iteration_word: &'static str,
    /// The first is the budget's unit.
    pub counters: &'static [Column],
    pub metrics: &'static [Column],
    pub tests: &'static [Column],
    /// What the learner measures of its own time; `tests` and `rest` are the run's ([`COMMON_PARTS`]).
    pub parts: &'static [Part],
}

/// Time between two slices of a learner, which every room has.
pub const COMMON_PARTS: [Part; 2] = [
    Part { name: "tests", label: "Tests", help: "Testing what was learned, which trains nothing." },
    Part { name: "rest", label: "Rest", help: "Between two slices: showing, answering, saving." },
];

impl Schema {
    /// All parts of an iteration's time, in the order in which their shares follow a row's metrics.
    pub fn all_parts(&self) -> impl Iterator<Item = &Part> {
        self.parts.iter().chain(&COMMON_PARTS)
    }

    /// Where a column of the metrics stands in a row.
    pub fn metric(&self, name: &str) -> Option<usize> {
        self.metrics.iter().position(|column| column.name == name)
    }

    pub fn test(&self, name: &str) -> Option<usize> {
        self.tests.iter().position(|column| column.name == name)
    }

    pub fn counter(&self, name: &str) -> Option<usize> {
        self.counters.iter().position(|column| column.name == name)
    }

    /// Numbers in a row of metrics.
    pub fn row_len(&self) -> usize {
        self.metrics.len() + self.parts.len() + COMMON_PARTS.len()
    }

    /// What a learner counts, in the order of the counters.
    ///
    /// # Panics
    /// Where it counts others.
    pub fn counts(&self, told: &ByName<f64>) -> Vec<f64> {
        let counts = in_order(self.id, self.counters.iter().map(|column| column.name), told);
        counts.into_iter().map(|count| count.expect("a learner tells every counter")).collect()
    }

    /// What a test found, in the order of its columns; nothing where one was not tested.
    ///
    /// # Panics
    /// Where there is no such column.
    pub fn test_row(&self, told: &ByName<Option<f64>>) -> Vec<Option<f64>> {
        let values = in_order(self.id, self.tests.iter().map(|column| column.name), told);
        values.into_iter().map(Option::flatten).collect()
    }

    pub(crate) fn info(&self, variants: Vec<Variant>, data: Option<DataInfo>) -> RoomInfo {
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
        }
    }
}

/// What is told by name, in the order of these names; nothing where one is not told.
///
/// # Panics
/// Where another is told, or one twice: the room `id` and its learner disagree.
pub(crate) fn in_order<T: Copy>(id: &str, names: impl Iterator<Item = &'static str>, told: &ByName<T>) -> Vec<Option<T>> {
    let find = |name| told.iter().find(|(known, _)| *known == name).map(|&(_, value)| value);
    let ordered: Vec<Option<T>> = names.map(find).collect();
    let found = ordered.iter().flatten().count();
    let names = told.iter().map(|(name, _)| *name).collect::<Vec<_>>();
    assert_eq!(found, told.len(), "{id} has no columns for some of {names:?}");
    ordered
}

/// A table of columns: `name: "label", "help", unit("points"), chart("return");`.
macro_rules! columns {
    ($($name:ident: $label:literal, $help:literal $(, $part:ident $(($($value:expr),*))?)*;)*) => {
        &[$($crate::protocol::Column::new(stringify!($name), $label, $help)$(.$part($($($value),*)?))*),*]
    };
}
pub(crate) use columns;

impl Column {
    pub const fn new(name: &'static str, label: &'static str, help: &'static str) -> Column {
        Column { name, label, unit: "", help, chart: "", log: false, share: false, brief: "", spread: &[], rate: None }
    }

    pub const fn unit(self, unit: &'static str) -> Column {
        Column { unit, ..self }
    }

    /// Drawn in the chart of this name.
    pub const fn chart(self, chart: &'static str) -> Column {
        Column { chart, ..self }
    }

    pub const fn log(self) -> Column {
        Column { log: true, ..self }
    }

    pub const fn share(self) -> Column {
        Column { share: true, ..self }
    }

    /// In a line of the terminal, under this name.
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

/// What a test came to in the goal's column, what it has to reach, and whether it does.
pub(crate) fn goal_of(schema: &Schema, goal: Option<Goal>, values: &[Option<f64>]) -> Option<(Option<f64>, f64, bool)> {
    let Goal { column, at } = goal?;
    let value = values.get(schema.test(column)?).copied().flatten();
    Some((value, at, value.is_some_and(|value| value >= at)))
}
