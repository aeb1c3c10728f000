//! Display settings of environments: the time of a step, and the axes of the plane on which states, policy and values are drawn.

use super::protocol::Axis;
use crate::RunError;
use std::f64::consts::PI;
use worlds::control::{Spec, acrobot, cartpole, lunar_lander, mountain_car, pendulum};

pub(super) struct Shown {
    /// Display time of a step, in seconds.
    pub step_s: f64,
    /// All axes. The first two are the default plane.
    pub axes: Vec<Axis>,
    /// Observation in which [`Shown::observation`] replaces the numbers of the two axes.
    base: Vec<f64>,
}

impl Shown {
    pub(super) fn of(spec: &Spec) -> Shown {
        let number = |i: usize, low, high| Axis { name: spec.observation[i].to_string(), low, high, of: vec![i as u32], open: false };
        let within = |i: usize, limit: f64| number(i, -limit, limit);
        let angle = |name: &str, cos| Axis { of: vec![cos, cos + 1], name: name.into(), ..within(0, PI) };
        let base = vec![0.0; spec.observation.len()];
        let of = |step_s, axes| Shown { step_s, axes, base: base.clone() };
        match &*spec.id {
            "CartPole-v1" => {
                let axes = vec![within(2, cartpole::THETA_LIMIT), within(3, 2.5), within(0, cartpole::X_LIMIT), within(1, 2.5)];
                of(cartpole::STEP_S, axes)
            }
            "MountainCar-v0" | "MountainCarContinuous-v0" => {
                use mountain_car::{SPEED_LIMIT, X_MAX, X_MIN};
                of(1.0 / 30.0, vec![number(0, X_MIN, X_MAX), within(1, SPEED_LIMIT)])
            }
            "Pendulum-v1" => of(pendulum::STEP_S, vec![angle("angle from upright (rad)", 0), within(2, pendulum::SPEED_LIMIT)]),
            "Acrobot-v1" => {
                let [first, second] = acrobot::SPEED_LIMITS;
                let axes = vec![angle("angle 1 (rad)", 0), within(4, first / 2.0), angle("angle 2 (rad)", 2), within(5, second / 2.0)];
                // Cosine 1 and sine 0 of both angles: both links hang in line.
                Shown { base: vec![1.0, 0.0, 1.0, 0.0, 0.0, 0.0], ..of(1.0 / 15.0, axes) }
            }
            "LunarLander-v3" => {
                let [x, y] = [within(0, 1.0), number(1, 0.0, 1.5)];
                let axes =
                    vec![x, y, within(2, 2.0), within(3, 2.0), within(4, PI), within(5, 5.0), number(6, 0.0, 1.0), number(7, 0.0, 1.0)];
                of(lunar_lander::STEP_S, axes)
            }
            _ => of(0.05, (0..spec.observation.len()).map(|i| Axis { open: true, ..within(i, 1.0) }).collect()),
        }
    }

    /// Returns the observation at a point of the plane of two axes. `point` contains its value on each axis.
    pub(super) fn observation(&self, axes: &[Axis; 2], point: [f64; 2]) -> Vec<f64> {
        let mut observation = self.base.clone();
        for (axis, value) in axes.iter().zip(point) {
            match axis.of[..] {
                [cos, sin] => (observation[sin as usize], observation[cos as usize]) = value.sin_cos(),
                _ => observation[axis.of[0] as usize] = value,
            }
        }
        observation
    }

    /// Returns an error unless both axes are among this environment's axes. Their ranges may differ from the default, but must be finite
    /// and not empty.
    pub(super) fn check(&self, axes: &[Axis; 2]) -> Result<(), RunError> {
        for axis in axes {
            let is_known = self.axes.iter().any(|known| known.of == axis.of);
            if !is_known || axis.low >= axis.high || !(axis.high - axis.low).is_finite() {
                let what = format!("the axis '{}' from {} to {} is no axis of this environment", axis.name, axis.low, axis.high);
                return Err(RunError::refused(what, "Use two of the environment's axes, each with a finite range"));
            }
        }
        Ok(())
    }
}
