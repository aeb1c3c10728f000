//! What a measurement comes to.

/// One measured number. Names are stable: scripts read them.
#[derive(Clone, Debug)]
pub struct Figure {
    pub name: String,
    pub value: f64,
    pub unit: String,
}

pub type Sink<'a> = &'a mut dyn FnMut(Figure);

pub fn give(sink: Sink, name: impl Into<String>, value: f64, unit: impl Into<String>) {
    sink(Figure { name: name.into(), value, unit: unit.into() });
}

pub fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
