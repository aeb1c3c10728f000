//! Errors that the rules of an environment raise. The learner reports an error at the end of the iteration and learns nothing from the
//! rollout. The state before the failed step can be inspected.

use crate::rooms::{self, Trap};
use learn::control::{Ppo, PpoConfig};
use learn::{Failure, Iteration, Learner, Slice};
use math::Isa;
use std::sync::Arc;
use testkit::test;
use worlds::control::WorldFault;

fn begin(trap: Option<Trap>) -> Ppo {
    // 300 environments do not divide evenly into actors, which have 128 environments each.
    let config = PpoConfig { envs: 300, rollout_steps: 40, minibatches: 3, epochs: 1, ..PpoConfig::general() };
    Ppo::new(&rooms::kind("Rooms-v0", &Arc::default(), trap), config, 5, Isa::best()).unwrap()
}

/// Returns the fault that a trap raises after `steps` steps of an episode.
fn expected(env: u32, episode: u32, steps: u32) -> WorldFault {
    WorldFault { env, episode, step: steps + 1, line: Some(7), message: "the index 6 is beyond the list of length 6".into() }
}

#[test]
fn a_fault_ends_the_iteration_before_learning() {
    // Every episode takes 32 steps, and a rollout has 40. Step 20 of episode 2 follows 84 steps, so it is in the third rollout.
    for (trap, iterations) in [(Trap { env: 0, episode: 0, step: 0 }, 1), (Trap { env: 170, episode: 2, step: 20 }, 3)] {
        let (mut ppo, mut sound) = (begin(Some(trap)), begin(None));
        let mut stats = None;
        let mut weights = Vec::new();
        for i in 1..=iterations {
            weights = ppo.weights().to_vec();
            while stats.is_none() {
                if let Slice::Ended(ended) = ppo.advance() {
                    stats = Some(ended);
                }
            }
            while !matches!(sound.advance(), Slice::Ended(_)) {}
            if i < iterations {
                assert_eq!(ppo.weights(), sound.weights(), "a trap has no effect before its step");
                assert!(stats.take().unwrap().fault.is_none() && ppo.is_finite());
            }
        }
        let fault = expected(trap.env, trap.episode, trap.step);
        let stats = stats.unwrap();
        assert_eq!(stats.fault, Some(fault.clone()));
        assert_eq!(ppo.weights(), weights, "the learner learned from a failed rollout");
        assert!(ppo.at_boundary() && !ppo.is_finite());
        assert_eq!((ppo.progress().iterations, ppo.progress().env_steps), (iterations, iterations * 300 * 40));

        let text = "environment ENV failed in step STEP of episode EPISODE, line 7: the index 6 is beyond the list of length 6";
        let text = [("ENV", trap.env), ("STEP", trap.step + 1), ("EPISODE", trap.episode)]
            .into_iter()
            .fold(text.to_string(), |text, (name, value)| text.replace(name, &value.to_string()));
        let iteration = Iteration::from(stats);
        assert_eq!(iteration.failure, Some(Failure::World(text)));
        let value = |name| iteration.metrics.iter().find(|metric| metric.0 == name).unwrap().1;
        assert_eq!((value("policy_loss"), value("grad_norm")), (None, None));

        // The state and the numbers of steps and episodes are those before the failed step.
        let (state, steps, episodes) = ppo.environment(trap.env as usize).unwrap();
        assert_eq!((steps, episodes), (trap.step, trap.episode));
        assert!(state.iter().all(|room| (0.0..rooms::ROOMS as f32).contains(room)) && state[0] != state[1], "{state:?}");
        let (_, other, _) = ppo.environment(trap.env as usize + 1).unwrap();
        assert_eq!(other as u64, iterations * 40 % 32, "other environments continued");
        assert!(ppo.environment(3 * 128).is_none());
    }
}

#[cfg(not(target_arch = "wasm32"))] // a page has no thread pool of this kind
#[test]
fn the_first_environment_with_a_fault_is_reported_for_any_number_of_threads() {
    let run = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let mut ppo = begin(Some(Trap { env: 200, episode: 0, step: 9 }));
            loop {
                if let Slice::Ended(stats) = ppo.advance() {
                    return stats.fault;
                }
            }
        })
    };
    assert_eq!(run(1), Some(expected(200, 0, 9)));
    assert_eq!(run(1), run(3));
}

#[test]
fn a_fault_ends_an_evaluation() {
    // Evaluations use environment numbers from 2³¹ on.
    let mut ppo = begin(Some(Trap { env: (1 << 31) + 40, episode: 0, step: 30 }));
    ppo.begin_evaluation(100, 1);
    let fault = loop {
        match ppo.advance_evaluation() {
            Ok(None) => {}
            Ok(Some(evaluation)) => panic!("{evaluation:?}"),
            Err(fault) => break fault,
        }
    };
    assert_eq!(fault, expected((1 << 31) + 40, 0, 30));
    assert!(ppo.evaluate(100, 1).mean.is_nan());
    // An evaluation of 32 episodes does not use the environment with the trap.
    assert!(ppo.evaluate(32, 1).mean.is_finite());
    assert!(ppo.is_finite(), "training is not affected");
}
