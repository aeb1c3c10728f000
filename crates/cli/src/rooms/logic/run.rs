//! `hothouse run logic`: runs a circuit on a grid. A grid has one bit per cell and channel.

use super::circuit::CircuitArgs;
use crate::args::MachineArgs;
use crate::args::values::{count, number};
use crate::error::Usage;
use crate::format::{clock, grouped};
use crate::host::Machine;
use crate::shell::VerbArgs;
use crate::signals::SIGNALS;
use anyhow::{Context, Result, bail};
use clap::Args;
use files::{Claim, FileKind};
use math::Rng;
use run::Host;
use run::logic::{Area, Circuit, Grid, GridError, PackedGrid, fire};
use serde::Serialize;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

#[derive(Clone, Debug, Args)]
pub struct RunArgs {
    #[command(flatten)]
    circuit: CircuitArgs,
    /// Grid size in columns and rows
    #[arg(long, value_parser = size, value_name = "WxH")]
    grid: (usize, usize),
    /// Number of steps; without --fire-rate, each step updates every cell
    #[arg(long, value_parser = count, allow_negative_numbers = true, value_name = "N")]
    steps: u64,
    /// Start state: random bits, one cell in the middle (seed), blank, or a drawing for the middle of the grid. A drawing is a .pbm, or
    /// text with rows of . and #, or of digits 0 to 7 for the first three channels
    #[arg(long, default_value = "random", value_name = "random|seed|blank|FILE")]
    start: PathBuf,
    /// Seed of random start states, and of the random updates of --fire-rate
    #[arg(long, default_value_t = 1, allow_negative_numbers = true, value_name = "N")]
    seed: u32,
    /// Join opposite borders; with =false, cells beyond the border are off [default: as in training]
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "BOOL")]
    periodic: Option<bool>,
    /// Update each cell in this share of the steps, at random, as in 0.6
    #[arg(long, value_parser = share, allow_negative_numbers = true, value_name = "SHARE")]
    fire_rate: Option<f32>,
    /// Switch off the cells of a disc before the first step: centre and radius
    #[arg(long, value_parser = disc, allow_hyphen_values = true, value_name = "X,Y,RADIUS")]
    damage: Vec<(usize, usize, usize)>,
    /// Show the first three channels as a digit (the sum of 1 for red, 2 for green and 4 for blue) instead of the first channel
    #[arg(long)]
    rgb: bool,
    /// Write the final state to this file: a .pbm of the first channel, or a .txt
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Print the result as one JSON object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    machine: MachineArgs,
}

fn size(text: &str) -> Result<(usize, usize), String> {
    let wrong = || "write columns and rows, each from 1, as in 4096x4096".to_string();
    let (width, height) = text.split_once(['x', 'X']).ok_or_else(wrong)?;
    let side = |text: &str| text.parse::<u32>().ok().filter(|&side| side > 0).map(|side| side as usize);
    side(width).zip(side(height)).ok_or_else(wrong)
}

fn share(text: &str) -> Result<f32, String> {
    match number(text)? {
        share if share > 0.0 && share <= 1.0 => Ok(share as f32),
        _ => Err("write a number above 0 and at most 1, as in 0.6".into()),
    }
}

fn disc(text: &str) -> Result<(usize, usize, usize), String> {
    let numbers: Option<Vec<usize>> = text.split(',').map(|number| number.trim().parse().ok()).collect();
    match numbers.as_deref() {
        Some(&[x, y, radius]) => Ok((x, y, radius)),
        _ => Err("write column, row and radius as whole numbers, as in 20,20,5".into()),
    }
}

#[derive(Serialize)]
struct Line {
    circuit: String,
    gates: usize,
    width: usize,
    height: usize,
    periodic: bool,
    steps: u64,
    seconds: f64,
    cells_per_s: f64,
    gate_cells_per_s: f64,
    /// Number of cells whose first channel is on.
    on: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    cells: Option<String>,
}

