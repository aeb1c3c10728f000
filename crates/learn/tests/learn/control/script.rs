//! PPO on environments that users write: compiled files are trained like built-in kinds.

use super::learning::steps_to_solve;
use learn::control::{IterationStats, Ppo, PpoConfig};
use learn::{Failure, Iteration, Learner, Slice};
use math::{Isa, PANEL};
use testkit::test;
use worlds::control::script::compile;
use worlds::control::{Kind, WorldFault};

const CART_POLE: &str = include_str!("../../../../worlds/src/control/script/templates/cartpole.py");
const CATCH: &str = include_str!("../../../../worlds/src/control/script/templates/catch.py");
const TAXI: &str = include_str!("../../../../worlds/src/control/script/templates/taxi.py");

fn kind(id: &'static str, text: &str) -> Kind {
    compile(text).unwrap_or_else(|problems| panic!("{problems:#?}")).kind(id)
}

/// Replaces the only occurrence of `from` in the template `text`. Panics if `from` does not occur exactly once.
fn changed(text: &str, from: &str, to: &str) -> String {
    assert_eq!(text.matches(from).count(), 1, "{from}");
    text.replace(from, to)
}

fn iterate(ppo: &mut Ppo) -> IterationStats {
    loop {
        if let Slice::Ended(stats) = ppo.advance() {
            return stats;
        }
    }
}

/// Number of environment steps within which PPO solves the template `cartpole`.
const CART_POLE_STEPS: u64 = 600_000;

#[test]
fn ppo_solves_templates() {
    let solves = |id, text, seed, limit| {
        let kind = kind(id, text);
        assert!(steps_to_solve(&kind, PpoConfig::preset(&kind), seed, limit).is_some(), "{id}, seed {seed}");
    };
    solves("Pole", CART_POLE, 1, CART_POLE_STEPS);
    // The state of catch consists of integers only.
    solves("Catch", CATCH, 1, 200_000);
    if testkit::all() {
        solves("Pole", CART_POLE, 2, CART_POLE_STEPS);
        // The taxi has a mask. `a_forbidden_choice_is_never_taken` trains on it for fewer steps.
        solves("Taxi", TAXI, 1, 700_000);
    }
}

/// Shows that the test above detects broken learners. The weights of a frozen learner stay the same, so a few evaluations suffice.
#[cfg(not(target_arch = "wasm32"))] // too long for one thread
#[test]
fn broken_learners_do_not_solve_a_template() {
    let cart_pole = kind("Pole", CART_POLE);
    let preset = || PpoConfig::preset(&cart_pole);
    let frozen = PpoConfig { lr: 0.0, ..preset() };
    assert_eq!(steps_to_solve(&cart_pole, frozen, 1, CART_POLE_STEPS / 8), None);
    let short_sighted = PpoConfig { gamma: 0.0, lambda: 0.0, ..preset() };
    assert_eq!(steps_to_solve(&cart_pole, short_sighted, 1, CART_POLE_STEPS / 2), None);
}

fn small() -> PpoConfig {
    // 300 environments do not divide evenly into panels of 32 or actors of 128 environments.
    PpoConfig { envs: 300, rollout_steps: 40, minibatches: 3, epochs: 2, ..PpoConfig::general() }
}

/// Weights, moments and environments are equal for any number of threads, and after a restored save.
#[cfg(not(target_arch = "wasm32"))] // a page has no thread pool of this kind
#[test]
fn results_do_not_depend_on_threads_or_saves() {
    for (id, text) in [("Catch", CATCH), ("Taxi", TAXI)] {
        let kind = kind(id, text);
        let run = |threads, count| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                let mut ppo = Ppo::new(&kind, small(), 3, Isa::best()).unwrap();
                (0..count).for_each(|_| drop(iterate(&mut ppo)));
                ppo.parts()
            })
        };
        let whole = run(1, 3);
        assert!(whole == run(2, 3) && whole == run(3, 3), "{id}");
        let saved = run(3, 1);
        let mut again = Ppo::restore(&kind, small(), 3, Isa::best(), &|name| learn::part(&saved, name)).unwrap();
        (0..2).for_each(|_| drop(iterate(&mut again)));
        assert!(whole == again.parts(), "{id}");
    }
}

