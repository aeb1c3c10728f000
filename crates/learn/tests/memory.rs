//! Compares memory estimates with the memory that learners use. The counter of live bytes covers the whole process, including the threads
//! of its pool. Other tests in the same process would change the counter, so this test has its own binary. The counter exists on native
//! platforms only.
#![cfg(not(target_arch = "wasm32"))]

use learn::backgammon::{Published, PublishedConfig, Strong, StrongConfig};
use learn::control::{Ppo, PpoConfig};
use learn::{Learner, Slice};
use math::Isa;
use testkit::live_bytes as live;

#[global_allocator]
static COUNTING: testkit::Counting = testkit::Counting;

/// Asserts that `estimate` is at least the memory that the learner uses, in bytes, and less than `most` times this memory.
fn check(what: &str, estimate: u64, most: f64, learner: impl FnOnce() -> Box<dyn std::any::Any>) {
    let before = live();
    let learner = learner();
    let taken = live() - before;
    drop(learner);
    let ratio = estimate as f64 / taken as f64;
    println!("{what}: {:.1} of {:.1} MB, {ratio:.2}", estimate as f64 / 1e6, taken as f64 / 1e6);
    assert!((1.0..most).contains(&ratio), "{what}: estimate {estimate} bytes, used {taken} bytes");
}

fn ppo(id: &str, config: PpoConfig) {
    let kind = worlds::control::kind(id).unwrap();
    // PPO reserves its memory before the first iteration ends.
    check(id, config.bytes(kind), 1.3, || rounds(Ppo::new(kind, config.clone(), 1, Isa::best()).unwrap(), 1));
}

fn rounds(mut learner: impl Learner + 'static, count: usize) -> Box<dyn std::any::Any> {
    for _ in 0..count {
        while !matches!(learner.advance(), Slice::Ended(_)) {}
    }
    Box::new(learner)
}

fn published(config: PublishedConfig, count: usize) {
    let what = format!("published, {} evaluations", config.evals);
    check(&what, config.bytes(), 1.3, || rounds(Published::new(config.clone(), 1, Isa::best()).unwrap(), count));
}

fn strong(config: StrongConfig, count: usize, most: f64) {
    let what = format!("strong, {} units, {} games", config.hidden, config.games);
    check(&what, config.bytes(), most, || rounds(Strong::new(config, 1, Isa::best()).unwrap(), count));
}

#[test]
fn memory_estimates_cover_actual_use() {
    // The first learner initialises data and threads of the whole process. The comparison must not count these, so one learner runs before.
    rounds(Strong::new(StrongConfig { games: 2, ..StrongConfig::default() }, 1, Isa::best()).unwrap(), 1);

    for kind in worlds::control::kinds() {
        ppo(&kind.spec.id, PpoConfig::preset(kind));
    }
    let large = PpoConfig { hidden: 512, envs: 300, rollout_steps: 4, minibatches: 2, ..PpoConfig::default() };
    ppo("CartPole-v1", large.clone());
    ppo("Pendulum-v1", PpoConfig { shared: true, tanh: true, squash: true, normalize_reward: true, ..large });
    ppo("Acrobot-v1", PpoConfig { envs: 250, rollout_steps: 512, minibatches: 64, epochs: 1, ..PpoConfig::default() });

    let small = PublishedConfig { actors: 2, round_batches: 20, duel_pairs: 0, ..PublishedConfig::default() };
    published(small.clone(), 2);
    published(PublishedConfig { evals: 2000, games: 8, ..small.clone() }, 2);
    published(PublishedConfig { evals: 30, minibatch: 8192, batch: 1024, replay: 300_000, most_updates: 1, ..small.clone() }, 1);
    published(PublishedConfig { width: 512, blocks: 6, minibatch: 1024, ..small.clone() }, 1);
    published(PublishedConfig { width: 16, blocks: 0, ..small.clone() }, 2);
    published(PublishedConfig { evals: 2, games: 256, duel_pairs: 2, generation_rounds: 1, ..small }, 2);

    // The memory of these learners increases with the length of games. Small networks play long games at first.
    strong(StrongConfig { hidden: 64, games: 300, batch: 8192, ..StrongConfig::default() }, 1, 1.3);
    strong(StrongConfig { hidden: 1024, games: 16, look_after: u64::MAX, ..StrongConfig::default() }, 3, 1.3);
    let deep = StrongConfig { hidden: 64, narrow: 128, depth: 4, games: 16, ..StrongConfig::default() };
    strong(StrongConfig { batch: 4096, look_after: u64::MAX, ..deep }, 1, 6.0);
    strong(StrongConfig::default(), 2, 3.0);
    strong(StrongConfig { hidden: 128, look_after: 0, look_games: 64, ..StrongConfig::default() }, 2, 4.0);

    // These sizes exceed the memory of any machine. The estimate itself must not allocate so much memory.
    let config = PublishedConfig { actors: 256, games: 1024, evals: 2000, ..PublishedConfig::default() };
    assert!(config.bytes() > 400 << 30);
    let config = PublishedConfig { evals: 1, ..config };
    assert_eq!(config.bytes(), u64::MAX);
    assert_eq!(StrongConfig { hidden: 7, ..StrongConfig::default() }.bytes(), u64::MAX);
    let kind = worlds::control::kind("CartPole-v1").unwrap();
    assert_eq!(PpoConfig { envs: 0, ..PpoConfig::default() }.bytes(kind), u64::MAX);
}
