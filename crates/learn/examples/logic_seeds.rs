//! Measures success rate and time of single members (automata of a population), with many seeds of an experiment and without restarts. A
//! perfect member has passed the 64 grids of the population's check. A confirmed member has also passed 1,000 grids of another random
//! stream. In a deterministic experiment, the check covers the only case, so every perfect member counts as confirmed.
//!
//! `cargo run --release -p learn --example logic_seeds -- life 40 3000 lr=0.05 gates=four batch=20`: experiment, number of seeds, maximum
//! number of updates, settings.

use learn::logic::check::harden;
use learn::logic::experiment::{Config, Preset};
use learn::logic::generalise::Confirmation;
use learn::logic::population::{Member, Population};
use learn::settings::{Choice, Settings};
use learn::{Learner, Slice};
use math::Isa;
use std::time::Instant;

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [name, seeds, most, settings @ ..] = &args[..] else {
        eprintln!("logic EXPERIMENT SEEDS UPDATES [setting=value …]");
        std::process::exit(2);
    };
    let preset = Preset::ALL.iter().copied().find(|preset| preset.id() == name).expect("an experiment");
    let most: u64 = most.parse().expect("updates");
    let mut config = Config { population: seeds.parse().expect("a number of seeds"), patience: u32::MAX, ..Config::preset(preset) };
    let (mut seed, mut anneal) = (1, 1.0);
    for setting in settings {
        let (key, value) = setting.split_once('=').expect("setting=value");
        let number = || value.parse::<f32>().expect("a number");
        match key {
            "seed" => seed = number() as u32,
            // Final learning rate as a share of the initial learning rate. The rate falls exponentially.
            "anneal" => anneal = number(),
            "hard" => config.hard_share = number(),
            _ => {
                let known = config.parse(key, value).unwrap_or_else(|error| panic!("{error}"));
                assert!(known, "no setting {key}");
            }
        }
    }
    let lr = config.lr;
    let mut population = Population::new(config, seed, Isa::best()).expect("it can be learned");
    let mut perfect_at: Vec<Option<u64>> = vec![None; population.members().len()];
    let mut confirmed = vec![false; population.members().len()];
    let began = Instant::now();
    while population.progress().iterations * u64::from(population.config().updates) < most && confirmed.iter().any(|confirmed| !confirmed) {
        let Slice::Ended(stats) = population.advance() else { continue };
        let iterations = population.progress().iterations;
        let config = population.config().clone();
        let done = (iterations * u64::from(config.updates)) as f32 / most as f32;
        population.set(Config { lr: lr * anneal.powf(done), ..config }).expect("a rate is live");
        for (i, member) in population.members().iter().enumerate().filter(|(_, member)| member.perfect) {
            perfect_at[i].get_or_insert(member.trainer.updates());
            confirmed[i] = confirmed[i] || is_confirmed(&population, member);
        }
        let is_last = iterations * u64::from(population.config().updates) >= most;
        if is_last || iterations.is_power_of_two() || iterations.is_multiple_of(64) {
            let hard: Vec<String> = population.members().iter().map(|m| format!("{:.4}", m.checked.wrong)).collect();
            let (soft, s) = (stats.loss.unwrap_or(0.0), began.elapsed().as_secs_f64());
            eprintln!("{iterations} iterations, {s:.1} s, soft {soft:.5}, hard {}", hard.join(" "));
        }
    }
    let updates = population.progress().updates;
    let mut found: Vec<u64> = perfect_at.iter().flatten().copied().collect();
    found.sort_unstable();
    println!(
        "{name} {}: {} of {} perfect, {} confirmed, after {found:?} updates; {updates} updates in {:.2} s",
        settings.join(" "),
        found.len(),
        perfect_at.len(),
        confirmed.iter().filter(|&&confirmed| confirmed).count(),
        began.elapsed().as_secs_f64()
    );
}

/// Returns true if a member passes the confirmation of a run (`run/src/logic/testing.rs`). In a deterministic experiment, the check already
/// covers every case.
fn is_confirmed(population: &Population, member: &Member) -> bool {
    /// Constant that separates the random draws of confirmations from the draws of checks.
    const CONFIRMATIONS: u32 = 0x00C0_FF1A;
    let experiment = population.experiment();
    if !experiment.is_random() {
        return true;
    }
    let circuit = harden(experiment, member.trainer.automaton()).pruned();
    let seed = member.seed ^ CONFIRMATIONS ^ member.trainer.updates() as u32;
    let mut confirmation = Confirmation::new(Isa::best(), experiment, circuit, seed);
    loop {
        if let Some(right) = confirmation.advance() {
            return right == 1.0;
        }
    }
}
