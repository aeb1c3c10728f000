//! What a measurement comes to. Speeds follow the one rule of [`math::rounds`]: a row is made of rounds, of which whoever prints it gives
//! the median and the quartiles, or it is a count.

/// Takes a row: its name, which is stable, what was measured, and a unit.
pub type Sink<'a> = &'a mut dyn FnMut(String, Measured, String);

/// What a row is made of.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Measured<'a> {
    /// One speed, share or time a round.
    Rounds(&'a [f64]),
    /// What would be the same again.
    Count(f64),
}

pub fn give(sink: Sink, name: impl Into<String>, rounds: &[f64], unit: impl Into<String>) {
    sink(name.into(), Measured::Rounds(rounds), unit.into());
}

pub fn count(sink: Sink, name: impl Into<String>, count: f64, unit: impl Into<String>) {
    sink(name.into(), Measured::Count(count), unit.into());
}

/// So much work in the seconds of each round.
pub fn rates(work: f64, rounds_s: &[f64]) -> Vec<f64> {
    rounds_s.iter().map(|round_s| work / round_s).collect()
}
