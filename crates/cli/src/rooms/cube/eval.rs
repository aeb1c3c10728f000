//! `hothouse eval cube`: what an agent is worth: greedy play from every state of the 2x2x2, exactly, and a search on uniform
//! states, by their distance where that is known.

use super::agent::{MethodArgs, metric, puzzle, restored, searched};
use crate::args::MachineArgs;
use crate::args::values::up_to_a_million;
use crate::format::{clock, grouped};
use crate::host::Machine;
use crate::progress::ProgressLine;
use crate::shell::{VerbArgs, ask};
use crate::signals::{SIGNALS, Signals};
use anyhow::{Result, bail};
use clap::Args;
use run::cube::protocol::{Scrambled, SearchKind, SolveMethod};
use run::cube::{Cube, Greedy, Report};
use run::{AnyRun, Host, Run};
use serde::Serialize;
use serde_json::json;
use std::io::Write;
use std::path::PathBuf;
use std::time::Instant;

#[derive(Clone, Debug, Args)]
pub struct EvalArgs {
    /// A checkpoint of a run of the cube
    #[arg(value_name = "CHECKPOINT")]
    file: PathBuf,
    /// Uniform states to search solutions of [default: 1000 of the 2x2x2, 20 of the 3x3x3]
    #[arg(long, value_parser = up_to_a_million, allow_negative_numbers = true, value_name = "N")]
    states: Option<u32>,
    #[command(flatten)]
    method: MethodArgs,
    /// Seed of these states
    #[arg(long, default_value_t = 1, allow_negative_numbers = true, value_name = "N")]
    seed: u32,
    /// Print the results as JSON, one object a line
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    machine: MachineArgs,
}

/// Solved states of one distance, or of all.
#[derive(Clone, Default, Serialize)]
struct Fared {
    #[serde(skip_serializing_if = "Option::is_none")]
    distance: Option<usize>,
    states: u32,
    /// Shares.
    solved: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    optimal: Option<f64>,
    /// Moves too many, in the mean of those solved.
    #[serde(skip_serializing_if = "Option::is_none")]
    excess: Option<f64>,
    /// Moves of a solution, and milliseconds of a search, in the mean.
    #[serde(skip_serializing_if = "Option::is_none")]
    length: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ms: Option<f64>,
}

#[derive(Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum Line {
    Greedy {
        /// It may take the last move back.
        plain: Fared,
        /// It never does.
        onward: Fared,
        by_distance: Vec<Fared>,
        seconds: f64,
    },
    Search {
        method: SolveMethod,
        seed: u32,
        metric: String,
        all: Fared,
        by_distance: Vec<Fared>,
        most_ms: f64,
        nodes: f64,
        /// States of which the beam asked for found no solution, so that wider ones went on.
        widened: usize,
    },
}

impl VerbArgs for EvalArgs {
    const PATH: &'static [&'static str] = &["eval", "cube"];
    const ABOUT: &'static str =
        "Judge an agent that has learned a cube: greedy play from every state of the 2x2x2, and a search on uniform states";

    fn run(self) -> Result<()> {
        Machine::work(&self.machine, |machine| run(&self, machine.host))
    }
}

fn run(args: &EvalArgs, host: Host) -> Result<()> {
    let mut run = restored(&args.file, host)?;
    let puzzle = puzzle(&run)?;
    let mut out = crate::plain::stdout();
    if !args.json {
        let (config, states) = (run.config(), grouped(run.progress().counts[0] as u64));
        writeln!(out, "cube / {}, seed {}, after {states} states", config.variant, config.seed)?;
    }
    let method = args.method.of(&puzzle);
    let began = Instant::now();
    if let Some(report) = run.room().agent().report()? {
        let line = greedy(&report, began.elapsed().as_secs_f64());
        show(&mut out, &line, args.json)?;
    }
    let states = args.states.unwrap_or(if puzzle.exact { 1000 } else { 20 });
    let tried = search(&mut run, method, states, args.seed, &SIGNALS)?;
    if !tried.is_empty() {
        let line = summed(&tried, method, args.seed, metric(&mut run));
        show(&mut out, &line, args.json)?;
    }
    let done = tried.len();
    if done < states as usize {
        bail!("stopped after {done} of {states} states, and the search above is of these. Ask for fewer with --states");
    }
    Ok(())
}

fn greedy(report: &Report, seconds: f64) -> Line {
    let fared = |distance, row: run::cube::Row| Fared {
        distance,
        states: row.states,
        solved: row.share(),
        optimal: Some(row.optimal_share()),
        excess: Some(row.mean_excess()),
        ..Fared::default()
    };
    let by_distance = report.rows(Greedy::Onward).iter().enumerate();
    Line::Greedy {
        plain: fared(None, report.total(Greedy::Plain)),
        onward: fared(None, report.total(Greedy::Onward)),
        by_distance: by_distance.map(|(distance, row)| fared(Some(distance), *row)).collect(),
        seconds,
    }
}

/// What came of one search.
struct Tried {
    distance: Option<usize>,
    length: Option<usize>,
    ms: f64,
    nodes: f64,
    widened: bool,
}

