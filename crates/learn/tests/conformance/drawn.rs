//! Saving and restoring is bit-exact for many randomly drawn settings, and at many moments during training.

use crate::subject::{Case, Subject, alike, iterate, same};
use learn::backgammon::{Published, PublishedConfig, Strong, StrongConfig};
use learn::control::{Ppo, PpoConfig};
use learn::settings::Value;
use learn::{Data, part};
use math::Rng;
use math::rng::Sequence;

/// Returns a random element of `values`.
fn of<T: Clone>(numbers: &mut Sequence, values: &[T]) -> T {
    values[numbers.below(values.len() as u32) as usize].clone()
}

/// Saves the learner once for each number in `moments`, and restores each save as a second learner. Changes the same settings of both
/// learners, and runs both for this number of iterations. Both learners must then have the same state. Returns the number of restored
/// saves, which is smaller than the number of moments if the learner diverges.
fn resumes<S: Subject>(
    config: S::Config,
    world: S::World,
    moments: &[u64],
    mut changes: impl FnMut() -> Vec<(&'static str, Value)>,
) -> usize {
    let what = format!("{config:?}");
    let case: Case<S> = Case { name: what.clone(), world, config, warm: 0, wide: None };
    let mut learner = case.begin();
    for (restored, &iterations) in moments.iter().enumerate() {
        let parts = learner.parts();
        if !learner.is_finite() {
            return restored;
        }
        let config = learner.config().clone();
        let mut again = case.restore(&config, &parts).unwrap_or_else(|error| panic!("{what}, moment {restored}: {error}"));
        same(&again.parts(), &parts, &what);
        for (name, value) in changes() {
            learner.change(name, &value).expect("a live setting");
            again.change(name, &value).expect("a live setting");
        }
        iterate(&mut learner, iterations);
        iterate(&mut again, iterations);
        alike(&again, &learner, &what);
    }
    moments.len()
}

#[test]
fn published_learner_resumes_exactly_from_any_save() {
    let numbers = &mut Rng::new(1, 1).sequence(0);
    let mut settings = || PublishedConfig {
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
    };
    let restored: usize = (0..24).map(|_| resumes::<Published>(settings(), (), &[1; 4], Vec::new)).sum();
    assert!(restored > 80, "{restored}");
}

/// With two evaluations per decision, many searches visit no action. Their samples contain no visit shares.
#[test]
fn searches_without_visits_are_saved_and_restored() {
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
    let case: Case<Published> = Case { name: "two evaluations".into(), world: (), config: config.clone(), warm: 1, wide: None };
    let parts = learn::Learner::parts(&case.warmed());
    let Some((_, Data::U32(replay))) = part(&parts, "replay") else { panic!("a replay") };
    // In a sample, the upper 16 bits of the word at index 8 are the number of shares.
    let without = replay.chunks_exact(40).filter(|sample| sample[8] >> 16 == 0).count();
    assert!(without > 10 && without < replay.len() / 40, "{without} of {}", replay.len() / 40);
    assert_eq!(resumes::<Published>(config, (), &[1; 4], Vec::new), 4);
}

#[test]
fn strong_learner_resumes_exactly_from_any_save() {
    let numbers = &mut Rng::new(2, 1).sequence(0);
    let mut settings = || StrongConfig {
        hidden: of(numbers, &[16, 32, 48]),
        games: of(numbers, &[1, 3, 17, 40]),
        batch: of(numbers, &[16, 100, 512]),
        lr: of(numbers, &[1e-5, 1e-3, 0.1]),
        lr_steps: of(numbers, &[1.0, 2000.0]),
        lambda: of(numbers, &[0.0, 0.7, 1.0]),
        look_after: of(numbers, &[0, 5, 3_600_000]),
        look_games: of(numbers, &[1, 3]),
        look_passes: of(numbers, &[1, 3]),
        look_lr: of(numbers, &[0.01, 1.0, 10.0]),
        narrow: of(numbers, &[8, 32, 40]),
        depth: of(numbers, &[1, 1, 2, 5]),
        handmade: of(numbers, &[true, false]),
        bearoff: of(numbers, &[true, false]),
        ..StrongConfig::default()
    };
    let restored: usize = (0..24).map(|_| resumes::<Strong>(settings(), (), &[1; 4], Vec::new)).sum();
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
fn ppo_resumes_exactly_from_any_save_of_any_environment() {
    let (mut numbers, mut restored) = (Rng::new(3, 1).sequence(0), 0);
    for kind in worlds::control::kinds().iter().flat_map(|kind| [kind; 8]) {
        let config = ppo_settings(&mut numbers);
        // The closure returns changes of live settings: no change, or changes of three settings.
        restored += resumes::<Ppo>(config, kind, &[1, 3, 5, 7, 9], || {
            if numbers.below(3) > 0 {
                return Vec::new();
            }
            let lr = of(&mut numbers, &[0.001, 0.01]);
            let clip_value = f64::from(numbers.below(2));
            let anneal_steps = of(&mut numbers, &[0.0, 20_000.0]);
            [("lr", lr), ("clip_value", clip_value), ("anneal_steps", anneal_steps)].map(|(name, value)| (name, value.into())).into()
        });
    }
    assert!(restored > 220, "{restored}");
}
