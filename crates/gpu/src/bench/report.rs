//! What a measurement comes to.

/// Takes one measured number: its name, which is stable, value and unit.
pub type Sink<'a> = &'a mut dyn FnMut(String, f64, String);

pub fn give(sink: Sink, name: impl Into<String>, value: f64, unit: impl Into<String>) {
    sink(name.into(), value, unit.into());
}

pub fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
