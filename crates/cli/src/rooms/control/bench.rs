//! Benchmark of the time to solve CartPole. It measures whole processes of this program.

use crate::host::Machine;
use crate::shell::Emit;
use anyhow::{Context, Result, bail};
use bench::Figure;
use std::process::{Command, Stdio};
use std::time::Instant;

const SEEDS: std::ops::RangeInclusive<u32> = 101..=120;
/// Step limit of a run. A run that reaches the limit counts as unsolved.
const CAP_STEPS: &str = "20_000_000";

/// Solves CartPole with twenty seeds, each in a new process. Measures the time of the whole process, which is the time that a user waits.
/// No preset was tuned on these seeds. Every solution is confirmed by a second test on other episodes.
pub fn solve(machine: &Machine, emit: Emit) -> Result<()> {
    let program = std::env::current_exe().context("cannot find this program's executable")?;
    let (mut times_s, mut solved) = (Vec::new(), 0);
    for seed in SEEDS {
        let began = Instant::now();
        let output = Command::new(&program)
            .args(["solve", "control", "--variant", "CartPole-v1", "--json", "--seeds", "1", "--steps", CAP_STEPS])
            .args(["--isa", machine.host.isa.name(), "--threads", &machine.threads().to_string()])
            .args(["--first-seed", &seed.to_string()])
            .stdin(Stdio::null())
            .stderr(Stdio::null())
            .output()
            .context("cannot start a training process")?;
        let took_s = began.elapsed().as_secs_f64();
        let first = output.stdout.split(|&b| b == b'\n').next().unwrap_or_default();
        let line: serde_json::Value = serde_json::from_slice(first).unwrap_or_default();
        let Some(done) = line["solved"].as_bool() else {
            bail!("the training process with seed {seed} printed no result. Run `hothouse solve --first-seed {seed}` to see its error");
        };
        solved += u32::from(done);
        times_s.push(if done { took_s } else { f64::INFINITY });
    }
    let unit = "s of a whole process, over 20 seeds";
    emit(Figure::measured("control.ppo.cartpole.solve_s", &times_s, unit))?;
    emit(Figure::counted("control.ppo.cartpole.solved_of_20", solved.into(), "seeds"))?;
    Ok(())
}
