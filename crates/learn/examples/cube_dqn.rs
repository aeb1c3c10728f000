//! Trains the deep-Q learner of the 2x2x2 for so many seconds of processor time, and tells how much of each distance it solves
//! greedily, over all states, and how long a training step takes on one thread.
//! `cargo run --release -p learn --example cube_dqn -- --preset tuned --seconds 120 --set batch=1024 --every 30`
//! Judging is not counted in the seconds.

use learn::cube::{CubeLearner, Dqn, DqnConfig, Evaluator, Exhaustive, Greedy, Judge, Preset, Scores};
use learn::settings::Settings;
use learn::{Learner, Slice};
use math::{Isa, Rng, par};
use std::sync::Arc;
use std::time::Instant;
use worlds::cube::{Actions, Distances, Puzzle, Two};

fn main() {
    let (mut preset, mut seconds, mut every, mut seed, mut threads) = (Preset::Tuned, 120.0, f64::INFINITY, 1, 2);
    let (mut settings, mut steps) = (Vec::new(), 0);
    let mut arguments = std::env::args().skip(1);
    while let Some(flag) = arguments.next() {
        let value = arguments.next().unwrap_or_else(|| panic!("{flag} needs a value"));
        let number = || value.parse::<f64>().unwrap_or_else(|_| panic!("{flag} needs a number, not {value}"));
        match flag.as_str() {
            "--preset" => {
                let found = Preset::ALL.into_iter().find(|preset| preset.id() == value);
                preset = found.unwrap_or_else(|| panic!("no preset {value}"));
            }
            "--seconds" => seconds = number(),
            "--every" => every = number(),
            "--seed" => seed = number() as u32,
            "--threads" => threads = number() as usize,
            "--steps" => steps = number() as u64,
            "--set" => settings.push(value),
            _ => {
                panic!("unknown {flag}; there are --preset --seconds --every --seed --threads --steps --set")
            }
        }
    }
    let mut config = DqnConfig::preset(preset);
    for setting in &settings {
        let (name, value) = setting.split_once('=').unwrap_or_else(|| panic!("{setting} sets nothing"));
        let set = config.parse(name, value).unwrap_or_else(|error| panic!("{error}"));
        assert!(set, "no setting {name}");
    }
    println!("{config:?}");
    if steps > 0 {
        return time(config, steps);
    }
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
    pool.install(|| train(config, seconds, every, seed));
}

