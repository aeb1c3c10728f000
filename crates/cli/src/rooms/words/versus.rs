//! `hothouse bench words --versus pytorch`: measures whole training steps in PyTorch, with the shapes and the number of threads of
//! Hothouse's steps. Also prints the ratio of Hothouse's speed to PyTorch's.

use crate::host::Machine;
use crate::session::training::now_s;
use crate::shell::Emit;
use anyhow::{Context, Result, bail};
use bench::{Figure, Steps};
use math::Isa;
use std::io::{BufRead, BufReader, Lines, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};

const SCRIPT: &str = include_str!("pytorch.py");
/// Number of timed rounds. In each round, Hothouse and PyTorch are measured in turn.
const ROUNDS: usize = 5;
/// Minimum duration of one measurement of one program, in seconds.
const SECONDS: f64 = 2.0;

/// Each preset with its vocabulary size, width, layers, heads, context and batch.
pub const SHAPES: [(&str, [u32; 6]); 4] = [
    ("char", [65, 128, 4, 4, 64, 32]),
    ("d256", [8192, 256, 6, 8, 128, 32]),
    ("d384", [8192, 384, 6, 6, 128, 32]),
    ("d512", [8192, 512, 6, 8, 128, 32]),
];
/// Comparisons of PyTorch with Hothouse. Each entry contains the modes of the PyTorch script, PyTorch's name in the figures, and the texts
/// that follow the preset in the names of Hothouse's figures. The fastest mode is compared. A comparison is skipped if Hothouse measured
/// none of the entry's figures: without hardware support, a bf16 step of PyTorch takes minutes.
pub const MODES: [(&[&str], &str, &[&str]); 2] =
    [(&["fp32", "fp32-compile"], "pytorch", &[""]), (&["bf16", "bf16-compile"], "pytorch_bf16", &[".bf16", ".amx"])];

pub fn python() -> String {
    std::env::var("HOTHOUSE_PYTHON").unwrap_or("python3".into())
}

/// Returns an error if Python or its package `torch` is not installed.
pub fn check() -> Result<()> {
    let python = python();
    let found = Command::new(&python).args(["-c", "import torch"]).output();
    let found = found.with_context(|| format!("cannot start {python}. {GET_TORCH}"))?;
    if found.status.success() { Ok(()) } else { bail!("{python} has no PyTorch. {GET_TORCH}") }
}

/// Measures PyTorch for each preset that Hothouse has measured. `ours` contains Hothouse's figures.
pub fn bench(ours: &[Figure], machine: &Machine, emit: Emit) -> Result<()> {
    // The script must be a file, because `torch.compile` reads its source from a file.
    let script = tempfile::Builder::new().prefix("hothouse-pytorch-").suffix(".py").tempfile();
    let written = script.and_then(|mut file| file.write_all(SCRIPT.as_bytes()).map(|()| file));
    let script = written.context("cannot write the script for PyTorch. Free disk space, or set TMPDIR to another folder")?;
    measure(script.path(), ours, machine, emit)
}

