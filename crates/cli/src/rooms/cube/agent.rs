//! Agents of the cube, and how they search.

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

/// How solutions are looked for; what is left out is as the agent does best.
#[derive(Clone, Debug, clap::Args)]
pub struct MethodArgs {
    /// How to look for solutions: greedy, beam, astar, or exact (by the table of all distances, which the 2x2x2 has)
    #[arg(long, value_parser = search, value_name = "METHOD")]
    pub method: Option<SearchKind>,
    /// States that a beam keeps of a level (one that fails is followed by one twice as wide, until --nodes), or that A* expands at
    /// once [default: 256 for the 2x2x2, 4096 or more for the 3x3x3]
    #[arg(long, value_parser = up_to_a_million, allow_negative_numbers = true, value_name = "N")]
    width: Option<u32>,
    /// Of moves made beside moves to go, in A*
    #[arg(long, value_parser = weight, allow_negative_numbers = true, value_name = "W")]
    weight: Option<f32>,
    /// States generated at most
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
        let usual = puzzle.method;
        SolveMethod {
            search: self.method.unwrap_or(usual.search),
            width: self.width.unwrap_or(usual.width),
            weight: self.weight.unwrap_or(usual.weight),
            nodes: self.nodes.unwrap_or(usual.nodes),
        }
    }
}

pub fn puzzle(run: &Run<Cube>) -> Result<Puzzle> {
    serde_json::from_value(run.variant().about.clone()).context("the room tells of its variant what it can read")
}

/// The run of a checkpoint.
pub fn restored(file: &Path, host: Host) -> Result<Run<Cube>> {
    let bytes = files::read_checkpoint(file)?;
    let cannot = || format!("cannot use {}", file.display());
    match run::room_of(&bytes).with_context(cannot)?.as_str() {
        "cube" => Run::restore(&bytes, host).with_context(cannot),
        other => Err(Usage(format!(
            "{} is of the room '{other}', which solves no cube. Name a checkpoint of `hothouse train cube`",
            file.display()
        ))
        .into()),
    }
}

/// What counts as one move: `qtm` or `htm`.
pub fn metric(run: &mut Run<Cube>) -> String {
    run.room().values()["metric"].to_string()
}

/// Begins a search.
pub fn solve(run: &mut Run<Cube>, facelets: &str, method: SolveMethod) -> Result<SolveView, RunError> {
    ask(run, json!({ "ask": "solve", "facelets": facelets, "method": method }))
}

/// A search by a run that is paused, to its end; none where a person stopped it first.
pub fn searched(run: &mut Run<Cube>, facelets: &str, method: SolveMethod, signals: &Signals) -> Result<Option<SolveView>, RunError> {
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

/// `2x2x2`
pub fn named(size: u32) -> String {
    format!("{size}x{size}x{size}")
}

/// What is the matter, and the step that helps.
pub fn told(error: &RunError) -> (String, String) {
    let (what, next) = (error.what(), error.next_step());
    // Layers below write both in one, with a semicolon between.
    match what.split_once("; ") {
        Some((what, next)) if error.next_step().is_empty() => (what.into(), next.into()),
        _ => (what, next),
    }
}
