//! The one large environment that a hand can push: stepped in real time by the policy as it is at
//! that moment, beside the training and without a trace in it.

use crate::protocol::{Stage as View, Touch};
use learn::Ppo;
use math::rng::Rng;
use worlds::cartpole::{CartPole64, RESET_SPREAD, STEP_S};

/// How long a fallen pole lies before it stands up again.
const REST_S: f64 = 0.8;
/// After a longer gap (a sleeping tab) the missed time is let go, not caught up.
const MAX_GAP_S: f64 = 0.1;

pub(crate) struct Stage {
    pole: CartPole64,
    view: View,
    owed_s: f64,
    rest_s: f64,
    rng: Rng,
    falls: u32,
}

impl Stage {
    pub fn new(seed: u32) -> Self {
        // A stream of its own: what is watched must not change what is learned.
        let rng = Rng::new(seed, STREAM);
        let mut stage = Self {
            pole: CartPole64::new([0.0; 4]),
            view: View::default(),
            owed_s: 0.0,
            rest_s: 0.0,
            rng,
            falls: 0,
        };
        stage.stand_up();
        stage
    }

    fn stand_up(&mut self) {
        let bits = self.rng.block([self.falls, 0, 0, 0]);
        let spread = |b: u32| (2.0 * f64::from(b) / f64::from(u32::MAX) - 1.0) * RESET_SPREAD;
        self.pole = CartPole64::new(bits.map(spread));
        self.falls = self.falls.wrapping_add(1);
        self.view.steps = 0;
        self.view.fallen = false;
    }

    pub fn touch(&mut self, ppo: &mut Ppo, touch: Touch) -> View {
        let dt_s = if touch.dt_s.is_finite() { touch.dt_s.clamp(0.0, MAX_GAP_S) } else { 0.0 };
        let newtons = |f: f64| if f.is_finite() { f.clamp(-MAX_FORCE, MAX_FORCE) } else { 0.0 };
        if self.view.fallen {
            self.rest_s -= dt_s;
            if self.rest_s <= 0.0 {
                self.stand_up();
            }
        }
        self.owed_s = if self.view.fallen { 0.0 } else { self.owed_s + dt_s };
        while self.owed_s >= STEP_S && !self.view.fallen {
            self.owed_s -= STEP_S;
            let (probabilities, value) = ppo.policy(self.pole.state.map(|v| v as f32));
            self.view.push_right = f64::from(probabilities[1]);
            self.view.value = f64::from(value);
            self.view.action = u32::from(probabilities[1] > probabilities[0]);
            let (cart_n, tip_n) = (newtons(touch.cart_force), newtons(touch.tip_force));
            let fell = self.pole.step_pushed(self.view.action, cart_n, tip_n).terminated;
            self.view.steps += 1;
            self.view.best = self.view.best.max(self.view.steps);
            if fell {
                self.view.fallen = true;
                self.rest_s = REST_S;
            }
        }
        self.view.state = self.pole.state;
        if !self.view.fallen {
            // The screen is faster than the physics: carry places on by their speeds.
            self.view.state[0] += self.view.state[1] * self.owed_s;
            self.view.state[2] += self.view.state[3] * self.owed_s;
        }
        self.view
    }
}

/// Three times what the agent itself can push with.
const MAX_FORCE: f64 = 30.0;
const STREAM: u32 = 0x57a6_e000;