fn measure(script: &Path, ours: &[Figure], machine: &Machine, emit: Emit) -> Result<()> {
    for (preset, shape) in SHAPES {
        let measured = |path: &str| {
            let name = format!("words.{preset}{path}.tokens_per_s");
            ours.iter().any(|figure| figure.name == name)
        };
        for (modes, name, paths) in MODES {
            let paths: Vec<_> = paths.iter().filter(|path| measured(path)).collect();
            if paths.is_empty() {
                continue;
            }
            let mut rivals = Vec::new();
            for &mode in modes {
                let rival = Rival::start(script, &shape, machine.pool.current_num_threads(), mode);
                rivals.push(rival.with_context(|| format!("PyTorch's {mode} of {preset} cannot be measured"))?);
            }
            let isa = |path: &str| match path {
                ".bf16" => Isa::Bf16,
                ".amx" => Isa::Amx,
                _ => machine.host.isa,
            };
            let mut steps: Vec<_> = paths.iter().map(|path| Steps::new(preset, isa(path))).collect();
            let (mut our_rates, mut rates) = (vec![Vec::new(); paths.len()], vec![Vec::new(); rivals.len()]);
            // Hothouse and PyTorch alternate, since the machine's speed varies over time.
            for _ in 0..ROUNDS {
                for (steps, rates) in steps.iter_mut().zip(&mut our_rates) {
                    rates.push(steps.tokens_per_s(SECONDS, now_s));
                }
                for (rival, rates) in rivals.iter_mut().zip(&mut rates) {
                    rates.push(rival.tokens_per_s()?);
                }
            }
            let torch = &rivals[0].torch;
            let mut each = Vec::new();
            for (mode, rates) in modes.iter().zip(&rates) {
                let name = format!("words.{preset}.pytorch.{mode}.tokens_per_s");
                each.push(Figure::measured(name, rates, format!("tokens/s, torch {torch}, {mode}")));
            }
            let best = fastest(&each);
            for figure in each {
                emit(figure)?;
            }
            let (mode, rates) = (modes[best], &rates[best]);
            let unit = format!("tokens/s, torch {torch}, {mode}, the faster of {}", modes.join(" and "));
            emit(Figure::measured(format!("words.{preset}.{name}.tokens_per_s"), rates, unit))?;
            for (path, ours) in paths.iter().zip(our_rates) {
                let ratios: Vec<f64> = ours.iter().zip(rates).map(|(ours, rate)| ours / rate).collect();
                let unit = format!("times as fast as PyTorch {mode}, in {ROUNDS} turns");
                emit(Figure::measured(format!("words.{preset}{path}.ratio_to_{name}"), &ratios, unit))?;
            }
        }
    }
    Ok(())
}

/// Returns the index of the figure with the highest value. The value of a figure is its median.
pub fn fastest(each: &[Figure]) -> usize {
    let indices = 0..each.len();
    indices.max_by(|&a, &b| each[a].value.total_cmp(&each[b].value)).expect("a rival has a mode")
}

/// A PyTorch process with one model in one mode.
pub struct Rival {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
    pub torch: String,
}

impl Rival {
    pub fn start(script: &Path, shape: &[u32; 6], threads: usize, mode: &str) -> Result<Rival> {
        let mut child = Command::new(python())
            .arg(script)
            .args(shape.map(|number| number.to_string()))
            .args([&threads.to_string(), &SECONDS.to_string(), mode])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .with_context(|| format!("cannot start {}. {GET_TORCH}", python()))?;
        let lines = BufReader::new(child.stdout.take().context("a pipe")?).lines();
        let mut rival = Rival { child, lines, torch: String::new() };
        rival.torch = rival.line()?["torch"].as_str().unwrap_or_default().into();
        Ok(rival)
    }

    pub fn tokens_per_s(&mut self) -> Result<f64> {
        // A failed write is ignored: if the process has ended, the read of the answer below returns the error.
        let _ = self.child.stdin.as_mut().context("a pipe")?.write_all(b"\n");
        self.line()?["tokens_per_s"].as_f64().context("a rate")
    }

    fn line(&mut self) -> Result<serde_json::Value> {
        if let Some(line) = self.lines.next() {
            return serde_json::from_str(&line?).context("a line of JSON");
        }
        let mut errors = String::new();
        self.child.stderr.take().context("a pipe")?.read_to_string(&mut errors)?;
        let last = errors.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("no message");
        bail!("{} ended: {last}. Compiled modes need a C++ compiler (g++) beside torch", python())
    }
}

impl Drop for Rival {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

const GET_TORCH: &str = "`python3 -m venv torch && torch/bin/pip install torch numpy` installs it; then set \
                         HOTHOUSE_PYTHON=torch/bin/python";
