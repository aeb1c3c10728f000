//! Minibatches: samples in shuffled order.

use graph::{Layout, Params};
use learn::control::PpoConfig;
use learn::internals::ppo::{Actor, LANES, Minibatch, REST, Task, plan_acting};
use math::{Isa, Rng, Shuffle};

/// Number of values in a CartPole sample; both copy methods support this width.
const WIDTH: usize = 4 + 1 + REST;

#[test]
fn samples_are_copied_from_their_shuffle_indices_for_all_widths() {
    let config = PpoConfig { envs: LANES + 72, rollout_steps: 5, epochs: 1, minibatches: 4, hidden: 16, ..PpoConfig::default() };
    let samples = 5 * (LANES + 72);
    let kind = worlds::control::kind("CartPole-v1").unwrap();
    let task = Task::new(kind, &config).unwrap();
    let plan = plan_acting(task, &config, LANES, Layout::Panels, Isa::best()).unwrap();
    let params = Params::new(plan.table(), 7);
    let mut actors = [(0, LANES), (LANES, 72)].map(|(first, count)| Actor::new(&plan, kind, Isa::best(), 7, first, count, 5));
    for (i, actor) in actors.iter_mut().enumerate() {
        for (n, x) in actor.samples.iter_mut().enumerate() {
            *x = (i * 10_000 + n) as f32;
        }
    }
    let shuffle = Shuffle::new(Rng::new(7, 1), samples, 0, 0);
    let minibatch =
        Minibatch { config: &config, params: &params, actors: &actors, shuffle, first: 0, advantages: (0.0, 1.0), clock: || 0.0 };
    let count = samples / 4;
    for first in [0, count, 3 * count] {
        let (mut known, mut any) = (vec![0.0; count * WIDTH], vec![0.0; count * WIDTH]);
        minibatch.copy::<WIDTH>(first, &mut known);
        minibatch.copy_any(first, WIDTH, &mut any);
        let number = |place: usize, n: usize| {
            let index = shuffle.at((first + place) as u32) as usize;
            let (actor, row) = (index / (5 * LANES), index % (5 * LANES));
            (actor * 10_000 + row * WIDTH + n) as f32
        };
        let expected: Vec<f32> = (0..count).flat_map(|place| (0..WIDTH).map(move |n| number(place, n))).collect();
        assert!(known == expected && any == expected, "from {first} on");
    }
}
