//! Display settings of environments: the time of a step, and the plane on which states, policy and values are drawn. By default, the axes
//! of the plane are the first two numbers of the observation.

use super::protocol::Axis;
use std::f64::consts::PI;
use worlds::control::{Spec, cartpole, lunar_lander, mountain_car, pendulum};

pub(super) struct Shown {
    /// Display time of a step, in seconds.
    pub step_s: f64,
    pub x: Axis,
    pub y: Axis,
    /// Observation in which [`Shown::observation`] replaces the numbers of the two axes.
    base: Vec<f64>,
}

impl Shown {
    pub(super) fn of(spec: &Spec) -> Shown {
        let number = |i: usize, low, high| Axis { name: spec.observation[i].to_string(), low, high, of: vec![i as u32] };
        let angle = |name: &str, cos| Axis { name: name.into(), low: -PI, high: PI, of: vec![cos, cos + 1] };
        let base = vec![0.0; spec.observation.len()];
        let of = |step_s, x, y| Shown { step_s, x, y, base: base.clone() };
        match &*spec.id {
            "CartPole-v1" => of(cartpole::STEP_S, number(2, -cartpole::THETA_LIMIT, cartpole::THETA_LIMIT), number(3, -2.5, 2.5)),
            "MountainCar-v0" | "MountainCarContinuous-v0" => {
                use mountain_car::{SPEED_LIMIT, X_MAX, X_MIN};
                of(1.0 / 30.0, number(0, X_MIN, X_MAX), number(1, -SPEED_LIMIT, SPEED_LIMIT))
            }
            "Pendulum-v1" => {
                let speed = number(2, -pendulum::SPEED_LIMIT, pendulum::SPEED_LIMIT);
                of(pendulum::STEP_S, angle("angle from upright (rad)", 0), speed)
            }
            "Acrobot-v1" => {
                let upper = of(1.0 / 15.0, angle("angle 1 (rad)", 0), number(4, -2.0 * PI, 2.0 * PI));
                // Cosine 1 and sine 0 of the second angle: the lower link is in line with the upper link.
                Shown { base: vec![1.0, 0.0, 1.0, 0.0, 0.0, 0.0], ..upper }
            }
            "LunarLander-v3" => of(lunar_lander::STEP_S, number(0, -1.0, 1.0), number(1, 0.0, 1.5)),
            _ => of(0.05, number(0, -1.0, 1.0), number(1.min(spec.observation.len() - 1), -1.0, 1.0)),
        }
    }

    /// Returns the observation at the point (`x`, `y`) of the plane.
    pub(super) fn observation(&self, x: f64, y: f64) -> Vec<f64> {
        let mut observation = self.base.clone();
        for (axis, value) in [(&self.x, x), (&self.y, y)] {
            match axis.of[..] {
                [cos, sin] => (observation[sin as usize], observation[cos as usize]) = value.sin_cos(),
                _ => observation[axis.of[0] as usize] = value,
            }
        }
        observation
    }
}
