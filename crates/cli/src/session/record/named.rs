//! JSON format of a record. Every field has a name. Counters, row values and time shares have the names of the room's columns and
//! parts, so a line can be understood without the schema. One declaration per type defines both writing and reading.

use super::summary::{Ended, EndedBy, Parts, Summary};
use run::protocol::{Began, Config, Confirmation, Knobs, Mark, Progress, Row, RunState, Standing, Value as KnobValue};
use run::room::Schema;
use serde::ser::{SerializeMap, Serializer};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Names of a room's columns, and of the parts of an iteration whose time is measured.
#[derive(Clone, Copy)]
pub struct Names<'a> {
    schema: &'a Schema,
    /// True for the columns of tests, false for the columns of metrics. Only metrics have time shares.
    test: bool,
}

impl<'a> Names<'a> {
    pub fn of(schema: &'a Schema) -> Names<'a> {
        Names { schema, test: false }
    }

    pub fn tests(self) -> Self {
        Names { test: true, ..self }
    }

    fn columns(self) -> impl Iterator<Item = &'static str> {
        let columns = if self.test { self.schema.tests } else { self.schema.metrics };
        columns.iter().map(|column| column.name)
    }

    fn parts(self) -> impl Iterator<Item = &'a str> {
        self.schema.all_parts().map(|part| part.name)
    }
}

pub trait Named: Sized {
    fn put<S: Serializer>(&self, names: Names, out: S) -> Result<S::Ok, S::Error>;
    fn read(value: &Value, names: Names) -> Option<Self>;
}

/// A serializable value (first field) with the names of its columns (second field).
pub struct By<'a, T>(pub &'a T, pub Names<'a>);

impl<T: Named> Serialize for By<'_, T> {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        self.0.put(self.1, out)
    }
}

macro_rules! plain {
    ($($type:ty)*) => {
        $(impl Named for $type {
            fn put<S: Serializer>(&self, _: Names, out: S) -> Result<S::Ok, S::Error> {
                self.serialize(out)
            }

            fn read(value: &Value, _: Names) -> Option<Self> {
                Self::deserialize(value).ok()
            }
        })*
    };
}

plain!(bool u32 f64 String Config EndedBy Knobs KnobValue RunState Value);

impl<T: Named> Named for Option<T> {
    fn put<S: Serializer>(&self, names: Names, out: S) -> Result<S::Ok, S::Error> {
        self.as_ref().map(|value| By(value, names)).serialize(out)
    }

    fn read(value: &Value, names: Names) -> Option<Self> {
        if value.is_null() { Some(None) } else { T::read(value, names).map(Some) }
    }
}

impl<T: Named> Named for Vec<T> {
    fn put<S: Serializer>(&self, names: Names, out: S) -> Result<S::Ok, S::Error> {
        out.collect_seq(self.iter().map(|item| By(item, names)))
    }

    fn read(value: &Value, names: Names) -> Option<Self> {
        value.as_array()?.iter().map(|item| T::read(item, names)).collect()
    }
}

/// A type whose fields can be written into the same map as the fields of another type.
pub trait Fields: Sized {
    fn put_fields<M: SerializeMap>(&self, names: Names, map: &mut M) -> Result<(), M::Error>;
    fn read_fields(value: &Value, names: Names) -> Option<Self>;
}

impl<T: Fields> Named for T {
    fn put<S: Serializer>(&self, names: Names, out: S) -> Result<S::Ok, S::Error> {
        let mut map = out.serialize_map(None)?;
        self.put_fields(names, &mut map)?;
        map.end()
    }

    fn read(value: &Value, names: Names) -> Option<Self> {
        T::read_fields(value, names)
    }
}