fn train(config: DqnConfig, seconds: f64, every: f64, seed: u32) {
    let exact = Arc::new(Distances::new(config.metric));
    let actions = Actions::of::<Two>(config.metric);
    let mut all = Exhaustive::new(exact.clone());
    let mut learner = Dqn::<Two>::new(config, Some(exact.clone()), seed, Isa::best()).expect("sound settings");
    learner.set_clock(wall_s);
    let mut judge = learner.judge().expect("a plan");
    let (mut counted, mut wall, mut due, mut began, mut parts) = (0.0, 0.0, every, cpu_s(), [0.0; 4]);
    while counted < seconds {
        let clock = wall_s();
        let stats = loop {
            if let Slice::Ended(stats) = learner.advance() {
                break stats;
            }
        };
        parts.iter_mut().zip(stats.parts_s).for_each(|(sum, part)| *sum += part);
        wall += wall_s() - clock;
        counted += cpu_s() - began;
        if counted >= due || counted >= seconds {
            let (progress, play) = (learner.progress(), stats.play.expect("it plays"));
            println!(
                "{counted:.1} CPU-s, {wall:.1} s: {} updates, {:.2}M states, {:.2}M moves, {:.3} CPU-ms an update; parts {parts:.1?}; \
                 loss {:.5}, gradient {:.3}, q {:.3}, epsilon {:.3}, depth {}, solved {:.3}",
                progress.updates,
                progress.states as f64 / 1e6,
                progress.moves as f64 / 1e6,
                1e3 * counted / progress.updates as f64,
                stats.loss,
                stats.grad_norm,
                play.mean_q,
                play.epsilon,
                play.depth,
                play.solved.unwrap_or(f32::NAN)
            );
            judge.set(learner.weights());
            let ahead = all.run(&mut Ahead { judge: &mut judge, actions: actions.count(), scores: Vec::new() });
            let shares = Greedy::ALL.map(|greedy| {
                let rows = ahead.rows(greedy).iter().map(|row| format!("{:.1}", 100.0 * row.share()));
                rows.collect::<Vec<_>>().join(" ")
            });
            println!("  by the values of what actions lead to: {}; onward {}", shares[0], shares[1]);
            let report = all.run(&mut judge);
            for greedy in Greedy::ALL {
                let rows = report.rows(greedy).iter().map(|row| format!("{:.1}", 100.0 * row.share()));
                println!(
                    "  greedy {greedy:?} {:.2}% of all; by distance {}",
                    100.0 * report.total(greedy).share(),
                    rows.collect::<Vec<_>>().join(" ")
                );
            }
            // By the moves of a scramble, as others count; `moves` tells of play that takes none back.
            let mut numbers = Rng::new(5, 5).sequence(0);
            let mut onward = |depth: usize| {
                let (mut states, mut taken) = ([Two::SOLVED; 14], [0; 14]);
                let mut solves = || {
                    Two::fill_walk(&actions, &mut numbers, &mut states[..depth], &mut taken[..depth]);
                    all.moves(states[depth - 1]).is_some()
                };
                let solved = (0..2000).filter(|_| solves()).count();
                format!("{depth}: {:.1}", solved as f64 / 20.0)
            };
            let shares: Vec<String> = [4, 6, 8, 10, 14].map(&mut onward).into();
            println!("  of scrambles, onward: {}", shares.join(", "));
            due += every;
        }
        began = cpu_s();
    }
}

/// How long a step takes on one thread: drawing a batch, and learning from it.
fn time(config: DqnConfig, steps: u64) {
    let exact = Some(Arc::new(Distances::new(config.metric)));
    let mut learner = Dqn::<Two>::new(config, exact, 1, Isa::best()).expect("sound settings");
    par::Threads::of(1).expect("one").run(|| {
        while learner.replay().len() < learner.config().warmup {
            learner.play();
        }
        for _ in 0..5 {
            let (mut sampling, mut learning) = (0.0, 0.0);
            for _ in 0..steps {
                let began = Instant::now();
                learner.sample();
                let sampled = Instant::now();
                learner.learn();
                sampling += (sampled - began).as_secs_f64();
                learning += sampled.elapsed().as_secs_f64();
            }
            let ms = |seconds: f64| 1e3 * seconds / steps as f64;
            println!("{:.4} ms a step, {:.4} with sampling", ms(learning), ms(sampling + learning));
        }
    });
}

/// Judges states by the best of their actions.
struct Ahead<'a> {
    judge: &'a mut Evaluator<Two>,
    actions: usize,
    scores: Vec<f32>,
}

impl Judge<Two> for Ahead<'_> {
    fn scores(&self) -> Scores {
        Scores::Value
    }

    fn judge(&mut self, states: &[Two], values: &mut [f32]) {
        let actions = self.actions;
        self.scores.resize(states.len() * actions, 0.0);
        self.judge.judge(states, &mut self.scores);
        for (value, scores) in values.iter_mut().zip(self.scores.chunks_exact(actions)) {
            *value = scores.iter().copied().fold(f32::INFINITY, f32::min);
        }
    }
}

fn wall_s() -> f64 {
    static BEGAN: std::sync::LazyLock<Instant> = std::sync::LazyLock::new(Instant::now);
    BEGAN.elapsed().as_secs_f64()
}

/// Seconds that all threads of this process have worked.
fn cpu_s() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").expect("a Linux system");
    let ticks = |field: &str| field.parse::<f64>().expect("a number of ticks");
    let fields: Vec<&str> = stat.rsplit(") ").next().expect("fields").split(' ').collect();
    (ticks(fields[11]) + ticks(fields[12])) / 100.0
}