impl VerbArgs for RunArgs {
    const PATH: &'static [&'static str] = &["run", "logic"];
    const ABOUT: &'static str = "Run a circuit on a grid and print its speed";

    fn run(self) -> Result<()> {
        let out = self.out.as_deref().map(Output::new).transpose()?;
        Machine::work(&self.machine, |machine| run(&self, out, machine.host))
    }
}

/// Maximum duration of a computation in days, at the speed `FASTEST`. A longer computation is an error.
const LONGEST_DAYS: f64 = 30.0;
/// Upper bound of the speed of one thread, in gates times cells per second.
const FASTEST: f64 = 1e12;
/// Size of the largest grid that is printed, in columns and rows.
const SHOWN: (usize, usize) = (120, 60);

fn run(args: &RunArgs, out: Option<Output>, host: Host) -> Result<()> {
    let whole = args.circuit.read(host)?;
    let circuit = whole.reduced();
    let (width, height) = args.grid;
    let periodic = args.periodic.unwrap_or(circuit.periodic);
    let mut grid = begin(args, &circuit, host, periodic)?;
    let work = grid.gates().max(1) as f64 * width as f64 * height as f64;
    let most = LONGEST_DAYS * 86_400.0 * FASTEST * math::par::threads() as f64 / work;
    if args.steps as f64 > most {
        let most = grouped((most as u64).max(1));
        bail!(
            "{} steps of this grid take more than {LONGEST_DAYS} days. Use {most} --steps or fewer, or a smaller --grid",
            grouped(args.steps)
        );
    }
    let mut fires = vec![0.0; args.fire_rate.map_or(0, |_| width * height)];
    let began = Instant::now();
    let mut steps = 0;
    while steps < args.steps && !SIGNALS.stopping() {
        match args.fire_rate {
            None => grid.step(None),
            Some(rate) => {
                // Splits the 64-bit step number into two words.
                let counter = [(steps >> 32) as u32, steps as u32, 0];
                fire(host.isa, args.seed, rate, counter, &mut fires);
                grid.step(Some(&|cell| fires[cell] > 0.0));
            }
        }
        steps += 1;
    }
    let seconds = began.elapsed().as_secs_f64();
    let cells_per_s = steps as f64 * width as f64 * height as f64 / seconds.max(1e-9);
    let on = (0..height).map(|row| ones(grid.cells().row(0, row), width)).sum();
    let drawn = (width <= SHOWN.0 && height <= SHOWN.1).then(|| text(&grid, args.rgb));
    let line = Line {
        gates: grid.gates(),
        circuit: circuit.name,
        width,
        height,
        periodic,
        steps,
        seconds,
        cells_per_s,
        gate_cells_per_s: cells_per_s * grid.gates() as f64,
        on,
        cells: drawn,
    };
    if let Some(Output { form, claim }) = out {
        claim.write(&match form {
            Form::Bitmap => bitmap(&grid),
            Form::Text => (text(&grid, args.rgb).replace('/', "\n") + "\n").into_bytes(),
        })?;
    }
    print(&line, args)
}

fn print(line: &Line, args: &RunArgs) -> Result<()> {
    let mut out = crate::plain::stdout();
    if args.json {
        writeln!(out, "{}", serde_json::to_string(line)?)?;
        return Ok(());
    }
    if let Some(cells) = &line.cells {
        writeln!(out, "{}", cells.replace('/', "\n"))?;
    }
    let beyond = if line.periodic { "opposite borders joined" } else { "off beyond the border" };
    let Line { circuit, gates, width, height, on, .. } = line;
    writeln!(out, "{circuit}: {gates} gates on {width}x{height} cells, {beyond}")?;
    let stopped = if line.steps < args.steps { format!(" of {}, stopped", grouped(args.steps)) } else { String::new() };
    writeln!(
        out,
        "{} steps{stopped} in {}: {:.3e} gate-cells/s, {:.3e} cells/s; {} cells are on",
        grouped(line.steps),
        clock(line.seconds),
        line.gate_cells_per_s,
        line.cells_per_s,
        grouped(*on)
    )?;
    Ok(())
}