/// Loop passes that change nothing make a step of these environments slow. The slices of training and of evaluations then contain a part
/// of a step, and the results are those of fast environments.
#[test]
fn slices_of_slow_environments_are_short() {
    let trained = |passes: u32| {
        let more = format!("        n = 0\n        for i in range({passes}):\n            n = (n + i) % 7\n        self.y += 1\n");
        let kind = kind("Slow", &changed(CATCH, "        self.y += 1\n", &more));
        let mut ppo = Ppo::new(&kind, small(), 3, Isa::best()).unwrap();
        let training = 1 + (0..).take_while(|_| !matches!(ppo.advance(), Slice::Ended(_))).count();
        assert!(ppo.at_boundary());
        ppo.begin_evaluation(100, 1);
        let mut evaluation = None;
        let testing = (1..).find(|_| {
            evaluation = ppo.advance_evaluation().unwrap();
            evaluation.is_some()
        });
        (training, testing.unwrap(), evaluation, ppo.parts())
    };
    let (fast, slow) = (trained(200), trained(20_000));
    assert!((&fast.2, &fast.3) == (&slow.2, &slow.3), "the results differ");
    // A slice has at most 4 million instructions for 32 environments. In training, 10 panels take 40 steps.
    assert!(slow.0 > fast.0 + 10 && slow.1 > fast.1 + 3, "{} and {} slices, then {} and {}", fast.0, slow.0, fast.1, slow.1);
}

/// In this version of the taxi, a forbidden choice causes an error.
#[test]
fn a_forbidden_choice_is_never_taken() {
    let forbidden = changed(TAXI, "if not possible[action]:\n            return -1.0, False", "fine = 1.0 / float(possible[action])");
    let kind = kind("Taxi", &forbidden);
    let config = || PpoConfig { envs: 256, ..PpoConfig::general() };
    let mut ppo = Ppo::new(&kind, config(), 1, Isa::best()).unwrap();
    let before = ppo.evaluate(100, 1).mean;
    while ppo.progress().env_steps < 200_000 {
        assert_eq!(iterate(&mut ppo).fault, None);
    }
    let after = ppo.evaluate(100, 1).mean;
    assert!(after > before + 20.0, "{before}, then {after}");

    // A policy without masks takes forbidden choices.
    let mut ppo = Ppo::new(&Kind { masked: false, ..kind }, config(), 1, Isa::best()).unwrap();
    let fault = iterate(&mut ppo).fault.expect("a random policy takes forbidden choices");
    assert!(fault.message.contains("division by zero"), "{fault}");
}

/// Trains until an environment fails. Returns the learner, its weights before the last iteration, and the error.
fn failed(kind: &Kind) -> (Ppo, Vec<f32>, WorldFault) {
    let mut ppo = Ppo::new(kind, small(), 3, Isa::best()).unwrap();
    for _ in 0..20 {
        let weights = ppo.weights().to_vec();
        let stats = iterate(&mut ppo);
        if let Some(fault) = stats.fault.clone() {
            assert_eq!(Iteration::from(stats).failure, Some(Failure::World(fault.to_string())));
            return (ppo, weights, fault);
        }
    }
    panic!("no environment failed");
}

#[test]
fn a_fault_stops_training_and_names_its_place() {
    let trap = "        self.y += 1 // (0 if randint(0, 50000) == 0 else 1)\n";
    let text = changed(CATCH, "        self.y += 1\n", trap);
    let line = text.lines().position(|line| line.contains("randint(0, 50000)")).unwrap() as u32 + 1;
    let kind = kind("Trap", &text);
    let (ppo, weights, fault) = failed(&kind);
    let WorldFault { env, episode, step, .. } = fault;
    let start = format!("environment {env} failed in step {step} of episode {episode}, line {line}: a division by zero");
    assert!(fault.to_string().starts_with(&start), "{fault}");
    assert!(ppo.progress().iterations > 1 && ppo.at_boundary() && !ppo.is_finite());
    assert_eq!(ppo.weights(), weights, "the learner learned from a failed rollout");

    // The environment must have kept the state before the failed step, so a step from this state fails again.
    let (state, steps, episodes) = ppo.environment(env as usize).unwrap();
    assert_eq!((steps + 1, episodes), (step, episode));
    let mut one = (kind.many)(Isa::best(), 3, env, 1);
    one.set_environment(0, &state, steps, episodes).unwrap();
    let mut reached = vec![0.0; one.observations().len()];
    one.step(&[1.0; PANEL], &mut reached, &mut [0.0; PANEL], &mut [0; PANEL]);
    assert_eq!(one.fault().as_ref(), Some(&fault));
    assert!(reached.iter().zip(one.observations()).step_by(PANEL).all(|(reached, kept)| reached == kept), "{reached:?}");

    #[cfg(not(target_arch = "wasm32"))] // a page has no thread pool of this kind
    for threads in [1, 3] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        assert_eq!(pool.install(|| failed(&kind).2), fault, "{threads} threads");
    }
}
