//! Nothing is allocated in a steady iteration, by any thread of the pool. Native only, as the pool is.

use learn::control::{Ppo, PpoConfig};
use learn::{Learner, Slice};
use math::Isa;
use testkit::Meter;

#[test]
fn a_steady_iteration_allocates_nothing() {
    let config = PpoConfig { envs: 300, rollout_steps: 40, epochs: 2, ..PpoConfig::default() };
    let normalized = PpoConfig { normalize_observation: true, normalize_reward: true, ..config.clone() };
    let shared = PpoConfig { shared: true, tanh: true, clip_value: true, target_kl: 0.01, ..config.clone() };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    let ways = [
        ("CartPole-v1", config),
        ("Pendulum-v1", PpoConfig { squash: true, ..normalized.clone() }),
        ("Acrobot-v1", shared),
        ("LunarLander-v3", normalized),
    ];
    for (id, config) in ways {
        pool.install(|| {
            let meter = Meter::new();
            rayon::broadcast(|_| meter.watch());
            let mut ppo = Ppo::new(worlds::control::kind(id).unwrap(), config, 1, Isa::best()).unwrap();
            ppo.clear_trajectory(); // makes room for what is watched, once
            let mut iterate = || while !matches!(ppo.advance(), Slice::Ended(_)) {};
            iterate();
            let ((), taken) = meter.count(|| (0..12).for_each(|_| iterate()));
            assert_eq!(taken, 0, "{id}");
            let state = vec![0.0; ppo.kind().spec.observation.len()];
            let mut odds = vec![0.0; ppo.policy_len()];
            let mut evaluate = || {
                ppo.evaluate(200, 3);
                ppo.predict(&state, &mut odds, &mut [0.0]);
                ppo.clear_trajectory();
            };
            evaluate(); // makes room for the evaluation games, once
            let ((), taken) = meter.count(|| (0..3).for_each(|_| evaluate()));
            assert_eq!(taken, 0, "{id}");
        });
    }
}