/// Declares the fields of a type in the order of writing. `of tests` marks a field that contains rows of tests. `or` names the type of a
/// field that may be absent, because records of other versions lack the field. An absent field gets the default of its type. The name after
/// the semicolon is a field whose own fields are written into the same map.
macro_rules! fields {
    ($type:ident { $($field:ident $(of $tests:ident)? $(or $default:ident)?),* $(; $beside:ident)? }) => {
        impl Fields for $type {
            fn put_fields<M: SerializeMap>(&self, names: Names, map: &mut M) -> Result<(), M::Error> {
                $(map.serialize_entry(stringify!($field), &By(&self.$field, names$(.$tests())?))?;)*
                $(self.$beside.put_fields(names, map)?;)?
                Ok(())
            }

            fn read_fields(value: &Value, names: Names) -> Option<Self> {
                Some($type {
                    $($field: field(value, stringify!($field), names$(.$tests())?)$(.or_else(|| Some($default::default())))? ?,)*
                    $($beside: Fields::read_fields(value, names)?,)?
                })
            }
        }
    };
}

fields!(Began { config, knobs, progress, solved, attempts or u32, history, tests of tests, marks, room });
fields!(Mark { progress, knob, from, to });
fields!(Confirmation { progress, value, goal, confirmed });
fields!(Solved { progress, goal });
fields!(Standing { progress, state, since, name, value, number, words });
fields!(Summary {
    ended_by, room, variant, seed, progress, seconds, cpu_seconds, per_second, metrics, test of tests, standing or Option, solved,
    attempts or u32, parts_s;
    machine
});
fields!(Ended { link or String, digest, arithmetic, device, isa, threads, file, resume });

fn field<T: Named>(value: &Value, name: &str, names: Names) -> Option<T> {
    T::read(value.get(name)?, names)
}

fn number(value: &Value, name: &str) -> Option<f64> {
    value.get(name).and_then(Value::as_f64)
}

/// Fields of `Event::Solved`.
pub struct Solved {
    pub progress: Progress,
    pub goal: f64,
}

impl Named for Parts {
    fn put<S: Serializer>(&self, names: Names, out: S) -> Result<S::Ok, S::Error> {
        out.collect_map(names.parts().zip(&self.0))
    }

    fn read(value: &Value, names: Names) -> Option<Self> {
        Some(Parts(names.parts().map(|part| number(value, part).unwrap_or(0.0)).collect()))
    }
}

impl Fields for Progress {
    fn put_fields<M: SerializeMap>(&self, names: Names, map: &mut M) -> Result<(), M::Error> {
        map.serialize_entry("iteration", &self.iteration)?;
        for (column, &count) in names.schema.counters.iter().zip(&self.counts) {
            // A whole number is written without a decimal point.
            match count {
                whole if whole.fract() == 0.0 && whole.abs() < 9e15 => map.serialize_entry(column.name, &(whole as i64))?,
                other => map.serialize_entry(column.name, &other)?,
            }
        }
        map.serialize_entry("train_s", &self.train_s)
    }

    fn read_fields(value: &Value, names: Names) -> Option<Self> {
        let counts = names.schema.counters.iter().map(|column| number(value, column.name).unwrap_or(f64::NAN));
        let iteration = field(value, "iteration", names)?;
        Some(Progress { iteration, counts: counts.collect(), train_s: number(value, "train_s")? })
    }
}

impl Fields for Row {
    fn put_fields<M: SerializeMap>(&self, names: Names, map: &mut M) -> Result<(), M::Error> {
        /// Time share of each part, named after the part.
        struct Shares<'a>(&'a [Option<f64>], Names<'a>);
        impl Serialize for Shares<'_> {
            fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
                out.collect_map(self.1.parts().zip(self.0))
            }
        }
        map.serialize_entry("progress", &By(&self.progress, names))?;
        for (column, value) in names.columns().zip(&self.values) {
            map.serialize_entry(column, value)?;
        }
        match self.values.get(names.columns().count()..) {
            Some(shares) if !names.test => map.serialize_entry("shares", &Shares(shares, names)),
            _ => Ok(()),
        }
    }

    fn read_fields(value: &Value, names: Names) -> Option<Self> {
        let mut values: Vec<_> = names.columns().map(|column| number(value, column)).collect();
        if !names.test {
            let shares = value.get("shares");
            values.extend(names.parts().map(|part| shares.and_then(|shares| number(shares, part))));
        }
        Some(Row { progress: field(value, "progress", names)?, values })
    }
}
