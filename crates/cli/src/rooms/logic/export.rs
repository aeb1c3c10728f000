//! `hothouse export logic`: writes a circuit as a picture, data or source code.

use super::circuit::CircuitArgs;
use crate::args::MachineArgs;
use crate::host::Machine;
use crate::plain;
use crate::shell::VerbArgs;
use anyhow::Result;
use clap::{Args, ValueEnum};
use files::{Claim, FileKind};
use std::io::{Read, Write};
use std::path::PathBuf;

#[derive(Clone, Debug, Args)]
pub struct ExportArgs {
    #[command(flatten)]
    circuit: CircuitArgs,
    /// Format to write
    #[arg(long, value_enum, value_name = "FORMAT")]
    format: Format,
    /// File to write [default: standard output]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    #[command(flatten)]
    machine: MachineArgs,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Format {
    /// Picture
    Svg,
    /// Circuit for `hothouse run logic`
    Json,
    /// Combinational module
    Verilog,
    /// Function that updates 64 cells at once
    Rust,
}

impl Format {
    /// Returns the file kind of the format. An existing file of this kind may be overwritten.
    fn kind(self) -> FileKind {
        let (name, is_kind): (_, fn(&mut dyn Read) -> bool) = match self {
            Format::Svg => ("picture of a circuit", is_picture),
            Format::Json => ("circuit", |file| files::begins(file, b"{\n\"format\": \"hothouse circuit\"")),
            Format::Verilog | Format::Rust => ("source of a circuit", is_source),
        };
        let example = match self {
            Format::Svg => "circuit.svg",
            Format::Json => "circuit.json",
            Format::Verilog => "circuit.v",
            Format::Rust => "circuit.rs",
        };
        FileKind { name, is_kind, next: "Name another file with --out", example, is_stream: false }
    }
}

/// First characters of a picture file.
const PICTURE: &str = "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 ";
/// Text that precedes the title in a picture file. The title contains the circuit's name and its number of gates.
const TITLE: &str = " role=\"img\" aria-labelledby=\"title description\">\n<title id=\"title\">";
/// Possible endings of the first line of a source file.
const BORDERS: [&str; 2] = ["opposite borders are joined", "beyond the border all is off"];
/// Text that follows the first line of a source file: first for Verilog, then for Rust.
const SECOND: [&str; 2] =
    ["// nw_0 is channel 0 of the cell to the north-west, ", "\n/// The next state of each channel of 64 cells, one bit per cell. "];

fn beginning(file: &mut dyn Read) -> String {
    let mut first = Vec::new();
    // An unreadable file counts as empty. An empty file is not an exported circuit.
    let _ = file.take(1024).read_to_end(&mut first);
    String::from_utf8_lossy(&first).into_owned()
}

fn is_picture(file: &mut dyn Read) -> bool {
    let first = beginning(file);
    let title = first.split_once(TITLE).map_or("", |(_, title)| title);
    first.starts_with(PICTURE) && title.contains(": a circuit of ")
}

fn is_source(file: &mut dyn Read) -> bool {
    let first = beginning(file);
    let Some((line, rest)) = first.split_once('\n') else { return false };
    is_header(line) && SECOND.iter().any(|second| rest.starts_with(second))
}

/// Returns true if `line` is the first line of an exported source file, such as `// life: 31 gates, 9 deep; opposite borders are joined`.
fn is_header(line: &str) -> bool {
    let read = || {
        let (_, counts) = line.strip_prefix("// ")?.rsplit_once(": ")?;
        let (gates, rest) = counts.split_once(" gates, ")?;
        let (depth, borders) = rest.split_once(" deep; ")?;
        Some([gates, depth].iter().all(|n| n.parse::<u64>().is_ok()) && BORDERS.contains(&borders))
    };
    read().unwrap_or(false)
}

impl VerbArgs for ExportArgs {
    const PATH: &'static [&'static str] = &["export", "logic"];
    const ABOUT: &'static str = "Export the circuit of a hardened automaton as a picture, data or source code";

    fn run(self) -> Result<()> {
        let claim = self.out.as_deref().map(|out| Claim::new(out, self.format.kind())).transpose()?;
        let machine = Machine::new(&self.machine)?;
        let circuit = machine.pool.install(|| self.circuit.read(machine.host))?;
        let text = match self.format {
            Format::Svg => circuit.to_svg(),
            Format::Json => circuit.to_json(),
            Format::Verilog => circuit.to_verilog(),
            Format::Rust => circuit.to_rust(),
        };
        match claim {
            None => Ok(plain::data().write_all(text.as_bytes())?),
            Some(claim) => claim.write(text.as_bytes()),
        }
    }
}
