//! `hothouse eval cube`: tests an agent in two ways: greedy play from every state of the 2x2x2, and a search from uniformly random states.
//! If distances to the solved state are known, the results are grouped by distance.

use super::agent::{MethodArgs, metric, puzzle, restored, search_to_end};
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
    /// Checkpoint of a cube run
    #[arg(value_name = "CHECKPOINT")]
    file: PathBuf,
    /// Number of uniformly random states to search from [default: 1000 of the 2x2x2, 20 of the 3x3x3]
    #[arg(long, value_parser = up_to_a_million, allow_negative_numbers = true, value_name = "N")]
    states: Option<u32>,
    #[command(flatten)]
    method: MethodArgs,
    /// Seed of the states
    #[arg(long, default_value_t = 1, allow_negative_numbers = true, value_name = "N")]
    seed: u32,
    /// Print the results as JSON, one object per line
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    machine: MachineArgs,
}

/// Results for the states at one distance, or for all states.
#[derive(Clone, Default, Serialize)]
struct Statistics {
    #[serde(skip_serializing_if = "Option::is_none")]
    distance: Option<usize>,
    states: u32,
    /// Share of the states that were solved.
    solved: f64,
    /// Share of the states that were solved in the minimum number of moves; `None` if distances are unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    optimal: Option<f64>,
    /// Mean number of moves above the minimum, over the solved states; `None` if distances are unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    excess: Option<f64>,
    /// Mean number of moves, over the solved states.
    #[serde(skip_serializing_if = "Option::is_none")]
    length: Option<f64>,
    /// Mean duration of a search in milliseconds; `None` for greedy play.
    #[serde(skip_serializing_if = "Option::is_none")]
    ms: Option<f64>,
}

#[derive(Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum Line {
    Greedy {
        /// Results of greedy play that may undo the last move.
        plain: Statistics,
        /// Results of greedy play that never undoes the last move.
        onward: Statistics,
        by_distance: Vec<Statistics>,
        seconds: f64,
    },
    Search {
        method: SolveMethod,
        seed: u32,
        metric: String,
        all: Statistics,
        by_distance: Vec<Statistics>,
        most_ms: f64,
        nodes: f64,
        /// Number of states for which the first beam found no solution, so the search tried wider beams.
        widened: usize,
    },
}

impl VerbArgs for EvalArgs {
    const PATH: &'static [&'static str] = &["eval", "cube"];
    const ABOUT: &'static str = "Test a cube agent: greedy play from every state of the 2x2x2, and a search from uniformly random states";

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
    let trials = search(&mut run, method, states, args.seed, &SIGNALS)?;
    if !trials.is_empty() {
        let line = summed(&trials, method, args.seed, metric(&mut run));
        show(&mut out, &line, args.json)?;
    }
    let done = trials.len();
    if done < states as usize {
        bail!("stopped after {done} of {states} states; the search results cover these only. Use fewer --states");
    }
    Ok(())
}

fn greedy(report: &Report, seconds: f64) -> Line {
    let statistics = |distance, row: run::cube::Row| Statistics {
        distance,
        states: row.states,
        solved: row.share(),
        optimal: Some(row.optimal_share()),
        excess: Some(row.mean_excess()),
        ..Statistics::default()
    };
    let by_distance = report.rows(Greedy::Onward).iter().enumerate();
    Line::Greedy {
        plain: statistics(None, report.total(Greedy::Plain)),
        onward: statistics(None, report.total(Greedy::Onward)),
        by_distance: by_distance.map(|(distance, row)| statistics(Some(distance), *row)).collect(),
        seconds,
    }
}

/// Result of a search from one state.
struct Trial {
    distance: Option<usize>,
    length: Option<usize>,
    ms: f64,
    nodes: f64,
    widened: bool,
}

/// Searches from `states` random states. Stops early on a stop signal.
fn search(run: &mut Run<Cube>, method: SolveMethod, states: u32, seed: u32, signals: &Signals) -> Result<Vec<Trial>> {
    let mut trials = Vec::new();
    let mut progress = ProgressLine::new(false);
    for number in 0..states {
        if signals.stopping() {
            break;
        }
        let state = ask(run, json!({ "ask": "uniform", "seed": seed, "number": number }))?;
        let Some(one) = one(run, &state, method, signals)? else { break };
        trials.push(one);
        progress.update(|| format!("{} of {states}", number + 1));
    }
    Ok(trials)
}

