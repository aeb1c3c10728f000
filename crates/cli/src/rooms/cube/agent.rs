//! Cube agents and their search options.

use crate::args::values::{count, number, up_to_a_million};
use crate::error::Usage;
use crate::shell::ask;
use crate::signals::Signals;
use anyhow::{Context, Result};
use run::cube::Cube;
use run::cube::protocol::{Puzzle, RoomEvent, SearchKind, SolveMethod, SolveView};
use run::protocol::Event;
use run::room::Room;
use run::{AnyRun, Host, Run, RunError};
use serde_json::json;
use std::path::Path;

/// Search options. The variant of the run defines their defaults.
#[derive(Clone, Debug, clap::Args)]
pub struct MethodArgs {
    /// Search method: greedy, beam, astar, or exact (by the table of all distances, 2x2x2 only)
    #[arg(long, value_parser = search, value_name = "METHOD")]
    pub method: Option<SearchKind>,
    /// States per level of a beam, or per expansion of A*. A beam that fails is repeated with twice the width, up to --nodes [default: 256
    /// for the 2x2x2, 4096 or more for the 3x3x3]
    #[arg(long, value_parser = up_to_a_million, allow_negative_numbers = true, value_name = "N")]
    width: Option<u32>,
    /// Weight of the moves made so far, for A*. The estimated number of remaining moves has weight 1
    #[arg(long, value_parser = weight, allow_negative_numbers = true, value_name = "W")]
    weight: Option<f32>,
    /// Maximum number of generated states
    #[arg(long, value_parser = nodes, allow_negative_numbers = true, value_name = "N")]
    nodes: Option<u32>,
}

fn search(text: &str) -> Result<SearchKind, String> {
    match text {
        "greedy" => Ok(SearchKind::Greedy),
        "beam" => Ok(SearchKind::Beam),
        "astar" => Ok(SearchKind::AStar),
        "exact" => Ok(SearchKind::Exact),
        _ => Err("choose greedy, beam, astar or exact".into()),
    }
}

fn weight(text: &str) -> Result<f32, String> {
    match number(text)? {
        weight if (0.0..=1000.0).contains(&weight) => Ok(weight as f32),
        _ => Err("write a number from 0 to 1000, as in 0.6".into()),
    }
}

fn nodes(text: &str) -> Result<u32, String> {
    u32::try_from(count(text)?).map_err(|_| "choose 4 billion or fewer".into())
}

impl MethodArgs {
    pub fn of(&self, puzzle: &Puzzle) -> SolveMethod {
        let default = puzzle.method;
        SolveMethod {
            search: self.method.unwrap_or(default.search),
            width: self.width.unwrap_or(default.width),
            weight: self.weight.unwrap_or(default.weight),
            nodes: self.nodes.unwrap_or(default.nodes),
        }
    }
}

pub fn puzzle(run: &Run<Cube>) -> Result<Puzzle> {
    serde_json::from_value(run.variant().about.clone()).context("a cube variant describes its puzzle")
}

/// Restores a cube run from a checkpoint.
pub fn restored(file: &Path, host: Host) -> Result<Run<Cube>> {
    let bytes = files::read_checkpoint(file)?;
    let cannot = || format!("cannot use {}", file.display());
    match run::origin(&bytes).with_context(cannot)?.room.as_str() {
        "cube" => Run::restore(&bytes, host).with_context(cannot),
        other => {
            Err(Usage(format!("{} belongs to room '{other}', not 'cube'. Name a checkpoint of `hothouse train cube`", file.display()))
                .into())
        }
    }
}

/// Returns the move metric of a run: `qtm` (a half turn counts as two moves) or `htm` (a half turn counts as one).
pub fn metric(run: &mut Run<Cube>) -> String {
    run.room().values()["metric"].to_string()
}

pub fn solve(run: &mut Run<Cube>, facelets: &str, method: SolveMethod) -> Result<SolveView, RunError> {
    ask(run, json!({ "ask": "solve", "facelets": facelets, "method": method }))
}

/// Runs a search to its end, without training. Returns `None` if the user stops the search.
pub fn search_to_end(run: &mut Run<Cube>, facelets: &str, method: SolveMethod, signals: &Signals) -> Result<Option<SolveView>, RunError> {
    let mut view = solve(run, facelets, method)?;
    while !view.done {
        if signals.stopping() {
            return Ok(None);
        }
        run.advance(0.0);
        for event in run.events() {
            let Event::Room { event, .. } = event else { continue };
            let RoomEvent::Search(now) = serde_json::from_value(event).expect("the room's own event");
            view = now;
        }
    }
    Ok(Some(view))
}

/// Returns the name of a cube of this size, such as `2x2x2`.
pub fn cube_name(size: u32) -> String {
    format!("{size}x{size}x{size}")
}

/// Splits the text of an error into the problem and the remedy.
pub fn problem_and_remedy(error: &RunError) -> (String, String) {
    let (problem, remedy) = (error.what(), error.next_step());
    // The error of a lower layer is one text, in which a semicolon separates the problem from the remedy.
    match problem.split_once("; ") {
        Some((problem, remedy)) if error.next_step().is_empty() => (problem.into(), remedy.into()),
        _ => (problem, remedy),
    }
}
