//! `hothouse solve`: trains the given environments (or all environments) with their presets and several seeds. A run ends when its
//! environment is solved, or at the step limit. The run itself decides when the environment is solved ([`Goal`]). After all runs, the
//! command prints a table of the times.

use crate::args::MachineArgs;
use crate::args::values::count;
use crate::error::Usage;
use crate::error::usage_error;
use crate::format::{grouped, short};
use crate::host::Machine;
use crate::progress::ProgressLine;
use crate::shell::VerbArgs;
use crate::signals::{SIGNALS, Signals};
use anyhow::{Result, bail};
use clap::Args;
use run::Host;
use run::protocol::{Command, Config, Event, Goal, Variant};
use serde::Serialize;
use std::borrow::Cow;
use std::io::{IsTerminal, Write};
use std::sync::atomic::Ordering::Relaxed;
use std::time::Instant;

/// Result of one seed.
#[derive(Debug, Serialize)]
struct Row {
    variant: String,
    seed: u32,
    solved: bool,
    /// Mean return in the latest test or confirmation (second test); `None` before the first test.
    mean_return: Option<f64>,
    /// Number of tests that reached the goal, but were followed by a confirmation that did not.
    attempts: u32,
    steps: u64,
    seconds: f64,
}

/// Results over all seeds of one environment.
#[derive(Debug, Serialize)]
struct Total {
    variant: String,
    solved_at: f64,
    solved: usize,
    of: usize,
    median_seconds: f64,
    median_steps: u64,
    lowest_return: Option<f64>,
}

#[derive(Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum Line<'a> {
    Seed(&'a Row),
    Environment(&'a Total),
}

#[derive(Clone, Debug, Args)]
pub struct SolveArgs {
    /// Room: control
    #[arg(default_value = "control")]
    room: String,
    /// Environment to solve; repeat for more [default: all]
    #[arg(long, visible_alias = "env", value_name = "NAME")]
    variant: Vec<String>,
    /// Number of seeds per environment
    #[arg(
        long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=10_000),
        allow_negative_numbers = true, value_name = "N",
    )]
    seeds: u32,
    /// First seed of each environment. The other seeds are the next numbers
    #[arg(
        long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(..=1_000_000),
        allow_negative_numbers = true, value_name = "N",
    )]
    first_seed: u32,
    /// Step limit, after which a run counts as not solved
    #[arg(long, default_value = "20_000_000", value_parser = count, allow_negative_numbers = true, value_name = "N")]
    steps: u64,
    /// Print one JSON object per line: each seed, and each environment after its last seed
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    machine: MachineArgs,
}

impl VerbArgs for SolveArgs {
    const PATH: &'static [&'static str] = &["solve"];
    const ABOUT: &'static str = "Solve every control environment with its preset and print the times";

    fn run(self) -> Result<()> {
        Machine::work(&self.machine, |machine| run(&self, machine.host, &SIGNALS))
    }
}

/// An environment to solve, and its goal.
struct Task {
    id: Cow<'static, str>,
    goal: Goal,
}

fn tasks(args: &SolveArgs) -> Result<Vec<Task>> {
    let room = run::room(&args.room).map_err(usage_error)?;
    if args.room != "control" {
        let room = &args.room;
        bail!(Usage(format!("only control has this command. Train this room with `hothouse train {room} --until-solved`")));
    }
    let task = |variant: Variant| Some(Task { id: variant.id, goal: variant.goal? });
    let variants = room.variants();
    let known: Vec<_> = variants.iter().map(|variant| &*variant.id).collect();
    if let Some(unknown) = args.variant.iter().find(|id| !known.contains(&id.as_str())) {
        bail!(Usage(format!("there is no environment '{unknown}'. Choose one of: {}", known.join(", "))));
    }
    let wanted = |variant: &Variant| args.variant.is_empty() || args.variant.iter().any(|id| *id == variant.id);
    Ok(variants.into_iter().filter(wanted).filter_map(task).collect())
}

