//! `hothouse solve`: every environment from its preset to the mean return that counts as solved, seed by
//! seed, as a table with the time that each took. A seed counts once a hundred fresh episodes, apart from
//! the evaluation that called it solved, reach the mean as well: what was looked for often is sometimes
//! found by luck.

use crate::session::Signals;
use crate::words::{grouped, short};
use crate::{Usage, args::SolveArgs};
use anyhow::{Result, bail};
use math::Isa;
use run::protocol::{Command, Config, Environment, Event};
use run::{EVALUATION_EPISODES, Experiment};
use serde::Serialize;
use std::io::{IsTerminal, Write};
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

/// Seeds of the episodes that confirm are apart from those that training looks at, which are iterations.
const FRESH: u32 = 0x4652_0000;
/// How often a terminal is told how far a seed is.
const TELL_EVERY: Duration = Duration::from_millis(250);

/// One seed.
#[derive(Debug, Serialize)]
struct Row {
    env: String,
    seed: u32,
    solved: bool,
    /// Mean return of the episodes that confirmed it, or of the last evaluation.
    mean_return: Option<f64>,
    steps: u64,
    seconds: f64,
}

/// One environment.
#[derive(Debug, Serialize)]
struct Total {
    env: String,
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

pub fn run(room: &str, args: &SolveArgs, isa: Isa, signals: &Signals) -> Result<()> {
    let environments = if args.env.is_empty() {
        run::environments()
    } else {
        args.env
            .iter()
            .map(|id| run::environment_by_id(id).map_err(|e| Usage(e.to_string()).into()))
            .collect::<Result<_>>()?
    };
    let mut out = std::io::stdout().lock();
    let show = Show { json: args.json, live: std::io::stdout().is_terminal() && !args.json };
    if !args.json {
        writeln!(
            out,
            "{:<26} {:>5} {:>8} {:>12} {:>9}",
            "environment", "seed", "return", "steps", "seconds"
        )?;
    }
    let mut totals = Vec::new();
    for environment in &environments {
        let mut rows = Vec::new();
        for seed in 1..=args.seeds {
            let config =
                Config { room: room.into(), env: environment.id.clone(), seed, ..run::default_config() };
            let Some(row) = solve(config, environment, args.steps, isa, signals, &show)? else {
                bail!("stopped. Run the same command to begin again, or name fewer with --env");
            };
            show.row(&mut out, &row)?;
            rows.push(row);
        }
        totals.push(total(environment, rows));
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
            let lowest = t.lowest_return.map_or("-".into(), |r| format!("{r:.1}"));
            let solved = format!("{} of {}", t.solved, t.of);
            let steps = grouped(t.median_steps);
            writeln!(
                out,
                "{:<26} {:>9} {solved:>9} {lowest:>9} {steps:>13} {:>15.2}",
                t.env, t.solved_at, t.median_seconds
            )?;
        }
    }
    match totals.iter().map(|t| t.of - t.solved).sum::<usize>() {
        0 => Ok(()),
        1 => bail!("one run was not solved. Give it more --steps, or look at it with `hothouse train`"),
        n => bail!("{n} runs were not solved. Give them more --steps, or look at them with `hothouse train`"),
    }
}

/// Trains until it is solved, or was told to stop (none).
fn solve(
    config: Config,
    environment: &Environment,
    steps: u64,
    isa: Isa,
    signals: &Signals,
    show: &Show,
) -> Result<Option<Row>> {
    let began = Instant::now();
    let (env, seed) = (config.env.clone(), config.seed);
    let mut experiment = Experiment::new(config, isa)?;
    experiment.command(Command::Start)?;
    let mut row = Row { env, seed, solved: false, mean_return: None, steps: 0, seconds: 0.0 };
    let mut told = began;
    while !row.solved && row.steps < steps && experiment.running() {
        if signals.interrupts.load(Relaxed) > 0 {
            show.clear();
            return Ok(None);
        }
        experiment.advance(began.elapsed().as_secs_f64());
        row.steps = experiment.progress().env_steps;
        for event in experiment.events() {
            let Event::Evaluation(evaluation) = event else { continue };
            row.mean_return = Some(evaluation.mean_return);
            if evaluation.mean_return >= environment.solved_at {
                let fresh = experiment.evaluate(EVALUATION_EPISODES, FRESH ^ seed);
                row.mean_return = Some(fresh.mean_return);
                row.solved = fresh.mean_return >= environment.solved_at;
            }
        }
        if told.elapsed() > TELL_EVERY {
            told = Instant::now();
            show.progress(&row);
        }
    }
    row.seconds = began.elapsed().as_secs_f64();
    show.clear();
    Ok(Some(row))
}

fn total(environment: &Environment, rows: Vec<Row>) -> Total {
    // An unsolved run takes for ever.
    let time = |row: &Row| if row.solved { row.seconds } else { f64::INFINITY };
    let mut by_time: Vec<&Row> = rows.iter().collect();
    by_time.sort_by(|a, b| time(a).total_cmp(&time(b)));
    let median = by_time[by_time.len() / 2];
    let mut steps: Vec<u64> = rows.iter().map(|row| row.steps).collect();
    steps.sort_unstable();
    Total {
        env: environment.id.clone(),
        solved_at: environment.solved_at,
        solved: rows.iter().filter(|row| row.solved).count(),
        of: rows.len(),
        median_seconds: median.seconds,
        median_steps: steps[steps.len() / 2],
        lowest_return: rows.iter().filter_map(|row| row.mean_return).min_by(f64::total_cmp),
    }
}

struct Show {
    json: bool,
    /// A terminal, on which the newest line can be written over.
    live: bool,
}

impl Show {
    fn row(&self, out: &mut impl Write, row: &Row) -> Result<()> {
        if self.json {
            writeln!(out, "{}", serde_json::to_string(&Line::Seed(row))?)?;
        } else {
            let mean = row.mean_return.map_or("-".into(), |r| format!("{r:.1}"));
            let end = if row.solved { "" } else { "  not solved" };
            let steps = grouped(row.steps);
            writeln!(out, "{:<26} {:>5} {mean:>8} {steps:>12} {:>9.2}{end}", row.env, row.seed, row.seconds)?;
        }
        Ok(out.flush()?)
    }

    fn progress(&self, row: &Row) {
        if self.live {
            let mean = row.mean_return.map_or("-".into(), |r| format!("{r:.1}"));
            let line = format!(
                "{} seed {}: {} steps, mean return {mean}",
                row.env,
                row.seed,
                short(row.steps as f64)
            );
            let _ = write!(std::io::stderr(), "\r\x1b[K{line}");
        }
    }

    fn clear(&self) {
        if self.live {
            let _ = write!(std::io::stderr(), "\r\x1b[K");
        }
    }
}
