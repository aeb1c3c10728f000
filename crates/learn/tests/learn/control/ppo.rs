//! Mechanics of PPO: the structure of an iteration, evaluation during training, and invalid settings and checkpoints. `learning.rs`
//! tests that training succeeds; `conformance` tests the properties of all learners.

use learn::control::{IterationStats, Ppo, PpoConfig, PpoError};
use learn::internals::ppo::divided;
use learn::{Data, Learner, Parts, Slice, part};
use math::Isa;
use testkit::test;
use worlds::control::Kind;

fn cart_pole() -> &'static Kind {
    worlds::control::kind("CartPole-v1").unwrap()
}

fn small() -> PpoConfig {
    // 300 environments do not divide evenly into panels of 32 or actors of 128 environments. A rollout of 40 steps takes several slices.
    PpoConfig { envs: 300, rollout_steps: 40, epochs: 2, minibatches: 3, hidden: 16, ..PpoConfig::default() }
}

/// Returns environments and settings that together cover every kind of action, normalisation and loss.
fn ways() -> [(&'static Kind, PpoConfig); 5] {
    let normalized = PpoConfig { normalize_observation: true, normalize_reward: true, ..small() };
    [
        ("CartPole-v1", small()),
        ("Pendulum-v1", PpoConfig { squash: true, ..normalized.clone() }),
        ("MountainCarContinuous-v0", PpoConfig { spread: 0.5, target_kl: 0.003, clip_value: true, ..small() }),
        ("Acrobot-v1", PpoConfig { shared: true, tanh: true, ..small() }),
        ("LunarLander-v3", PpoConfig { tanh: true, clip_value: true, ..normalized }),
    ]
    .map(|(id, config)| (worlds::control::kind(id).unwrap(), config))
}

fn ppo(config: &PpoConfig) -> Ppo {
    Ppo::new(cart_pole(), config.clone(), 7, Isa::best()).unwrap()
}

fn iterate(ppo: &mut Ppo, iterations: usize) -> IterationStats {
    let mut last = IterationStats::default();
    for _ in 0..iterations {
        last = loop {
            if let Slice::Ended(stats) = ppo.advance() {
                break stats;
            }
        };
    }
    last
}

fn restore(kind: &'static Kind, config: &PpoConfig, state: &Parts) -> Result<Ppo, PpoError> {
    Ppo::restore(kind, config.clone(), 7, Isa::best(), &|name| part(state, name))
}

#[cfg(not(target_arch = "wasm32"))] // a page has no thread pool of this kind
#[test]
fn evaluation_does_not_depend_on_threads() {
    for (kind, config) in ways() {
        let run = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| Ppo::new(kind, config.clone(), 7, Isa::best()).unwrap().evaluate(150, 3))
        };
        assert_eq!(run(1), run(3), "{}", kind.spec.id);
    }
}

#[test]
fn evaluation_and_predictions_do_not_affect_training() {
    for (kind, config) in ways() {
        let new = || Ppo::new(kind, config.clone(), 7, Isa::best()).unwrap();
        let (mut watched, mut alone) = (new(), new());
        iterate(&mut alone, 2);
        let state = vec![0.1; kind.spec.observation.len()];
        while watched.progress().iterations < 2 {
            watched.advance();
            let mut odds = vec![0.0; watched.policy_len()];
            watched.predict(&state, &mut odds, &mut [0.0]);
            watched.evaluate(3, 1);
            watched.record(true);
        }
        assert_eq!(watched.parts(), alone.parts(), "{}", kind.spec.id);
    }
}

#[derive(PartialEq)]
enum Done {
    Rollout,
    Update,
}

/// Runs a slice. Returns the kind of work that the slice did. If the slice ended an iteration, returns the iteration's statistics as `Err`.
fn slice(ppo: &mut Ppo) -> Result<Done, Box<IterationStats>> {
    let before = ppo.progress().env_steps;
    match ppo.advance() {
        Slice::Worked if ppo.progress().env_steps > before => Ok(Done::Rollout),
        Slice::Worked => Ok(Done::Update),
        Slice::Ended(stats) => Err(Box::new(stats)),
        other => panic!("nothing is offloaded, but got {other:?}"),
    }
}

/// An evaluation within an iteration uses the policy that acted in the rollout, even if the weights have already changed.
#[test]
fn evaluation_within_an_iteration_uses_the_acting_policy() {
    for (kind, config) in ways() {
        let mut ppo = Ppo::new(kind, PpoConfig { target_kl: 0.0, ..config }, 7, Isa::best()).unwrap();
        let states: Vec<f32> = (0..3 * kind.spec.observation.len()).map(|i| 0.1 * i as f32 - 0.2).collect();
        let predictions = |ppo: &mut Ppo| {
            let mut odds = vec![0.0; 3 * ppo.policy_len()];
            ppo.predict(&states, &mut odds, &mut [0.0; 3]);
            (odds, ppo.evaluate(40, 3))
        };
        iterate(&mut ppo, 1);
        let before = predictions(&mut ppo);
        let mut updates = 0;
        while updates < 4 {
            updates += usize::from(slice(&mut ppo) == Ok(Done::Update));
        }
        assert_eq!(predictions(&mut ppo), before, "{}", kind.spec.id);
        iterate(&mut ppo, 1);
        assert_ne!(predictions(&mut ppo), before, "{}", kind.spec.id);
    }
}

