//! Times PPO to a solved environment over several seeds, and shows whether it stays solved:
//! `cargo run --release -p learn --example solve -- --env Pendulum-v1 --seeds 5 --extra 60 --set lr=0.005`
//! With `--at 1,10,50` it prints instead what the greedy policy's return is after so many million steps, by seed, and the
//! median: whether learning goes on. `--env all` takes one environment after the other.
//!
//! Solved: greedy evaluation of 100 fresh episodes has the mean that its world asks for. The clock runs over
//! training and the evaluations that look for it; the `extra` iterations after it are not counted.

use learn::{Ppo, PpoConfig, Slice};
use math::Isa;
use std::time::Instant;
use worlds::Kind;

fn main() {
    let (mut seeds, mut first, mut threads, mut extra, mut isa) = (5, 1, 2, 0, Isa::best());
    let (mut env, mut settings, mut give_up, mut every) =
        ("CartPole-v1".to_string(), Vec::new(), 5_000_000, 1);
    let mut at: Vec<f64> = Vec::new();
    let mut arguments = std::env::args().skip(1);
    while let Some(flag) = arguments.next() {
        let value = arguments.next().unwrap_or_else(|| panic!("{flag} needs a value"));
        let number = || value.parse().unwrap_or_else(|_| panic!("{flag} needs a number, not {value}"));
        match flag.as_str() {
            "--seeds" => seeds = number(),
            "--first" => first = number(),
            "--threads" => threads = number(),
            "--extra" => extra = number(),
            "--isa" => isa = Isa::from_name(&value).unwrap_or_else(|| panic!("no instruction set {value}")),
            "--set" => settings.push(value),
            "--env" => env = value,
            "--at" => at = value.split(',').map(|million| million.parse().unwrap()).collect(),
            "--give-up" => give_up = number(),
            "--every" => every = number(),
            _ => panic!(
                "unknown {flag}; there are --env --at --seeds --first --threads --extra --isa --give-up --every --set"
            ),
        }
    }
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads as usize).build().unwrap();
    let kinds: Vec<_> = worlds::kinds().iter().filter(|kind| env == "all" || kind.spec.id == env).collect();
    assert!(!kinds.is_empty(), "no environment {env}");
    for kind in kinds {
        let mut config = PpoConfig::preset(kind.spec.id);
        settings.iter().for_each(|setting| set(&mut config, setting));
        let run = Run { kind, config, extra, isa, give_up: give_up.into(), every };
        pool.install(|| match &at[..] {
            [] => run.table(first..first + seeds),
            at => run.returns(first..first + seeds, at),
        });
    }
}

struct Run {
    kind: &'static Kind,
    config: PpoConfig,
    /// Iterations after it is solved.
    extra: u32,
    isa: Isa,
    /// Environment steps after which a seed counts as not solved.
    give_up: u64,
    /// Iterations between two evaluations.
    every: u32,
}

fn set(config: &mut PpoConfig, text: &str) {
    let (name, value) = text.split_once('=').unwrap_or_else(|| panic!("--set name=value, not {text}"));
    let value: f64 = value.parse().unwrap_or_else(|_| panic!("{text}: the value is no number"));
    let (count, float) = (value as usize, value as f32);
    match name {
        "envs" => config.envs = count,
        "rollout_steps" => config.rollout_steps = count,
        "epochs" => config.epochs = count,
        "minibatches" => config.minibatches = count,
        "hidden" => config.hidden = count,
        "lr" => config.lr = float,
        "gamma" => config.gamma = float,
        "lambda" => config.lambda = float,
        "clip" => config.clip = float,
        "entropy" => config.entropy = float,
        "value_coef" => config.value_coef = float,
        "max_grad_norm" => config.max_grad_norm = float,
        "anneal_steps" => config.anneal_steps = float,
        "lr_floor" => config.lr_floor = float,
        "settle" => config.settle = value != 0.0,
        "clip_value" => config.clip_value = value != 0.0,
        "target_kl" => config.target_kl = float,
        "spread" => config.spread = float,
        "shared" => config.shared = value != 0.0,
        "tanh" => config.tanh = value != 0.0,
        "squash" => config.squash = value != 0.0,
        "normalize_observation" => config.normalize_observation = value != 0.0,
        "normalize_reward" => config.normalize_reward = value != 0.0,
        "normalize_advantage" => config.normalize_advantage = value != 0.0,
        _ => panic!("no setting {name}"),
    }
}

