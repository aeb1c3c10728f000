//! `hothouse bench`: the figures of the compute core, of the GPU, or of a room. Every figure is printed as soon as it is known.

use crate::args::MachineArgs;
use crate::host::Machine;
use crate::session::now_s;
use crate::{Usage, monitor_file, rooms};
use anyhow::{Result, bail};
use run::bench::{Bench, Figure};
use std::io::Write;

pub fn run(suite: &str, versus: Option<&str>, json: bool, machine: &MachineArgs) -> Result<()> {
    rooms::check_versus(suite, versus)?;
    let machine = Machine::new(machine)?;
    machine.pool.install(|| measure(suite, versus, json, &machine))
}

fn measure(suite: &str, versus: Option<&str>, json: bool, machine: &Machine) -> Result<()> {
    let isa = machine.host.isa;
    let mut printed = Ok(());
    let mut measured = Vec::new();
    let mut print = |figure: Figure| {
        if printed.is_ok() {
            printed = self::print(&figure, json);
        }
        measured.push(figure);
    };
    match (suite, run::room(suite)) {
        ("core", _) => run::bench::core(isa, &now_s, math::rivals::ALL, &mut print),
        ("gpu", _) => {
            let gpu = gpu::Gpu::open_blocking(gpu::OpenOptions::default())?;
            let mut sink = |name, value, unit: String| print(Figure { name, value, unit: unit.into() });
            gpu::bench_blocking(&gpu, isa, &now_s, &mut sink)?;
        }
        (_, Ok(room)) => {
            let file = std::env::temp_dir().join(format!("hothouse-bench-{}.ring", std::process::id()));
            let mut attach = |schema: &_| monitor_file::measured(&file, schema).ok();
            let mut lacking = Vec::new();
            let lacks = &mut |what| lacking.push(what);
            room.bench(&mut Bench { isa, now: now_s, attach: &mut attach, sink: &mut print, lacks });
            // Where none was made, there is none to remove.
            let _ = std::fs::remove_file(&file);
            if !json {
                lacking.iter().try_for_each(|what| writeln!(std::io::stdout(), "not here: {what}"))?;
            }
        }
        (_, Err(_)) => {
            let rooms: Vec<_> = run::rooms().iter().map(|room| room.schema().id).collect();
            bail!(Usage(format!(
                "there is nothing called '{suite}' to measure. Choose core, gpu, {}",
                rooms.join(", ")
            )))
        }
    }
    // Where nobody reads on, the long part is not begun.
    printed?;
    rooms::bench(suite, versus, &measured, machine, &mut |figure| self::print(&figure, json))
}

fn print(figure: &Figure, json: bool) -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    if json {
        serde_json::to_writer(&mut out, figure)?;
        writeln!(out)?;
    } else {
        let Figure { name, value, unit } = figure;
        writeln!(out, "{name:<44} {value:>12.4} {unit}")?;
    }
    out.flush()
}