/// Acting and learning use two plans with different sample layouts. In the first minibatch, both plans must compute the same policy, for
/// all normalisers and action types.
#[test]
fn the_first_minibatch_uses_the_acting_policy() {
    for (kind, config) in ways() {
        let config = PpoConfig { epochs: 1, minibatches: 1, ..config };
        let mut ppo = Ppo::new(kind, config, 7, Isa::best()).unwrap();
        for _ in 0..4 {
            let stats = iterate(&mut ppo, 1);
            assert_eq!(stats.clip_fraction, 0.0, "{}", kind.spec.id);
            assert!(stats.approx_kl.abs() < 1e-6, "{}: {stats:?}", kind.spec.id);
            // Advantages have mean 0 over all samples. The minibatch omits a few samples that do not fill a shard, so its mean is only near
            // 0.
            assert!(stats.policy_loss.abs() < 1e-3, "{}: {stats:?}", kind.spec.id);
            assert!(stats.grad_norm > 0.0);
        }
    }
}

#[test]
fn the_target_divergence_ends_learning() {
    let config = PpoConfig { epochs: 50, minibatches: 1, anneal_steps: 0.0, ..small() };
    let updates = |target_kl| {
        let mut ppo = ppo(&PpoConfig { target_kl, ..config.clone() });
        let mut updates = 1;
        while let Ok(done) = slice(&mut ppo) {
            updates += usize::from(done == Done::Update);
        }
        updates
    };
    let (all, far, near) = (updates(0.0), updates(0.005), updates(0.001));
    assert_eq!(all, 50);
    assert!(1 < near && near < far && far < all, "{near}, {far}, {all}");
}

#[test]
fn iterations_have_the_expected_counts() {
    let config = small();
    let mut ppo = ppo(&config);
    assert!(ppo.at_boundary());
    let (mut rollouts, mut updates) = (0, 0);
    let stats = loop {
        match slice(&mut ppo) {
            Ok(Done::Rollout) => rollouts += 1,
            Ok(Done::Update) => updates += 1,
            Err(stats) => break *stats,
        }
        assert!(!ppo.at_boundary());
    };
    assert!(ppo.at_boundary());
    assert_eq!((rollouts, updates), (2, 5), "40 steps in slices of 27; 2 epochs of 3 minibatches");
    assert_eq!(ppo.progress().env_steps, 300 * 40);
    assert_eq!(stats.episodes, ppo.progress().episodes);
    // With random actions, a pole falls after about 22 steps. The policy cannot balance a pole for long yet.
    let mean = stats.mean_return.unwrap();
    assert!((10.0..40.0).contains(&mean), "{mean}");
    assert!((stats.entropy - 2f32.ln()).abs() < 0.05, "{stats:?}");
    assert!(stats.grad_norm > 0.0 && stats.approx_kl >= 0.0 && stats.value_loss > 0.0);
}

/// After every slice, the steps of the current rollout can be read until the next rollout starts.
#[test]
fn rollouts_can_be_read_step_by_step() {
    let mut ppo = ppo(&PpoConfig { epochs: 1, ..small() });
    assert_eq!(ppo.recorded().steps, 0, "no rollout yet");
    let (mut observations, mut ended, mut seen) = (Vec::new(), Vec::new(), 0);
    for _ in 0..2 {
        while !matches!(ppo.advance(), Slice::Ended(_)) {
            let recorded = ppo.recorded();
            recorded.read((seen - recorded.first) as usize..recorded.steps, &mut observations, &mut ended);
            seen = recorded.now;
        }
        let recorded = ppo.recorded();
        assert_eq!((recorded.now, recorded.steps, recorded.envs, recorded.features), (seen, 40, 300, 4), "all steps of the last rollout");
    }
    let row = 4 * 320;
    assert_eq!((observations.len(), ended.len()), (80 * row, 80 * 300));
    let angle = |t: usize, env: usize| observations[t * row + ((env / 32) * 4 + 2) * 32 + env % 32];
    let mut ends = 0;
    for (t, env) in (1..80).flat_map(|t| (0..300).map(move |env| (t, env))) {
        assert!(angle(t, env).abs() <= 0.21);
        if ended[(t - 1) * 300 + env] == 1 {
            ends += 1;
            assert!(angle(t, env).abs() <= 0.05, "a new episode starts upright");
        }
    }
    assert!(ends > 300, "{ends}");
}

