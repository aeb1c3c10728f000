//! Self-play of the published learner: choice of moves, and noise of searches.

use graph::{Params, Plan};
use learn::backgammon::PublishedConfig;
use learn::backgammon::published::{Evaluator, Weights, plan_search};
use learn::internals::published::{Actor, Edge, MOST_ACTIONS, Playing, ROOT, legal};
use math::Isa;
use std::sync::Arc;
use worlds::backgammon::Results;

/// Creates an actor whose noise has the share `noise`. Also returns its configuration, plan and weights.
fn actor(noise: f32) -> (Actor, PublishedConfig, Arc<Plan>, Weights) {
    let config = PublishedConfig { games: 6, batch: 24, evals: 12, noise, ..PublishedConfig::default() };
    let plan = plan_search(config.shape(), config.batch, Isa::best()).unwrap();
    let params = Params::new(plan.table(), 4);
    let weights = Weights::new(&plan, &params);
    (Actor::new(&plan, &config, 3, 0), config, plan, weights)
}

fn playing<'a>(config: &'a PublishedConfig, weights: &'a Weights) -> Playing<'a> {
    Playing { config, isa: Isa::best(), weights, clock: || 0.0 }
}

#[test]
fn first_decisions_are_drawn_by_visits_to_the_power_of_one_over_the_temperature() {
    const DRAWN: usize = 4000;
    let (mut actor, mut config, _, weights) = actor(0.25);
    let edges = [16, 4, 1, 0].map(|visits| {
        let mut edge = Edge::default();
        edge.visits = visits;
        edge
    });
    for temperature in [0.5, 1.0, 2.0] {
        config.temperature = temperature;
        let mut drawn = [0usize; 4];
        for _ in 0..DRAWN {
            drawn[actor.games[0].choose(&edges, playing(&config, &weights))] += 1;
        }
        let weight = |visits: f64| if visits > 0.0 { visits.powf(1.0 / f64::from(temperature)) } else { 0.0 };
        let all: f64 = [16.0, 4.0, 1.0].map(weight).iter().sum();
        for (visits, count) in [16.0, 4.0, 1.0, 0.0].into_iter().zip(drawn) {
            let (share, expected) = (count as f64 / DRAWN as f64, weight(visits) / all);
            let error = (expected * (1.0 - expected) / DRAWN as f64).sqrt();
            assert!((share - expected).abs() <= 4.0 * error, "{temperature}: {visits} visits, {share} {expected}");
        }
    }
    // Later decisions take the most visited action, as do all decisions at temperature 0.
    actor.games[0].decisions = config.warm_decisions;
    assert!((0..50).all(|_| actor.games[0].choose(&edges, playing(&config, &weights)) == 0));
    (actor.games[0].decisions, config.temperature) = (0, 0.0);
    assert!((0..50).all(|_| actor.games[0].choose(&edges, playing(&config, &weights)) == 0));
}

/// Returns two pairs: first for roots of new trees, then for roots of reused trees. A pair consists of the mean distance of the roots
/// and their number. The distance of a root is the sum over its actions of |prior - network policy|.
fn noise_of_roots(noise: f32) -> [(f32, usize); 2] {
    let (mut actor, config, plan, weights) = actor(noise);
    let (mut evaluator, mut scratch) = (Evaluator::new(&plan, config.batch), Results::new());
    let mut sums = [(0.0, 0); 2];
    for _ in 0..120 {
        actor.step(playing(&config, &weights));
        for (slot, game) in actor.search.slots.iter().zip(&actor.games) {
            if !slot.tree.is_open() {
                continue;
            }
            evaluator.clear();
            evaluator.see(&game.decision);
            evaluator.run(&weights);
            let actions: Vec<u16> = legal(&game.decision, &mut scratch).collect();
            let mut priors = vec![0.0; MOST_ACTIONS];
            evaluator.policy(&weights, 0, &actions, &mut priors);
            let of = |action: u16| priors[actions.iter().position(|&known| known == action).unwrap()];
            let edges = slot.tree.edges(ROOT);
            let far: f32 = edges.iter().map(|edge| (edge.prior - of(edge.action)).abs()).sum();
            assert!((edges.iter().map(|edge| edge.prior).sum::<f32>() - 1.0).abs() < 1e-3);
            // The budget of a reused tree is still complete until the tree's first new evaluation.
            let kept = slot.left == game.evals(&config);
            sums[usize::from(kept)].0 += far;
            sums[usize::from(kept)].1 += 1;
        }
    }
    sums.map(|(sum, count)| (sum / count.max(1) as f32, count))
}

#[test]
fn noise_is_added_to_every_root() {
    for ((without, roots), (with, _)) in noise_of_roots(0.0).into_iter().zip(noise_of_roots(0.25)) {
        assert!(roots > 20 && without < 1e-4, "{roots} roots, {without} without noise");
        // The limit is 2·0.25: noise moves at most 0.25 of the prior's mass, and the distance counts every movement twice, as a loss
        // and as a gain.
        assert!((0.15..0.5).contains(&with), "{with} with noise");
    }
}
