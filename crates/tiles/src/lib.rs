//! The small runs of the start page. A tile is the run of a room that a link starts: it has the link's settings and seed. It trains in
//! slices on one thread, measures its agent with one number, and shows the agent at work. The learners are those of the rooms, so the room
//! that the link opens repeats the tile's run from its beginning.

mod backgammon;
#[cfg(target_arch = "wasm32")]
mod binding;
mod control;
mod cube;
mod link;
mod logic;
mod words;

pub use link::{LINKS, Link};

use std::error::Error;

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

/// Begins the run of a link.
pub fn begin(link: &str) -> Result<Box<dyn Tile>, Box<dyn Error>> {
    let link = Link::read(link)?;
    Ok(match link.room {
        "control" => Box::new(control::Poles::new(&link)?),
        "backgammon" => Box::new(backgammon::Game::new(&link)?),
        "cube" => Box::new(cube::Cubes::new(&link)?),
        "logic" => Box::new(logic::Cells::new(&link)?),
        "words" => Box::new(words::Writer::new(&link)?),
        other => return Err(format!("no tile shows the room {other}").into()),
    })
}

/// Time that a picture shows at once. A longer time, for example after a pause, is cut.
const MAX_GAP_S: f64 = 0.1;

/// Clock of a picture that changes in steps.
#[derive(Default)]
struct Pace {
    owed_s: f64,
}

impl Pace {
    /// Adds the time that has passed.
    fn add(&mut self, seconds: f64) {
        self.owed_s += seconds.clamp(0.0, MAX_GAP_S);
    }

    /// Returns true if a step of `seconds` is due, and takes its time.
    fn takes(&mut self, seconds: f64) -> bool {
        let due = self.owed_s >= seconds;
        self.owed_s -= if due { seconds } else { 0.0 };
        due
    }
}