#[test]
fn a_learning_rate_of_0_changes_nothing() {
    let config = small();
    let mut ppo = ppo(&config);
    iterate(&mut ppo, 1);
    let before = ppo.params().values().to_vec();
    ppo.set_config(PpoConfig { lr: 0.0, anneal_steps: 0.0, ..config }).unwrap();
    assert_eq!(iterate(&mut ppo, 1).lr, 0.0);
    assert_eq!(ppo.params().values(), before);
}

#[test]
fn the_learning_rate_decays_to_its_floor() {
    let steps = 300.0 * 40.0;
    let mut ppo = ppo(&PpoConfig { lr: 0.001, anneal_steps: 4.0 * steps, lr_floor: 0.05, ..small() });
    let rates: Vec<f32> = (0..6).map(|_| iterate(&mut ppo, 1).lr / 0.001).collect();
    for (rate, expected) in rates.into_iter().zip([0.75, 0.5, 0.25, 0.05, 0.05, 0.05]) {
        assert!((rate - expected).abs() < 1e-4, "{rate}, not {expected}");
    }
    // If the learning rate changes, annealing starts again. A learner restored from a checkpoint continues the annealing.
    ppo.set_config(PpoConfig { lr: 0.002, ..ppo.config().clone() }).unwrap();
    assert!((iterate(&mut ppo, 1).lr / 0.002 - 0.75).abs() < 1e-4);
    let mut resumed = restore(cart_pole(), ppo.config(), &ppo.parts()).unwrap();
    assert_eq!(ppo.evaluate(5, 1), resumed.evaluate(5, 1));
    assert!((iterate(&mut resumed, 1).lr / 0.002 - 0.5).abs() < 1e-4);
}

#[test]
fn the_smallest_sizes_work() {
    for (envs, rollout_steps, minibatches) in [(1, 4, 1), (33, 1, 4), (129, 2, 1)] {
        let config = PpoConfig { envs, rollout_steps, minibatches, hidden: 1, epochs: 1, ..PpoConfig::default() };
        let mut ppo = ppo(&config);
        let stats = iterate(&mut ppo, 3);
        assert!(stats.policy_loss.is_finite() && stats.value_loss.is_finite());
        assert_eq!(ppo.progress().env_steps, (3 * envs * rollout_steps) as u64);
    }
}

#[test]
fn invalid_settings_return_errors_with_a_remedy() {
    let preset = PpoConfig::default;
    for (config, word) in [
        (PpoConfig { envs: 0, ..preset() }, "envs"),
        (PpoConfig { lr: f32::NAN, ..preset() }, "lr"),
        (PpoConfig { gamma: 1.5, ..preset() }, "gamma"),
        (PpoConfig { envs: 65_536, rollout_steps: 1024, ..preset() }, "lower"),
        (PpoConfig { envs: 1, rollout_steps: 4, minibatches: 4, ..preset() }, "lower minibatches"),
    ] {
        let error = Ppo::new(cart_pole(), config, 1, Isa::best()).err().expect("refused").to_string();
        assert!(error.contains(word), "{error}");
    }
}

#[test]
fn checkpoints_with_invalid_values_are_rejected() {
    let config = PpoConfig { normalize_observation: true, normalize_reward: true, ..small() };
    let mut run = ppo(&config);
    iterate(&mut run, 1);
    let whole = run.parts();
    let damaged = |name: &str, data: Data| {
        let mut state = whole.clone();
        state.iter_mut().find(|p| p.0 == name).unwrap().2 = data;
        restore(cart_pole(), &config, &state).is_err()
    };
    assert!(!damaged("moments.reward", Data::F64(vec![1.0, 2.0, 3.0])));
    assert!(damaged("moments.reward", Data::F64(vec![1.0, 2.0, -3.0])));
    assert!(damaged("environments.discounted", Data::F32(vec![f32::INFINITY; 300])));
    assert!(damaged("progress", Data::U64(vec![u64::MAX, u64::MAX, 1])));
    assert!(damaged("environments.state", Data::F32(vec![9.0; 1200])));
    assert!(damaged("environments.steps", Data::U32(vec![500; 300])));
    assert!(damaged("recent.lengths", Data::U32(vec![501; 100])));
    let wider = PpoConfig { hidden: 17, ..config };
    assert!(restore(cart_pole(), &wider, &whole).is_err(), "saved with another network");
}

#[test]
fn wall_time_is_split_in_the_ratio_of_two_times() {
    for (parts, expected) in [([1.0, 3.0], (2.0, 6.0)), ([0.0, 5.0], (0.0, 8.0)), ([5.0, 0.0], (8.0, 0.0)), ([0.0; 2], (8.0, 0.0))] {
        assert_eq!(divided(8.0, parts), expected, "{parts:?}");
    }
}