fn begin(args: &RunArgs, circuit: &Circuit, host: Host, periodic: bool) -> Result<PackedGrid> {
    let (width, height) = args.grid;
    let needs = PackedGrid::bytes(circuit, width, height).saturating_add(match &args.out {
        Some(_) => (width as u64).saturating_mul(height as u64) / 8,
        None => 0,
    });
    let needs = needs.saturating_add(args.fire_rate.map_or(0, |_| (width as u64).saturating_mul(height as u64).saturating_mul(4)));
    if needs > host.memory_bytes {
        let megabytes = |bytes: u64| grouped(bytes.div_ceil(1 << 20));
        bail!(
            "a grid of {width}x{height} cells with {} channels needs {} MB of memory, and {} MB are free. Use a smaller --grid",
            circuit.channels(),
            megabytes(needs),
            megabytes(host.memory_bytes)
        );
    }
    if let Some(&(x, y, _)) = args.damage.iter().find(|&&(x, y, _)| x >= width || y >= height) {
        return Err(grid_error(GridError::Outside { x, y, width, height }));
    }
    let mut grid = PackedGrid::new(host.isa, circuit, width, height, periodic);
    match args.start.to_str() {
        Some("random") => {
            let mut random = Rng::new(args.seed, PURPOSE_START).sequence(0);
            grid.edit(|_, _, words| words.iter_mut().for_each(|word| *word = random.word()));
        }
        Some("blank") => {}
        Some("seed") => place(&mut grid, &Grid::seed(circuit.channels(), 1, 1))?,
        _ => place(&mut grid, &drawing(&args.start, circuit.channels())?)?,
    }
    for &(x, y, radius) in &args.damage {
        let disc = Area::Disc { x, y, radius };
        grid.edit(|_, row, words| disc.columns(row, width).for_each(|column| words[column / 32] &= !(1 << (column % 32))));
    }
    Ok(grid)
}

const PURPOSE_START: u32 = 1;

fn grid_error(error: GridError) -> anyhow::Error {
    Usage(error.to_string()).into()
}

/// Copies a drawing into the middle of the grid. Returns an error if the drawing is larger than the grid.
fn place(grid: &mut PackedGrid, drawing: &Grid) -> Result<()> {
    let (width, height) = (grid.cells().width(), grid.cells().height());
    if drawing.width > width || drawing.height > height {
        let (to_width, to_height) = (drawing.width, drawing.height);
        bail!(Usage(format!(
            "the drawing of {to_width}x{to_height} does not fit a grid of {width}x{height}. Use --grid {to_width}x{to_height} or larger"
        )));
    }
    // The middle of the grid and of the drawing is the cell with the index `size / 2`, also if the size is even.
    let (left, above) = (width / 2 - drawing.width / 2, height / 2 - drawing.height / 2);
    grid.edit(|channel, row, words| {
        if channel < drawing.channels && (above..above + drawing.height).contains(&row) {
            for x in 0..drawing.width {
                let (bit, column) = (drawing.cells[drawing.index(channel, x, row - above)], left + x);
                words[column / 32] |= u32::from(bit) << (column % 32);
            }
        }
    });
    Ok(())
}

fn drawing(path: &Path, channels: usize) -> Result<Grid> {
    let shown = path.display();
    if !path.exists() {
        bail!(Usage(format!("there is no drawing {shown}. Write random, seed or blank, or name a file")));
    }
    let bytes = files::read_any(path)?;
    let cannot = || format!("cannot start from {shown}");
    if bytes.starts_with(b"P4") {
        return read_bitmap(&bytes).with_context(cannot);
    }
    let text = str::from_utf8(files::without_mark(&bytes))
        .ok()
        .with_context(|| format!("{shown} is neither text nor a binary .pbm. Draw rows of . and #"))?;
    match Grid::draw(text, 1) {
        Err(GridError::Character { .. }) if channels >= 3 => Grid::draw(text, 3),
        drawn => drawn,
    }
    .with_context(cannot)
}

/// File for the final state.
struct Output {
    form: Form,
    claim: Claim,
}

