//! The trait of all tiles, and the clock of a picture.

pub trait Tile {
    /// Runs one slice of the training, or of a test that measures the agent.
    fn advance(&mut self);

    /// Returns the number of finished iterations.
    fn iterations(&self) -> u64;

    /// Returns the latest measurement of the agent; `None` before the first.
    fn score(&self) -> Option<f64>;

    /// Shows the agent for `seconds` more, and returns the numbers of the picture. The page draws them (`www/start`).
    fn picture(&mut self, seconds: f64) -> Vec<f32>;

    /// Returns the weights after the latest iteration.
    fn weights(&self) -> &[f32];
}

/// Time that a picture shows at once. A longer time, for example after a pause, is cut.
const MAX_GAP_S: f64 = 0.1;

/// Clock of a picture that changes in steps.
#[derive(Default)]
pub(crate) struct Pace {
    owed_s: f64,
}

impl Pace {
    /// Adds the time that has passed.
    pub fn add(&mut self, seconds: f64) {
        self.owed_s += seconds.clamp(0.0, MAX_GAP_S);
    }

    /// Returns true if a step of `seconds` is due, and takes its time.
    pub fn takes(&mut self, seconds: f64) -> bool {
        let due = self.owed_s >= seconds;
        self.owed_s -= if due { seconds } else { 0.0 };
        due
    }
}
