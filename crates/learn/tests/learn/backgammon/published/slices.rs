//! Limits for the slices of the published learner.

use learn::backgammon::PublishedConfig;
use learn::backgammon::published::plan_learning;
use learn::internals::LONGEST;
use learn::internals::published::{BATCHES, Cut, Limits, SHARDS, Stretch};
use math::Isa;

fn largest() -> PublishedConfig {
    PublishedConfig {
        width: 1024,
        blocks: 16,
        actors: 256,
        games: 1024,
        batch: 1024,
        round_batches: 1,
        minibatch: 65_536,
        most_updates: 1_000_000,
        ..PublishedConfig::default()
    }
}

fn cut(config: &PublishedConfig) -> Cut {
    let plan = plan_learning(config.shape(), config.minibatch / SHARDS, Isa::best());
    Cut::new(&plan.expect("a plan"), config.shape(), config.minibatch, LONGEST / 2.0)
}

fn stays_within(config: &PublishedConfig) {
    config.check().expect("sound settings");
    let limits = Limits::new(config, LONGEST);
    let one = limits.played(&Stretch { batches: 1, actors: 0..1 });
    assert_eq!(one, (config.batch * config.shape().decision_products()) as f64);
    let cut = cut(config);
    let mut first = 0;
    while first < config.actors {
        let stretch = limits.stretch(first..config.actors, config.round_batches);
        assert!(stretch.batches > 0 && !stretch.actors.is_empty());
        let played = limits.played(&stretch);
        let all = played + cut.piece * limits.pieces(&cut, played) as f64;
        assert!(all <= LONGEST, "{all:e} multiply-adds: {config:?}");
        first = stretch.actors.end;
    }
    let alone = limits.pieces(&cut, 0.0);
    assert!(alone > 0 && cut.piece * alone as f64 <= LONGEST, "{alone} pieces: {config:?}");
}

#[test]
fn slices_stay_within_the_limit() {
    stays_within(&largest());
    stays_within(&PublishedConfig { width: 512, minibatch: 8192, ..largest() });
    stays_within(&PublishedConfig { width: 16, blocks: 0, round_batches: 1000, ..largest() });
    stays_within(&PublishedConfig { actors: 1, minibatch: 256, ..largest() });
    stays_within(&PublishedConfig { batch: 2, minibatch: 16_384, ..largest() });
}

#[test]
fn default_settings_are_not_cut() {
    let config = PublishedConfig::default();
    let limits = Limits::new(&config, LONGEST);
    let stretch = limits.stretch(0..config.actors, config.round_batches);
    assert_eq!(stretch, Stretch { batches: BATCHES, actors: 0..config.actors });
    assert_eq!(limits.stretch(0..config.actors, 0), Stretch { batches: 0, actors: 0..0 });
    let cut = cut(&config);
    assert_eq!(cut.pieces(), 1);
    assert!(limits.pieces(&cut, limits.played(&stretch)) > 20);
}