fn run(args: &SolveArgs, host: Host, signals: &Signals) -> Result<()> {
    let tasks = tasks(args)?;
    let mut out = crate::plain::stdout();
    if !args.json {
        writeln!(out, "{:<26} {:>5} {:>8} {:>12} {:>9}", "environment", "seed", "return", "steps", "seconds")?;
    }
    let mut totals = Vec::new();
    for task in &tasks {
        let mut rows = Vec::new();
        for seed in args.first_seed..args.first_seed + args.seeds {
            let base = run::config_of(run::room(&args.room)?);
            let config = Config { variant: task.id.to_string(), seed, ..base };
            let Some(row) = solve(config, task, args, host, signals)? else {
                bail!("stopped. Run the same command to start again, or name fewer environments with --variant");
            };
            show(&mut out, &row, args.json)?;
            rows.push(row);
        }
        totals.push(total(task, rows));
        if args.json {
            writeln!(out, "{}", serde_json::to_string(&Line::Environment(&totals[totals.len() - 1]))?)?;
        }
    }
    if !args.json {
        writeln!(
            out,
            "\n{:<26} {:>9} {:>9} {:>9} {:>13} {:>15}",
            "environment", "solved at", "solved", "lowest", "median steps", "median seconds"
        )?;
        for t in &totals {
            let lowest = mean(t.lowest_return);
            let solved = format!("{} of {}", t.solved, t.of);
            let steps = grouped(t.median_steps);
            writeln!(out, "{:<26} {:>9} {solved:>9} {lowest:>9} {steps:>13} {:>15.2}", t.variant, t.solved_at, t.median_seconds)?;
        }
    }
    match totals.iter().map(|t| t.of - t.solved).sum::<usize>() {
        0 => Ok(()),
        1 => bail!("one run was not solved. Increase --steps, or watch it with `hothouse train`"),
        n => bail!("{n} runs were not solved. Increase --steps, or watch them with `hothouse train`"),
    }
}

/// Trains until the environment is solved, the step limit is reached or the run fails. Returns `None` if the user stops the run.
fn solve(config: Config, task: &Task, args: &SolveArgs, host: Host, signals: &Signals) -> Result<Option<Row>> {
    let began = Instant::now();
    let seed = config.seed;
    let mut row = Row { variant: config.variant.clone(), seed, solved: false, mean_return: None, attempts: 0, steps: 0, seconds: 0.0 };
    let mut run = run::room(&config.room)?.begin(config, host)?;
    let column = run.schema().test(task.goal.column).unwrap_or_default();
    run.command(Command::Start)?;
    let mut progress = ProgressLine::new(args.json || !std::io::stdout().is_terminal());
    while !row.solved && row.steps < args.steps && run.running() {
        if signals.interrupts.load(Relaxed) > 0 {
            return Ok(None);
        }
        run.advance(began.elapsed().as_secs_f64());
        row.steps = run.progress().counts[0] as u64;
        for event in run.events() {
            match event {
                Event::Test(test) => row.mean_return = test.values[column],
                Event::Confirmation(confirmation) => row.mean_return = confirmation.value,
                _ => {}
            }
        }
        (row.solved, row.attempts) = (run.solved().is_some(), run.attempts());
        progress.update(|| {
            let (steps, mean) = (short(row.steps as f64), mean(row.mean_return));
            format!("{} seed {seed}: {steps} steps, mean return {mean}", row.variant)
        });
    }
    row.seconds = began.elapsed().as_secs_f64();
    Ok(Some(row))
}

fn total(task: &Task, rows: Vec<Row>) -> Total {
    // For the median of the times, unsolved runs are sorted after all solved runs.
    let time = |row: &Row| if row.solved { row.seconds } else { f64::INFINITY };
    let mut by_time: Vec<&Row> = rows.iter().collect();
    by_time.sort_by(|a, b| time(a).total_cmp(&time(b)));
    let median = by_time[by_time.len() / 2];
    let mut steps: Vec<u64> = rows.iter().map(|row| row.steps).collect();
    steps.sort_unstable();
    Total {
        variant: task.id.to_string(),
        solved_at: task.goal.at,
        solved: rows.iter().filter(|row| row.solved).count(),
        of: rows.len(),
        median_seconds: median.seconds,
        median_steps: steps[steps.len() / 2],
        lowest_return: rows.iter().filter_map(|row| row.mean_return).min_by(f64::total_cmp),
    }
}

fn mean(value: Option<f64>) -> String {
    value.map_or("-".into(), |value| format!("{value:.1}"))
}

fn show(out: &mut impl Write, row: &Row, json: bool) -> Result<()> {
    if json {
        writeln!(out, "{}", serde_json::to_string(&Line::Seed(row))?)?;
    } else {
        let end = if row.solved { "" } else { "  not solved" };
        let (mean, steps) = (mean(row.mean_return), grouped(row.steps));
        writeln!(out, "{:<26} {:>5} {mean:>8} {steps:>12} {:>9.2}{end}", row.variant, row.seed, row.seconds)?;
    }
    Ok(out.flush()?)
}
