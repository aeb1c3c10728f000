//! What a learner saves it restores, and goes on with to the bit: for many legal settings, drawn at random, and many moments.

use learn::backgammon::{Published, PublishedConfig, SelfTaught, Strong, StrongConfig};
use learn::control::{Ppo, PpoConfig};
use learn::{Data, Learner, Slice};
use math::rng::Sequence;
use math::{Isa, Rng};

type Parts = Vec<(String, Vec<usize>, Data)>;

fn find<'a>(parts: &'a Parts, name: &str) -> Option<(&'a [usize], &'a Data)> {
    parts.iter().find(|part| part.0 == name).map(|part| (&part.1[..], &part.2))
}

/// Bits, since NaN differs from itself.
fn bits(data: &Data) -> Vec<u64> {
    match data {
        Data::F32(v) => v.iter().map(|x| u64::from(x.to_bits())).collect(),
        Data::F64(v) => v.iter().map(|x| x.to_bits()).collect(),
        Data::U32(v) => v.iter().map(|&x| u64::from(x)).collect(),
        Data::U64(v) => v.clone(),
        Data::U8(v) => v.iter().map(|&x| u64::from(x)).collect(),
    }
}

#[track_caller]
fn same(one: &Parts, other: &Parts, what: &str) {
    assert_eq!(one.len(), other.len(), "{what}");
    for (one, other) in one.iter().zip(other) {
        assert!(one.0 == other.0 && one.1 == other.1, "{what}: {} and {}", one.0, other.0);
        assert!(bits(&one.2) == bits(&other.2), "{what}: {} differs", one.0);
    }
}

/// One of some values.
fn of<T: Clone>(numbers: &mut Sequence, values: &[T]) -> T {
    values[numbers.below(values.len() as u32) as usize].clone()
}

fn round(learner: &mut impl SelfTaught) {
    while !matches!(learner.advance(), Slice::Ended(_)) {}
}

/// Some rounds with a save after each; restored, it goes on as the one that never stopped does. Gives how many saves were restored:
/// one that has diverged says so itself.
fn resumes<L: SelfTaught, E: std::fmt::Display>(
    mut learner: L,
    rounds: usize,
    restore: impl Fn(&Parts) -> Result<L, E>,
    what: &str,
) -> usize {
    let mut restored = 0;
    for moment in 0..rounds {
        assert!(learner.at_boundary());
        let parts = learner.parts();
        if !learner.is_finite() {
            return restored;
        }
        let mut again = restore(&parts).unwrap_or_else(|e| panic!("{what}, round {moment}: {e}"));
        same(&again.parts(), &parts, what);
        assert_eq!(again.progress(), learner.progress(), "{what}");
        round(&mut learner);
        round(&mut again);
        same(&again.parts(), &learner.parts(), what);
        restored += 1;
    }
    restored
}

fn published_settings(numbers: &mut Sequence) -> PublishedConfig {
    PublishedConfig {
        evals: of(numbers, &[2, 2, 3, 4, 7, 30]),
        actors: of(numbers, &[1, 2, 3]),
        games: of(numbers, &[1, 2, 5]),
        batch: of(numbers, &[2, 7, 16]),
        leaves: of(numbers, &[1, 4, 64]),
        round_batches: of(numbers, &[1, 3, 40, 200]),
        exploration: of(numbers, &[0.0, 0.5, 10.0]),
        noise: of(numbers, &[0.0, 0.25, 1.0]),
        noise_alpha: of(numbers, &[0.01, 0.3, 1.0]),
        temperature: of(numbers, &[0.0, 0.01, 0.5, 1.0, 4.0]),
        warm_decisions: of(numbers, &[0, 20, 500]),
        replay: of(numbers, &[1, 16, 256, 4096]),
        minibatch: of(numbers, &[4, 32]),
        passes: of(numbers, &[1, 4]),
        most_updates: of(numbers, &[0, 1, 8]),
        lr: of(numbers, &[0.0, 1e-3, 0.1, 1.0]),
        weight_decay: of(numbers, &[0.0, 1e-4, 0.1]),
        value_coef: of(numbers, &[0.0, 1.0, 100.0]),
        generation_rounds: of(numbers, &[1, 2, 1000]),
        duel_pairs: of(numbers, &[0, 0, 1, 3]),
        width: of(numbers, &[128, 16, 48]),
        blocks: of(numbers, &[3, 0, 1]),
        ..PublishedConfig::default()
    }
}

