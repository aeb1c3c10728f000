//! Prints returns of the greedy policy after given numbers of environment steps, for each seed, and the medians over the seeds. Returns
//! after later steps show whether learning continues.
//!
//! `cargo run --release -p learn --example control_returns -- --env all --at 1,10,50 --first 101 --seeds 5`: the numbers of `--at` are
//! millions of steps. `--env all` trains each environment in turn; `--set lr=0.005` changes a setting of the environment's preset.

use learn::control::{Ppo, PpoConfig};
use learn::settings::Settings;
use learn::{Learner, Slice};
use math::Isa;
use worlds::control::Kind;

fn main() {
    let (mut seeds, mut first, mut threads, mut isa) = (5, 1, 2, Isa::best());
    let (mut env, mut settings, mut at) = ("CartPole-v1".to_string(), Vec::new(), vec![1.0, 10.0, 50.0]);
    let mut arguments = std::env::args().skip(1);
    while let Some(flag) = arguments.next() {
        let value = arguments.next().unwrap_or_else(|| panic!("{flag} needs a value"));
        let number = || value.parse().unwrap_or_else(|_| panic!("{flag} needs a number, not {value}"));
        match flag.as_str() {
            "--seeds" => seeds = number(),
            "--first" => first = number(),
            "--threads" => threads = number(),
            "--isa" => isa = Isa::from_name(&value).unwrap_or_else(|| panic!("no instruction set {value}")),
            "--set" => settings.push(value),
            "--env" => env = value,
            "--at" => at = value.split(',').map(|million| million.parse().unwrap()).collect(),
            _ => panic!("unknown {flag}; there are --env --at --seeds --first --threads --isa --set"),
        }
    }
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads as usize).build().unwrap();
    let kinds: Vec<_> = worlds::control::kinds().into_iter().filter(|kind| env == "all" || kind.spec.id == env).collect();
    assert!(!kinds.is_empty(), "no environment {env}");
    for kind in kinds {
        let mut config = PpoConfig::preset(kind);
        settings.iter().for_each(|setting| set(&mut config, setting));
        let run = Run { kind, config, isa };
        pool.install(|| run.returns(first..first + seeds, &at));
    }
}

struct Run {
    kind: &'static Kind,
    config: PpoConfig,
    isa: Isa,
}

fn set(config: &mut PpoConfig, text: &str) {
    let (name, value) = text.split_once('=').unwrap_or_else(|| panic!("--set name=value, not {text}"));
    let known = config.parse(name, value).unwrap_or_else(|error| panic!("{error}"));
    assert!(known, "no setting {name}");
}

impl Run {
    /// Trains one learner per seed. `at` lists numbers of environment steps, in millions. At each number, prints two mean returns: of 100
    /// new episodes of the greedy policy, and of the last 100 training episodes. Finally prints the medians over the seeds.
    fn returns(&self, seeds: std::ops::Range<u32>, at: &[f64]) {
        let id = &self.kind.spec.id;
        let mut found = vec![[Vec::new(), Vec::new()]; at.len()];
        for seed in seeds {
            let mut ppo = Ppo::new(self.kind, self.config.clone(), seed, self.isa).unwrap();
            let mut training = f32::NAN;
            print!("{id} seed {seed}:");
            for (million, found) in at.iter().zip(&mut found) {
                while (ppo.progress().env_steps as f64) < million * 1e6 {
                    if let Slice::Ended(stats) = ppo.advance() {
                        training = stats.mean_return.unwrap_or(f32::NAN);
                    }
                }
                while !ppo.at_boundary() {
                    ppo.advance();
                }
                let greedy = ppo.evaluate(100, seed ^ (*million as u32) << 16).mean;
                found[0].push(greedy);
                found[1].push(training);
                print!("  {million}M {greedy:.1} (training {training:.1})");
                std::io::Write::flush(&mut std::io::stdout()).unwrap();
            }
            println!();
        }
        print!("{id}, medians:");
        for (million, found) in at.iter().zip(&mut found) {
            let [greedy, training] = found.each_mut().map(|all| {
                all.sort_by(f32::total_cmp);
                all[all.len() / 2]
            });
            print!("  {million}M {greedy:.1} (training {training:.1})");
        }
        println!();
    }
}
