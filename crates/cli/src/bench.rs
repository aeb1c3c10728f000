//! `hothouse bench`: the figures of the compute core, of control, of backgammon or of the GPU, and how soon CartPole is
//! solved by this very program, from its start to its end. Every figure is printed as soon as it is known.

use crate::record::{EndedBy, Record};
use crate::ring;
use anyhow::{Context, Result, bail};
use math::Isa;
use run::bench::Figure;
use run::monitor::{State, Writer};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// How often whoever watches looks.
const WATCH_EVERY: Duration = Duration::from_millis(100);

const SEEDS: std::ops::RangeInclusive<u32> = 1..=20;
/// A run that has not solved CartPole by then counts as one that does not.
const SOLVE_CAP_STEPS: &str = "20_000_000";

pub fn run(suite: &str, json: bool, isa: Isa, threads: usize) -> Result<()> {
    let mut printed = Ok(());
    let mut print = |figure: Figure| {
        if printed.is_ok() {
            printed = self::print(&figure, json);
        }
    };
    match suite {
        "core" => {
            let began = Instant::now();
            run::bench::core(isa, &|| began.elapsed().as_secs_f64(), math::rivals::ALL, &mut print);
            // Where nobody reads on, the long part is not begun.
            printed?;
            solve(isa, threads, json)
        }
        "control" => {
            let began = Instant::now();
            let mut attach = || attach(&scratch()).ok();
            run::bench::control(isa, &|| began.elapsed().as_secs_f64(), &mut attach, &mut print);
            printed?;
            solve(isa, threads, json)
        }
        "backgammon" => {
            run::bench::backgammon(isa, 1, crate::session::now_s, &mut print);
            Ok(printed?)
        }
        "gpu" => {
            let began = Instant::now();
            let gpu = gpu::Gpu::open_blocking(gpu::OpenOptions::default())?;
            let mut printed = Ok(());
            let mut print = |gpu::Figure { name, value, unit }: gpu::Figure| {
                if printed.is_ok() {
                    printed = self::line(&name, value, &unit, json);
                }
            };
            gpu::bench_blocking(&gpu, isa, &|| began.elapsed().as_secs_f64(), &mut print)?;
            Ok(printed?)
        }
        _ => bail!(crate::Usage(format!(
            "there is nothing called '{suite}' to measure. Choose core, control, backgammon or gpu"
        ))),
    }
}

/// Where the monitors of what is measured go.
fn scratch() -> PathBuf {
    std::env::temp_dir().join(format!("hothouse-bench-{}.ring", std::process::id()))
}

/// A monitor and one who watches it, from the time it is made until its writer ends.
fn attach(file: &Path) -> Result<Writer> {
    let writer = ring::create(file, "")?;
    let mut watched = ring::open(file)?;
    std::thread::spawn(move || {
        while watched.reader.state() != State::Finished {
            std::hint::black_box(watched.reader.poll());
            std::thread::sleep(WATCH_EVERY);
        }
    });
    Ok(writer)
}

fn print(figure: &Figure, json: bool) -> std::io::Result<()> {
    line(&figure.name, figure.value, figure.unit, json)
}

fn line(name: &str, value: f64, unit: &str, json: bool) -> std::io::Result<()> {
    #[derive(serde::Serialize)]
    struct Line<'a> {
        name: &'a str,
        value: f64,
        unit: &'a str,
    }
    let mut out = std::io::stdout().lock();
    if json {
        serde_json::to_writer(&mut out, &Line { name, value, unit })?;
        writeln!(out)?;
    } else {
        writeln!(out, "{name:<44} {value:>12.4} {unit}")?;
    }
    out.flush()
}

/// Whole processes, since that is what a person waits for: median of twenty seeds.
fn solve(isa: Isa, threads: usize, json: bool) -> Result<()> {
    let program = std::env::current_exe().context("cannot find this program's own file")?;
    let monitor = scratch();
    let (mut times_s, mut solved) = (Vec::new(), 0);
    for seed in SEEDS {
        let began = Instant::now();
        let output = Command::new(&program)
            .args(["train", "--json", "--until-solved", "--steps", SOLVE_CAP_STEPS, "--isa", isa.name()])
            .args(["--seed", &seed.to_string(), "--threads", &threads.to_string()])
            // As every run has one; but those that people may want to look at are not to go for these.
            .arg("--monitor")
            .arg(&monitor)
            .stdin(Stdio::null())
            .stderr(Stdio::inherit())
            .output()
            .context("cannot start a training process")?;
        let took_s = began.elapsed().as_secs_f64();
        let last = output.stdout.trim_ascii_end().rsplit(|&b| b == b'\n').next().unwrap_or_default();
        let Ok(Record::Summary(summary)) = serde_json::from_slice(last) else {
            bail!(
                "the training process with seed {seed} gave no summary. Run `hothouse train --seed {seed}` to see why"
            );
        };
        let done = summary.ended_by == EndedBy::Solved;
        solved += u32::from(done);
        times_s.push(if done { took_s } else { f64::INFINITY });
    }
    // Where none could be made, there is none to remove.
    let _ = std::fs::remove_file(&monitor);
    times_s.sort_by(f64::total_cmp);
    let median_s = times_s[times_s.len() / 2];
    print(&Figure { name: "control.ppo.cartpole.solve_s".into(), value: median_s, unit: "s" }, json)?;
    print(
        &Figure { name: "control.ppo.cartpole.solved_of_20".into(), value: solved.into(), unit: "seeds" },
        json,
    )?;
    Ok(())
}
