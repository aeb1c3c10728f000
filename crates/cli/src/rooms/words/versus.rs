//! `hothouse bench words --versus pytorch`: whole training steps of the same shapes by PyTorch on the same cores, and ours as a ratio to
//! them.

use crate::host::Machine;
use anyhow::{Context, Result, bail};
use run::bench::Figure;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

const SCRIPT: &str = include_str!("pytorch.py");
/// How long each is timed.
const SECONDS: &str = "8";

/// Vocabulary, width, layers, heads, context and batch, as the presets have them.
const SHAPES: [(&str, [u32; 6]); 4] = [
    ("char", [65, 128, 4, 4, 64, 32]),
    ("d256", [8192, 256, 6, 8, 128, 32]),
    ("d384", [8192, 384, 6, 6, 128, 32]),
    ("d512", [8192, 512, 6, 8, 128, 32]),
];
/// What is compared: as named in the script, in figures, and behind the preset in ours, where we have two to compare. What a machine has
/// none of ours of is not run: PyTorch takes minutes a step in bf16 where the processor does not multiply it.
const MODES: [(&str, &str, &[&str]); 2] =
    [("fp32", "pytorch", &[""]), ("bf16-compile", "pytorch_bf16", &[".bf16", ".amx"])];

fn python() -> String {
    std::env::var("HOTHOUSE_PYTHON").unwrap_or("python3".into())
}

/// Whether there is a Python with torch.
pub fn check() -> Result<()> {
    let python = python();
    let found = Command::new(&python).args(["-c", "import torch"]).output();
    let found = found.with_context(|| format!("cannot start {python}. {GET_TORCH}"))?;
    if found.status.success() { Ok(()) } else { bail!("{python} has no PyTorch. {GET_TORCH}") }
}

/// Needs what was measured of ours before.
pub fn bench(
    ours: &[Figure],
    machine: &Machine,
    give: &mut dyn FnMut(Figure) -> std::io::Result<()>,
) -> Result<()> {
    let threads = machine.pool.current_num_threads();
    // What it compiles it looks up in a file.
    let script = std::env::temp_dir().join(format!("hothouse-pytorch-{}.py", std::process::id()));
    std::fs::write(&script, SCRIPT).with_context(|| format!("cannot write {}", script.display()))?;
    let done = measure(&python(), &script, threads, ours, give);
    let _ = std::fs::remove_file(&script);
    done
}

fn measure(
    python: &str,
    script: &Path,
    threads: usize,
    ours: &[Figure],
    give: &mut dyn FnMut(Figure) -> std::io::Result<()>,
) -> Result<()> {
    for (preset, shape) in SHAPES {
        let measured = |path: &str| {
            let name = format!("words.{preset}{path}.tokens_per_s");
            ours.iter().find(|figure| figure.name == name)
        };
        let modes = MODES.iter().filter(|(_, _, paths)| paths.iter().any(|path| measured(path).is_some()));
        let mut told = |mode: &str, rate: f64, torch: &str| -> Result<()> {
            let Some((_, name, paths)) = MODES.iter().find(|(known, ..)| *known == mode) else {
                return Ok(());
            };
            let figure = |name: String, value: f64, unit: String| Figure { name, value, unit: unit.into() };
            let unit = format!("tokens/s, torch {torch}, {mode}");
            give(figure(format!("words.{preset}.{name}.tokens_per_s"), rate, unit))?;
            for path in *paths {
                if let Some(of_ours) = measured(path) {
                    let unit = format!("times as fast as PyTorch {mode}");
                    give(figure(
                        format!("words.{preset}{path}.ratio_to_{name}"),
                        of_ours.value / rate,
                        unit,
                    ))?;
                }
            }
            Ok(())
        };
        let numbers = shape.map(|number| number.to_string());
        let mut child = Command::new(python)
            .arg(script)
            .args(numbers)
            .args([&threads.to_string(), SECONDS])
            .args(modes.map(|(mode, ..)| mode))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .with_context(|| format!("cannot start {python}. {GET_TORCH}"))?;
        for line in BufReader::new(child.stdout.take().context("a pipe")?).lines() {
            let line: serde_json::Value = serde_json::from_str(&line?).context("a line of JSON")?;
            let text = |name: &str| line[name].as_str().unwrap_or_default().to_string();
            told(&text("mode"), line["tokens_per_s"].as_f64().unwrap_or(f64::NAN), &text("torch"))?;
        }
        let ended = child.wait_with_output()?;
        if !ended.status.success() {
            let said = String::from_utf8_lossy(&ended.stderr);
            let last = said.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("it said nothing");
            bail!(
                "{python} failed at {preset}: {last}. Compiled modes need a C++ compiler (g++) beside torch"
            );
        }
    }
    Ok(())
}

const GET_TORCH: &str = "`python3 -m venv torch && torch/bin/pip install torch numpy` gets it; then set \
                         HOTHOUSE_PYTHON=torch/bin/python";
