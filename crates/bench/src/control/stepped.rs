//! Speed of environments that are stepped with random actions.

use crate::measure::{Clock, noise, rates};
use math::Buffer;
use math::rounds::rounds_s;
use worlds::control::{Actions, Vector};

/// Number of environments in the environment benchmarks.
pub const ENVS: usize = 4096;

/// Number of warm-up steps, after which the ends of episodes are spread over time.
const WARM_UP: usize = 512;

/// Number of steps after which the precomputed actions repeat.
pub const TURNS: usize = 8;

/// Returns the steps per second of `Vector::step` on one core, in each round. The actions are random and precomputed. Episodes end and
/// restart during the measurement.
pub fn stepped(mut many: Box<dyn Vector>, of: Actions, now: Clock) -> Vec<f64> {
    let (actions, turn) = (actions(of, ENVS), ENVS * of.numbers());
    let [mut reached, mut rewards] = [many.observations().len(), ENVS].map(Buffer::zeros);
    let (mut ended, mut t) = (Buffer::zeros(ENVS), 0);
    let mut step = || {
        many.step(&actions[t % TURNS * turn..][..turn], &mut reached, &mut rewards, &mut ended);
        t += 1;
    };
    (0..WARM_UP).for_each(|_| step());
    rates(ENVS as f64, &rounds_s(&now, step))
}

/// Returns random actions of `envs` environments, `[TURNS][envs][numbers]`, where `numbers` is the length of an action.
pub fn actions(of: Actions, envs: usize) -> Vec<f32> {
    let action = |x: f32| match of {
        Actions::Choices(count) => (0.5 * (x + 1.0) * count as f32).floor(),
        Actions::Box { low, high, .. } => (low + 0.5 * (f64::from(x) + 1.0) * (high - low)) as f32,
    };
    noise(TURNS * envs * of.numbers()).into_iter().map(action).collect()
}