impl Run {
    /// The return of a hundred fresh episodes after so many million steps, and the mean of the last hundred in training.
    fn returns(&self, seeds: std::ops::Range<u32>, at: &[f64]) {
        let id = self.kind.spec.id;
        let mut found = vec![[Vec::new(), Vec::new()]; at.len()];
        for seed in seeds {
            let mut ppo = Ppo::new(self.kind, self.config.clone(), seed, self.isa).unwrap();
            let mut training = f32::NAN;
            print!("{id} seed {seed}:");
            for (million, found) in at.iter().zip(&mut found) {
                while (ppo.progress().env_steps as f64) < million * 1e6 {
                    if let Slice::Iteration(stats) = ppo.advance() {
                        training = stats.mean_return.unwrap_or(f32::NAN);
                    }
                }
                while !ppo.at_boundary() {
                    ppo.advance();
                }
                let greedy = ppo.evaluate(100, seed).mean;
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

    fn table(&self, seeds: std::ops::Range<u32>) {
        let Self { kind, config, extra, isa, give_up, every } = self;
        let goal = kind.spec.solved_at as f32;
        println!("{} to {goal} on {isa:?}, {config:?}", kind.spec.id);
        println!("seed  env steps  seconds  Msteps/s  evaluation  training mean");
        let (mut times, mut solved) = (Vec::new(), 0);
        let count = seeds.len();
        for seed in seeds {
            let start = Instant::now();
            let mut ppo = Ppo::new(kind, config.clone(), seed, *isa).unwrap();
            let (mut mean, mut evaluation, mut iteration) = (0.0, f32::NEG_INFINITY, 0);
            while evaluation < goal && ppo.progress().env_steps < *give_up {
                if let Slice::Iteration(stats) = ppo.advance() {
                    mean = stats.mean_return.unwrap_or(f32::NAN);
                    iteration += 1;
                    if iteration % every == 0 {
                        evaluation = ppo.evaluate(100, seed).mean;
                    }
                }
            }
            let (time_s, steps) = (start.elapsed().as_secs_f64(), ppo.progress().env_steps);
            times.push(time_s);
            solved += u32::from(evaluation >= goal);
            let rate = steps as f64 / time_s / 1e6;
            print!("{seed:4} {steps:10} {time_s:8.3} {rate:9.2} {evaluation:11.1} {mean:14.1}");
            // What comes after: the lowest and last evaluation and training mean.
            let (mut worst, mut last, mut judged, mut below) = ((f32::MAX, f32::MAX), (0.0, 0.0), 0, 0);
            let start = Instant::now();
            for iteration in 0..*extra {
                let stats = loop {
                    if let Slice::Iteration(stats) = ppo.advance() {
                        break stats;
                    }
                };
                last.1 = stats.mean_return.unwrap_or(f32::NAN);
                if iteration % 10 == 9 {
                    last.0 = ppo.evaluate(100, seed + iteration).mean;
                    worst = (last.0.min(worst.0), last.1.min(worst.1));
                    (judged, below) = (judged + 1, below + u32::from(last.0 < goal));
                }
            }
            if *extra > 0 {
                let rate = f64::from(*extra) * (config.envs * config.rollout_steps) as f64;
                let rate = rate / start.elapsed().as_secs_f64() / 1e6;
                let ((a, b), (c, d)) = (worst, last);
                print!(
                    "   then evaluation {a:.0}..{c:.0}, {below} of {judged} below {goal}, training {b:.0}..{d:.0}, {rate:.2} Msteps/s"
                );
            }
            println!();
        }
        times.sort_by(f64::total_cmp);
        println!(
            "solved {solved} of {count}, median {:.3} s, slowest {:.3} s",
            times[count / 2],
            times[count - 1]
        );
    }
}
