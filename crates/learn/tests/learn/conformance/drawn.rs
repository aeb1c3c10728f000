//! Saving and restoring is bit-exact for many randomly drawn settings, and at many moments during training.

use super::subject::{Case, Subject, alike, iterate, same};
use learn::backgammon::{Published, PublishedConfig, Strong, StrongConfig};
use learn::control::{Ppo, PpoConfig};
use learn::settings::Value;
use learn::{Data, part};
use math::Rng;

/// Draws of settings. Each value of a setting occurs in the same number of draws, or in one draw more than another value. The random order
/// of the values differs between settings.
struct Draws {
    seed: u32,
    count: usize,
    /// Number of the current draw, below `count`.
    draw: usize,
    /// Number of settings that the current draw has so far.
    settings: u32,
}

impl Draws {
    /// Returns an element of `values` as the value of the next setting.
    fn of<T: Clone>(&mut self, values: &[T]) -> T {
        assert!(values.len() <= self.count, "some values would not occur");
        let mut places: Vec<usize> = (0..self.count).collect();
        Rng::new(self.seed, self.settings).sequence(0).shuffle(&mut places);
        self.settings += 1;
        values[places[self.draw] % values.len()].clone()
    }
}

/// Returns the settings of `count` draws. `settings` returns the settings of one draw.
fn drawn<C>(seed: u32, count: usize, mut settings: impl FnMut(&mut Draws) -> C) -> Vec<C> {
    (0..count).map(|draw| settings(&mut Draws { seed, count, draw, settings: 0 })).collect()
}

/// Number of draws of the settings of a learner. Eight draws contain every value of every setting.
fn count() -> usize {
    if testkit::all() { 24 } else { 8 }
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
    let settings = drawn(1, count(), |draws| PublishedConfig {
        evals: draws.of(&[2, 2, 3, 4, 7, 30]),
        actors: draws.of(&[1, 2, 3]),
        games: draws.of(&[1, 2, 5]),
        batch: draws.of(&[2, 7, 16]),
        leaves: draws.of(&[1, 4, 64]),
        round_batches: draws.of(&[1, 3, 40, 200]),
        exploration: draws.of(&[0.0, 0.5, 10.0]),
        noise: draws.of(&[0.0, 0.25, 1.0]),
        noise_alpha: draws.of(&[0.01, 0.3, 1.0]),
        temperature: draws.of(&[0.0, 0.01, 0.5, 1.0, 4.0]),
        warm_decisions: draws.of(&[0, 20, 500]),
        replay: draws.of(&[1, 16, 256, 4096]),
        minibatch: draws.of(&[4, 32]),
        passes: draws.of(&[1, 4]),
        most_updates: draws.of(&[0, 1, 8]),
        lr: draws.of(&[0.0, 1e-3, 0.1, 1.0]),
        weight_decay: draws.of(&[0.0, 1e-4, 0.1]),
        value_coef: draws.of(&[0.0, 1.0, 100.0]),
        generation_rounds: draws.of(&[1, 2, 1000]),
        duel_pairs: draws.of(&[0, 0, 1, 3]),
        width: draws.of(&[128, 16, 48]),
        blocks: draws.of(&[3, 0, 1]),
        ..PublishedConfig::default()
    });
    let restored: usize = settings.into_iter().map(|settings| resumes::<Published>(settings, (), &[1; 4], Vec::new)).sum();
    // Learners with a high learning rate diverge, so some moments are not reached.
    assert!(restored >= 2 * count(), "{restored}");
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
    let settings = drawn(2, count(), |draws| StrongConfig {
        hidden: draws.of(&[16, 32, 48]),
        games: draws.of(&[1, 3, 17, 40]),
        batch: draws.of(&[16, 100, 512]),
        lr: draws.of(&[1e-5, 1e-3, 0.1]),
        lr_steps: draws.of(&[1.0, 2000.0]),
        lambda: draws.of(&[0.0, 0.7, 1.0]),
        look_after: draws.of(&[0, 5, 3_600_000]),
        look_games: draws.of(&[1, 3]),
        look_passes: draws.of(&[1, 3]),
        look_lr: draws.of(&[0.01, 1.0, 10.0]),
        narrow: draws.of(&[8, 32, 40]),
        depth: draws.of(&[1, 1, 2, 5]),
        handmade: draws.of(&[true, false]),
        bearoff: draws.of(&[true, false]),
        ..StrongConfig::default()
    });
    let restored: usize = settings.into_iter().map(|settings| resumes::<Strong>(settings, (), &[1; 4], Vec::new)).sum();
    assert!(restored >= 2 * count(), "{restored}");
}

fn ppo_settings(draws: &mut Draws) -> PpoConfig {
    PpoConfig {
        envs: draws.of(&[32, 45, 128, 300]),
        rollout_steps: draws.of(&[4, 17, 40]),
        epochs: draws.of(&[1, 3]),
        minibatches: draws.of(&[1, 3, 16]),
        hidden: draws.of(&[8, 24]),
        shared: draws.of(&[true, false]),
        tanh: draws.of(&[true, false]),
        lr: draws.of(&[1e-5, 0.003, 0.1]),
        gamma: draws.of(&[0.8, 0.998, 0.9999]),
        lambda: draws.of(&[0.0, 0.97, 1.0]),
        entropy: draws.of(&[0.0, 0.01, 0.2]),
        target_kl: draws.of(&[0.0, 0.003]),
        anneal_steps: draws.of(&[0.0, 5000.0, 5e6]),
        lr_floor: draws.of(&[0.001, 0.1, 1.0]),
        clip_value: draws.of(&[true, false]),
        normalize_advantage: draws.of(&[true, false]),
        normalize_observation: draws.of(&[true, false]),
        normalize_reward: draws.of(&[true, false]),
        spread: draws.of(&[0.05, 1.0, 5.0]),
        squash: draws.of(&[true, false]),
        ..PpoConfig::default()
    }
}

#[test]
fn ppo_resumes_exactly_from_any_save_of_any_environment() {
    let each = if testkit::all() { 8 } else { 2 };
    let kinds: Vec<_> = worlds::control::kinds().into_iter().flat_map(|kind| std::iter::repeat_n(kind, each)).collect();
    let (mut numbers, mut restored) = (Rng::new(3, 1).sequence(0), 0);
    let mut of = |values: &[f64]| values[numbers.below(values.len() as u32) as usize];
    for (config, &kind) in drawn(3, kinds.len(), ppo_settings).into_iter().zip(&kinds) {
        // The closure returns changes of live settings: no change, or changes of three settings.
        restored += resumes::<Ppo>(config, kind, &[1, 3, 5, 7, 9], || {
            if of(&[0.0, 1.0, 1.0]) > 0.0 {
                return Vec::new();
            }
            let (lr, clip_value, anneal_steps) = (of(&[0.001, 0.01]), of(&[0.0, 1.0]), of(&[0.0, 20_000.0]));
            [("lr", lr), ("clip_value", clip_value), ("anneal_steps", anneal_steps)].map(|(name, value)| (name, value.into())).into()
        });
    }
    assert!(restored >= 3 * kinds.len(), "{restored}");
}