/// Searches from one state. Returns `None` if the user stops the search.
fn one(run: &mut Run<Cube>, state: &Scrambled, method: SolveMethod, signals: &Signals) -> Result<Option<Trial>> {
    let distance = state.distance.map(|distance| distance as usize);
    let began = Instant::now();
    let Some(view) = search_to_end(run, &state.facelets, method, signals)? else { return Ok(None) };
    let length = view.solution.as_ref().map(|solution| solution.moves.len());
    let (ms, nodes) = (1e3 * began.elapsed().as_secs_f64(), view.nodes);
    let widened = view.width.is_some_and(|width| width > method.width);
    Ok(Some(Trial { distance, length, ms, nodes, widened }))
}

fn summed(trials: &[Trial], method: SolveMethod, seed: u32, metric: String) -> Line {
    let most = trials.iter().filter_map(|trial| trial.distance).max();
    let at = |distance: usize| {
        let same: Vec<&Trial> = trials.iter().filter(|trial| trial.distance == Some(distance)).collect();
        (!same.is_empty()).then(|| statistics(Some(distance), &same))
    };
    let all: Vec<&Trial> = trials.iter().collect();
    Line::Search {
        method,
        seed,
        metric,
        all: statistics(None, &all),
        by_distance: most.map_or(Vec::new(), |most| (0..=most).filter_map(at).collect()),
        most_ms: trials.iter().map(|trial| trial.ms).fold(0.0, f64::max),
        nodes: trials.iter().map(|trial| trial.nodes).sum::<f64>() / trials.len() as f64,
        widened: trials.iter().filter(|trial| trial.widened).count(),
    }
}

fn statistics(distance: Option<usize>, trials: &[&Trial]) -> Statistics {
    let mean = |values: Vec<f64>| (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64);
    let excess = |trial: &&Trial| Some((trial.length? - trial.distance?) as f64);
    let excesses: Vec<f64> = trials.iter().filter_map(excess).collect();
    let exact = trials.iter().all(|trial| trial.distance.is_some());
    let share = |count: usize| count as f64 / trials.len().max(1) as f64;
    let lengths: Vec<f64> = trials.iter().filter_map(|trial| trial.length.map(|length| length as f64)).collect();
    Statistics {
        distance,
        states: trials.len() as u32,
        solved: share(lengths.len()),
        optimal: exact.then(|| share(excesses.iter().filter(|&&excess| excess == 0.0).count())),
        excess: mean(excesses).filter(|_| exact),
        length: mean(lengths),
        ms: mean(trials.iter().map(|trial| trial.ms).collect()),
    }
}

fn show(out: &mut impl Write, line: &Line, json: bool) -> Result<()> {
    if json {
        writeln!(out, "{}", serde_json::to_string(line)?)?;
        return Ok(());
    }
    let percent = |share: f64| format!("{:.2}%", 100.0 * share);
    let known = |value: Option<f64>, words: &str| value.map_or(String::new(), |value| format!(", {value:.2} {words}"));
    let summary = |of: &Statistics| {
        let optimal = of.optimal.map_or(String::new(), |share| format!(", {} optimally", percent(share)));
        let excess = known(of.excess, "excess moves");
        let length = known(of.length, "moves");
        format!("{} solved{optimal}{excess}{length}", percent(of.solved))
    };
    let by = match line {
        Line::Greedy { plain, onward, by_distance, seconds } => {
            writeln!(out, "greedy, all {} states, {}:", grouped(onward.states.into()), clock(*seconds))?;
            writeln!(out, "  without undoing  {}", summary(onward))?;
            writeln!(out, "  plain            {}", summary(plain))?;
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
            writeln!(out, "  {}; {nodes} nodes, {ms:.1} ms each, {most_ms:.1} at most", summary(all))?;
            if *widened > 0 {
                let widened = grouped(*widened as u64);
                writeln!(out, "  {widened} needed a wider beam or were not solved")?;
            }
            by_distance
        }
    };
    if by.is_empty() {
        return Ok(());
    }
    writeln!(out, "  {:>8} {:>9} {:>8} {:>9} {:>9}", "distance", "states", "solved", "optimal", "excess")?;
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
