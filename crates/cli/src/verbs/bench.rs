//! `hothouse bench`: measures the compute core, the GPU or a room, and prints each figure as soon as it is measured. With `--profile`,
//! measures the time of each call in a training step instead of speeds.

use crate::args::MachineArgs;
use crate::error::Usage;
use crate::host::Machine;
use crate::plain;
use crate::rooms;
use crate::session::monitor_file;
use crate::session::training::now_s;
use anyhow::{Result, bail};
use bench::Figure;
use bench::measure::Bench;
use std::io::Write;

pub fn run(suite: &str, versus: Option<&str>, profile: bool, json: bool, machine: &MachineArgs) -> Result<()> {
    rooms::check_versus(suite, versus)?;
    let machine = Machine::new(machine)?;
    machine.pool.install(|| measure(suite, versus, profile, json, &machine))
}

fn measure(suite: &str, versus: Option<&str>, profile: bool, json: bool, machine: &Machine) -> Result<()> {
    let isa = machine.host.isa;
    let mut printed = Ok(());
    let mut measured = Vec::new();
    let mut print = |figure: Figure| {
        if printed.is_ok() {
            printed = self::print(&figure, json);
        }
        measured.push(figure);
    };
    let file = std::env::temp_dir().join(format!("hothouse-bench-{}.ring", std::process::id()));
    let mut attach = |schema: &_| monitor_file::measured(&file, schema).ok();
    let mut unavailable = Vec::new();
    let report_missing = &mut |name| unavailable.push(name);
    let mut bench = Bench { isa, now: now_s, attach: &mut attach, sink: &mut print, report_missing };
    match bench::suite(suite) {
        Some(suite) if profile => suite.profile.map_or((), |profile| profile(&mut bench)),
        Some(suite) => (suite.measure)(&mut bench),
        None if suite == "gpu" && profile => {}
        None if suite == "gpu" => bench::measure_device(&gpu::Gpu::open_blocking(gpu::OpenOptions::default())?, &mut bench)?,
        // A room that another program added has no benchmarks.
        None if run::room(suite).is_ok() => {}
        None => {
            let rooms: Vec<_> = run::rooms().iter().map(|room| room.schema().id).collect();
            bail!(Usage(format!("there is no suite '{suite}'. Choose core, gpu, worlds, {}", rooms.join(", "))))
        }
    }
    // The error is ignored, because the file may not exist.
    let _ = std::fs::remove_file(&file);
    if !json {
        unavailable.iter().try_for_each(|name| writeln!(plain::stdout(), "not available: {name}"))?;
    }
    // If the output was closed, returns before the longer benchmarks.
    printed?;
    if !profile {
        return rooms::shell(suite)
            .map_or(Ok(()), |shell| shell.bench(versus.is_some(), &measured, machine, &mut |figure| self::print(&figure, json)));
    }
    if measured.is_empty() {
        bail!(Usage(format!(
            "--profile measures core and words, not {suite}. Choose core or words; the page shows the times of other rooms"
        )));
    }
    Ok(())
}

/// Prints a figure as JSON, or as a line such as `core.net284k.share   0.8905 (0.8871 to 0.8922) of peak`.
fn print(figure: &Figure, json: bool) -> std::io::Result<()> {
    let mut out = plain::stdout();
    if json {
        serde_json::to_writer(&mut out, figure)?;
        writeln!(out)?;
    } else {
        let spread = figure.spread.map(|s| format!("({:.4} to {:.4}) ", s.lower, s.upper));
        let Figure { name, value, unit, .. } = figure;
        writeln!(out, "{name:<44} {value:>12.4} {}{unit}", spread.unwrap_or_default())?;
    }
    out.flush()
}
