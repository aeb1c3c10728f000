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
mod tile;
mod words;

pub use link::{LINKS, Link};
pub use tile::Tile;

use std::error::Error;

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
