//! `hothouse export logic`: a circuit as a picture, as data, or as source.

use super::CircuitArgs;
use crate::args::MachineArgs;
use crate::host::Machine;
use anyhow::Result;
use clap::{ArgMatches, Args, Command, FromArgMatches, ValueEnum};
use files::Kind;
use std::io::{Read, Write};
use std::path::PathBuf;

#[derive(Clone, Debug, Args)]
struct ExportArgs {
    #[command(flatten)]
    circuit: CircuitArgs,
    /// As what
    #[arg(long, value_enum, value_name = "FORMAT")]
    format: Format,
    /// Where to [default: standard output]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    #[command(flatten)]
    machine: MachineArgs,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Format {
    /// A picture
    Svg,
    /// What `hothouse run logic` reads
    Json,
    /// A combinational module
    Verilog,
    /// A function of 64 cells at once
    Rust,
}

impl Format {
    /// A file of an earlier circuit may be written over.
    fn kind(self) -> Kind {
        let (name, is_one): (_, fn(&mut dyn Read) -> bool) = match self {
            Format::Svg => ("picture of a circuit", |file| says(file, ": a circuit of ")),
            Format::Json => ("circuit", |file| files::begins(file, b"{\n\"format\": \"hothouse circuit\"")),
            Format::Verilog | Format::Rust => ("source of a circuit", |file| says(file, " gates, ")),
        };
        Kind { name, is_one, next: "Name another file with --out", is_stream: false }
    }
}

/// Within its first lines.
fn says(file: &mut dyn Read, words: &str) -> bool {
    let mut first = Vec::new();
    let read = file.take(1024).read_to_end(&mut first);
    read.is_ok() && String::from_utf8_lossy(&first).contains(words)
}

pub fn grammar(verb: Command) -> Command {
    ExportArgs::augment_args(verb)
        .about("Write the circuit of a hardened automaton as a picture, as data or as source")
}

pub fn obey(matches: &ArgMatches) -> Result<()> {
    let args = ExportArgs::from_arg_matches(matches)?;
    if let Some(out) = &args.out {
        files::check(out, args.format.kind())?;
    }
    let machine = Machine::new(&args.machine)?;
    let circuit = machine.pool.install(|| args.circuit.read(machine.host))?;
    let text = match args.format {
        Format::Svg => circuit.to_svg(),
        Format::Json => circuit.to_json(),
        Format::Verilog => circuit.to_verilog(),
        Format::Rust => circuit.to_rust(),
    };
    match &args.out {
        None => Ok(std::io::stdout().lock().write_all(text.as_bytes())?),
        Some(out) => files::write_whole(out, args.format.kind(), text.as_bytes()),
    }
}
