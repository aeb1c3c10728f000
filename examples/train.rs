//! Trains CartPole until it is solved, and saves the run. Start: `cargo run --release -p run --example train`.

use run::protocol::{Command, Event};
use run::{Host, RunError};

fn main() -> Result<(), RunError> {
    train("run.safetensors".as_ref())
}

pub fn train(file: &std::path::Path) -> Result<(), RunError> {
    let began = std::time::Instant::now();
    let mut run = run::begin(run::default_config(), Host::new(math::Isa::best()))?;
    run.command(Command::Start)?;
    while run.solved().is_none() {
        run.advance(began.elapsed().as_secs_f64());
        for event in run.events() {
            if let Event::Test(row) = event {
                println!("{} steps: mean return {:.1}", row.progress.counts[0], row.values[0].unwrap_or(f64::NAN));
            }
        }
    }
    println!("solved; digest {}", run.digest().weights);
    std::fs::write(file, run.save()?).map_err(RunError::below)
}