#[test]
fn the_published_learner_goes_on_from_any_save() {
    let mut numbers = Rng::new(1, 1).sequence(0);
    let mut restored = 0;
    for seed in 0..24 {
        let config = published_settings(&mut numbers);
        let what = format!("seed {seed} of {config:?}");
        let learner = Published::new(config.clone(), seed, Isa::best()).unwrap();
        restored += resumes(learner, 4, |parts| Published::restore(config.clone(), seed, Isa::best(), &|name| find(parts, name)), &what);
    }
    assert!(restored > 80, "{restored}");
}

/// Two evaluations a decision: half of a double's searches try no action at all, and where many are tried once all tie.
#[test]
fn searches_too_short_for_an_opinion_are_saved_and_restored() {
    let config = PublishedConfig {
        evals: 2,
        actors: 2,
        games: 8,
        batch: 16,
        round_batches: 150,
        replay: 2000,
        minibatch: 32,
        most_updates: 4,
        duel_pairs: 0,
        ..PublishedConfig::default()
    };
    let mut learner = Published::new(config.clone(), 1, Isa::best()).unwrap();
    round(&mut learner);
    let parts = learner.parts();
    let Some((_, Data::U32(replay))) = find(&parts, "replay") else { panic!("a replay") };
    // The ninth word has the number of shares above 16 bits.
    let without = replay.chunks_exact(40).filter(|sample| sample[8] >> 16 == 0).count();
    assert!(without > 10 && without < replay.len() / 40, "{without} of {}", replay.len() / 40);
    let restore = |parts: &Parts| Published::restore(config.clone(), 1, Isa::best(), &|name| find(parts, name));
    assert_eq!(resumes(learner, 3, restore, "two evaluations"), 3);
}

#[test]
fn the_strong_learner_goes_on_from_any_save() {
    let mut numbers = Rng::new(2, 1).sequence(0);
    let mut restored = 0;
    for seed in 0..24 {
        let config = StrongConfig {
            hidden: of(&mut numbers, &[16, 32, 48]),
            games: of(&mut numbers, &[1, 3, 17, 40]),
            batch: of(&mut numbers, &[16, 100, 512]),
            lr: of(&mut numbers, &[1e-5, 1e-3, 0.1]),
            lr_steps: of(&mut numbers, &[1.0, 2000.0]),
            lambda: of(&mut numbers, &[0.0, 0.7, 1.0]),
            look_after: of(&mut numbers, &[0, 5, 3_600_000]),
            look_games: of(&mut numbers, &[1, 3]),
            look_passes: of(&mut numbers, &[1, 3]),
            look_lr: of(&mut numbers, &[0.01, 1.0, 10.0]),
            narrow: of(&mut numbers, &[8, 32, 40]),
            depth: of(&mut numbers, &[1, 1, 2, 5]),
            handmade: of(&mut numbers, &[true, false]),
            bearoff: of(&mut numbers, &[true, false]),
            ..StrongConfig::default()
        };
        let what = format!("seed {seed} of {config:?}");
        let learner = Strong::new(config, seed, Isa::best()).unwrap();
        restored += resumes(learner, 4, |parts| Strong::restore(config, seed, Isa::best(), &|name| find(parts, name)), &what);
    }
    assert!(restored > 80, "{restored}");
}