/// Searches from each of `states` states; a stop signal ends it early.
fn search(run: &mut Run<Cube>, method: SolveMethod, states: u32, seed: u32, signals: &Signals) -> Result<Vec<Tried>> {
    let mut tried = Vec::new();
    let mut live = ProgressLine::new(false);
    for number in 0..states {
        if signals.stopping() {
            break;
        }
        let state = ask(run, json!({ "ask": "uniform", "seed": seed, "number": number }))?;
        let Some(one) = one(run, &state, method, signals)? else { break };
        tried.push(one);
        live.update(|| format!("{} of {states}", number + 1));
    }
    Ok(tried)
}

/// None where a person stopped it.
fn one(run: &mut Run<Cube>, state: &Scrambled, method: SolveMethod, signals: &Signals) -> Result<Option<Tried>> {
    let distance = state.distance.map(|distance| distance as usize);
    let began = Instant::now();
    let Some(view) = searched(run, &state.facelets, method, signals)? else { return Ok(None) };
    let length = view.solution.as_ref().map(|solution| solution.moves.len());
    let (ms, nodes) = (1e3 * began.elapsed().as_secs_f64(), view.nodes);
    let widened = view.width.is_some_and(|width| width > method.width);
    Ok(Some(Tried { distance, length, ms, nodes, widened }))
}

fn summed(tried: &[Tried], method: SolveMethod, seed: u32, metric: String) -> Line {
    let most = tried.iter().filter_map(|tried| tried.distance).max();
    let at = |distance: usize| {
        let of: Vec<&Tried> = tried.iter().filter(|tried| tried.distance == Some(distance)).collect();
        (!of.is_empty()).then(|| fared(Some(distance), &of))
    };
    let all: Vec<&Tried> = tried.iter().collect();
    Line::Search {
        method,
        seed,
        metric,
        all: fared(None, &all),
        by_distance: most.map_or(Vec::new(), |most| (0..=most).filter_map(at).collect()),
        most_ms: tried.iter().map(|tried| tried.ms).fold(0.0, f64::max),
        nodes: tried.iter().map(|tried| tried.nodes).sum::<f64>() / tried.len() as f64,
        widened: tried.iter().filter(|tried| tried.widened).count(),
    }
}

fn fared(distance: Option<usize>, tried: &[&Tried]) -> Fared {
    let mean = |values: Vec<f64>| (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64);
    let excess = |tried: &&Tried| Some((tried.length? - tried.distance?) as f64);
    let too_many: Vec<f64> = tried.iter().filter_map(excess).collect();
    let exact = tried.iter().all(|tried| tried.distance.is_some());
    let share = |count: usize| count as f64 / tried.len().max(1) as f64;
    let lengths: Vec<f64> = tried.iter().filter_map(|tried| tried.length.map(|length| length as f64)).collect();
    Fared {
        distance,
        states: tried.len() as u32,
        solved: share(lengths.len()),
        optimal: exact.then(|| share(too_many.iter().filter(|&&excess| excess == 0.0).count())),
        excess: mean(too_many).filter(|_| exact),
        length: mean(lengths),
        ms: mean(tried.iter().map(|tried| tried.ms).collect()),
    }
}

fn show(out: &mut impl Write, line: &Line, json: bool) -> Result<()> {
    if json {
        writeln!(out, "{}", serde_json::to_string(line)?)?;
        return Ok(());
    }
    let percent = |share: f64| format!("{:.2}%", 100.0 * share);
    let known = |value: Option<f64>, words: &str| value.map_or(String::new(), |value| format!(", {value:.2} {words}"));
    let whole = |of: &Fared| {
        let optimal = of.optimal.map_or(String::new(), |share| format!(", {} optimally", percent(share)));
        let excess = known(of.excess, "moves too many");
        let length = known(of.length, "moves");
        format!("{} solved{optimal}{excess}{length}", percent(of.solved))
    };
    let by = match line {
        Line::Greedy { plain, onward, by_distance, seconds } => {
            writeln!(out, "greedy, all {} states, {}:", grouped(onward.states.into()), clock(*seconds))?;
            writeln!(out, "  taking no move back  {}", whole(onward))?;
            writeln!(out, "  plain                {}", whole(plain))?;
            by_distance
        }
        Line::Search { method, metric, all, by_distance, most_ms, nodes, widened, .. } => {
            let name = match method.search {
                SearchKind::Greedy => "greedy".into(),
                SearchKind::Beam => format!("beam {}", method.width),
                SearchKind::AStar => format!("A* {} at weight {}", method.width, method.weight),
                SearchKind::Exact => "exact".into(),
            };
            let (ms, nodes) = (all.ms.unwrap_or(0.0), grouped(*nodes as u64));
            writeln!(out, "{name}, {} uniform states, {metric}:", grouped(all.states.into()))?;
            writeln!(out, "  {}; {nodes} nodes, {ms:.1} ms each, {most_ms:.1} at most", whole(all))?;
            if *widened > 0 {
                let widened = grouped(*widened as u64);
                writeln!(out, "  {widened} of them needed a wider beam, or found nothing with that either")?;
            }
            by_distance
        }
    };
    if by.is_empty() {
        return Ok(());
    }
    writeln!(out, "  {:>8} {:>9} {:>8} {:>9} {:>9}", "distance", "states", "solved", "optimally", "too many")?;
    for of in by {
        writeln!(
            out,
            "  {:>8} {:>9} {:>8} {:>9} {:>9}",
            of.distance.unwrap_or(0),
            grouped(of.states.into()),
            percent(of.solved),
            percent(of.optimal.unwrap_or(0.0)),
            of.excess.map_or("-".into(), |excess| format!("{excess:.3}"))
        )?;
    }
    Ok(())
}