impl Output {
    fn new(path: &Path) -> Result<Output> {
        let form = Form::of(path)?;
        Ok(Output { claim: Claim::new(path, form.kind())?, form })
    }
}

/// File format for the final state.
enum Form {
    Bitmap,
    Text,
}

impl Form {
    fn kind(&self) -> FileKind {
        let (name, example, is_kind): (_, _, fn(&mut dyn Read) -> bool) = match self {
            Form::Bitmap => ("bitmap (P4)", "grid.pbm", |file| files::begins(file, b"P4\n")),
            Form::Text => ("drawing of cells", "grid.txt", |file| {
                let mut first = Vec::new();
                let read = file.take(1024).read_to_end(&mut first);
                read.is_ok() && first.iter().all(|byte| b".#1234567\n".contains(byte))
            }),
        };
        FileKind { name, is_kind, next: "Name another file with --out", example, is_stream: false }
    }

    fn of(path: &Path) -> Result<Form> {
        match path.extension().and_then(|extension| extension.to_str()) {
            Some("pbm") => Ok(Form::Bitmap),
            Some("txt") => Ok(Form::Text),
            _ => Err(Usage(format!("{} is neither a .pbm nor a .txt. Name one of these with --out", path.display())).into()),
        }
    }
}

fn ones(words: &[u32], width: usize) -> u64 {
    let whole: u64 = words[..width / 32].iter().map(|word| u64::from(word.count_ones())).sum();
    let rest = width % 32;
    whole + if rest == 0 { 0 } else { u64::from((words[width / 32] & ((1 << rest) - 1)).count_ones()) }
}

fn text(grid: &PackedGrid, rgb: bool) -> String {
    let cells = grid.cells();
    let shown = if rgb { cells.channels().min(3) } else { 1 };
    let mut drawn = Grid::blank(shown, cells.width(), cells.height());
    for channel in 0..shown {
        for y in 0..drawn.height {
            for x in 0..drawn.width {
                let at = drawn.index(channel, x, y);
                drawn.cells[at] = (cells.row(channel, y)[x / 32] >> (x % 32) & 1) as u8;
            }
        }
    }
    drawn.text(shown)
}

/// Encodes the first channel as a binary portable bitmap. A byte contains eight cells, the first cell in the highest bit.
fn bitmap(grid: &PackedGrid) -> Vec<u8> {
    let (width, height) = (grid.cells().width(), grid.cells().height());
    let mut bytes = format!("P4\n{width} {height}\n").into_bytes();
    for row in 0..height {
        let of_row = grid.cells().row(0, row).iter().flat_map(|word| word.to_le_bytes()).map(u8::reverse_bits);
        bytes.extend(of_row.take(width.div_ceil(8)));
        if let (Some(last), beyond @ 1..) = (bytes.last_mut(), width.next_multiple_of(8) - width) {
            *last &= 0xff << beyond;
        }
    }
    bytes
}

fn read_bitmap(bytes: &[u8]) -> Result<Grid> {
    let wrong = "it is not a complete binary .pbm. Export it again, or draw rows of . and #";
    let mut lines = bytes.splitn(3, |byte| byte.is_ascii_whitespace()).skip(1);
    let width = lines.next().context(wrong)?;
    let mut rest = lines.next().context(wrong)?.splitn(2, |byte| byte.is_ascii_whitespace());
    let (height, bits) = (rest.next().context(wrong)?, rest.next().context(wrong)?);
    let side = |text: &[u8]| str::from_utf8(text).ok()?.parse::<usize>().ok().filter(|side| (1..1 << 24).contains(side));
    let (width, height) = side(width).zip(side(height)).context(wrong)?;
    let stride = width.div_ceil(8);
    if bits.len() < stride * height {
        bail!(wrong);
    }
    let mut grid = Grid::blank(1, width, height);
    for (i, cell) in grid.cells.iter_mut().enumerate() {
        let (x, y) = (i % width, i / width);
        *cell = bits[y * stride + x / 8] >> (7 - x % 8) & 1;
    }
    Ok(grid)
}