fn ppo_settings(numbers: &mut Sequence) -> PpoConfig {
    let yes = |numbers: &mut Sequence| numbers.below(2) == 0;
    PpoConfig {
        envs: of(numbers, &[32, 45, 128, 300]),
        rollout_steps: of(numbers, &[4, 17, 40]),
        epochs: of(numbers, &[1, 3]),
        minibatches: of(numbers, &[1, 3, 16]),
        hidden: of(numbers, &[8, 24]),
        shared: yes(numbers),
        tanh: yes(numbers),
        lr: of(numbers, &[1e-5, 0.003, 0.1]),
        gamma: of(numbers, &[0.8, 0.998, 0.9999]),
        lambda: of(numbers, &[0.0, 0.97, 1.0]),
        entropy: of(numbers, &[0.0, 0.01, 0.2]),
        target_kl: of(numbers, &[0.0, 0.003]),
        anneal_steps: of(numbers, &[0.0, 5000.0, 5e6]),
        lr_floor: of(numbers, &[0.001, 0.1, 1.0]),
        clip_value: yes(numbers),
        normalize_advantage: yes(numbers),
        normalize_observation: yes(numbers),
        normalize_reward: yes(numbers),
        spread: of(numbers, &[0.05, 1.0, 5.0]),
        squash: yes(numbers),
        ..PpoConfig::default()
    }
}

#[test]
fn ppo_goes_on_from_any_save_of_any_environment() {
    let iterate = |ppo: &mut Ppo| while !matches!(ppo.advance(), learn::Slice::Ended(_)) {};
    let mut numbers = Rng::new(3, 1).sequence(0);
    let mut restored = 0;
    for kind in worlds::control::kinds() {
        for seed in 0..8 {
            let mut config = ppo_settings(&mut numbers);
            let what = format!("{}, seed {seed} of {config:?}", kind.spec.id);
            let mut ppo = Ppo::new(kind, config.clone(), seed, Isa::best()).unwrap();
            for moment in 0..5 {
                let state = ppo.parts();
                if !ppo.is_finite() {
                    break;
                }
                let again = Ppo::restore(kind, config.clone(), seed, Isa::best(), &|name| find(&state, name));
                let mut again = again.unwrap_or_else(|e| panic!("{what}, moment {moment}: {e}"));
                same(&again.parts(), &state, &what);
                // What may change while it trains.
                if numbers.below(3) == 0 {
                    config.lr = of(&mut numbers, &[0.001, 0.01]);
                    config.clip_value = numbers.below(2) == 0;
                    config.anneal_steps = of(&mut numbers, &[0.0, 20_000.0]);
                    ppo.set_config(config.clone()).unwrap();
                    again.set_config(config.clone()).unwrap();
                }
                for _ in 0..1 + 2 * moment {
                    iterate(&mut ppo);
                    iterate(&mut again);
                }
                same(&again.parts(), &ppo.parts(), &what);
                restored += 1;
            }
        }
    }
    assert!(restored > 220, "{restored}");
}

/// Weights that are no numbers any more are told apart, so that whoever saves keeps the last good save.
#[test]
fn what_has_diverged_says_so() {
    let kind = worlds::control::kind("Pendulum-v1").unwrap();
    let config = PpoConfig { envs: 32, rollout_steps: 8, minibatches: 1, hidden: 8, ..PpoConfig::default() };
    let mut state = Ppo::new(kind, config.clone(), 1, Isa::best()).unwrap().parts();
    for (_, _, data) in state.iter_mut().filter(|part| part.0.ends_with("weight")) {
        let Data::F32(values) = data else { panic!("weights") };
        values.iter_mut().for_each(|x| *x *= 1e30);
    }
    let restore = |state: &Parts| Ppo::restore(kind, config.clone(), 1, Isa::best(), &|name| find(state, name));
    let mut ppo = restore(&state).unwrap();
    assert!(ppo.is_finite());
    while !matches!(ppo.advance(), learn::Slice::Ended(_)) {}
    assert!(!ppo.is_finite());
}
