//! Cart poles: proximal policy optimisation on CartPole. The picture shows some poles that the current policy balances in real time.

use crate::link::Link;
use crate::tile::{Pace, Tile};
use learn::control::{Ppo, PpoConfig};
use learn::{Learner, Slice};
use math::Isa;
use std::error::Error;
use std::sync::Arc;
use worlds::control::cartpole::STEP_S;
use worlds::control::{CartPole64, CartPoles, Kind, World64};

/// Number of poles in the picture.
const POLES: u32 = 12;
/// Number of steps for which a fallen pole stays in the picture.
const REST_STEPS: u32 = 25;

/// The learner and its poles. The score is the mean return of the last 100 training episodes.
pub struct Poles {
    ppo: Ppo,
    score: Option<f64>,
    poles: Vec<Pole>,
    episodes: u32,
    pace: Pace,
}

struct Pole {
    world: Box<dyn World64>,
    /// Number of steps until the next episode; 0 before the end of an episode.
    rest: u32,
}

/// Returns CartPole without the settings of its preset, which the link names. The registry of the environments would add the rules of every
/// environment to the module.
fn kind() -> Kind {
    let spec = CartPole64::new(0).spec().clone();
    let many = Arc::new(|isa, seed, first, count| Box::new(CartPoles::new(isa, seed, first, count)) as _);
    Kind::new(spec, Arc::new(|| Box::new(CartPole64::new(0))), many)
}

impl Poles {
    pub fn new(link: &Link) -> Result<Poles, Box<dyn Error>> {
        let kind = kind();
        let ppo = Ppo::new(&kind, link.settings(PpoConfig::general())?, link.seed, Isa::best())?;
        let pole = |seed| {
            let mut world = (kind.twin)();
            world.reset(seed);
            Pole { world, rest: 0 }
        };
        Ok(Poles { ppo, score: None, poles: (0..POLES).map(pole).collect(), episodes: POLES, pace: Pace::default() })
    }

    fn step(&mut self) {
        let observations: Vec<f32> = self.poles.iter().flat_map(|pole| pole.world.observation()).map(|x| x as f32).collect();
        let choices = self.ppo.policy_len();
        let (mut odds, mut values) = (vec![0.0; self.poles.len() * choices], vec![0.0; self.poles.len()]);
        self.ppo.predict(&observations, &mut odds, &mut values);
        for (pole, odds) in self.poles.iter_mut().zip(odds.chunks_exact(choices)) {
            if pole.rest > 0 {
                pole.rest -= 1;
                if pole.rest == 0 {
                    pole.world.reset(self.episodes);
                    self.episodes += 1;
                }
                continue;
            }
            let step = pole.world.advance(&self.ppo.greedy(odds), [0.0; 2]);
            pole.rest = if step.terminated || step.truncated { REST_STEPS } else { 0 };
        }
    }
}

impl Tile for Poles {
    fn advance(&mut self) {
        if let Slice::Ended(stats) = self.ppo.advance() {
            self.score = stats.mean_return.map(f64::from);
        }
    }

    fn iterations(&self) -> u64 {
        self.ppo.progress().iterations
    }

    fn score(&self) -> Option<f64> {
        self.score
    }

    /// For each pole: the cart's position in m, the pole's angle in rad, and 1 if the episode has ended.
    fn picture(&mut self, seconds: f64) -> Vec<f32> {
        self.pace.add(seconds);
        while self.pace.takes(STEP_S) {
            self.step();
        }
        let numbers = |Pole { world, rest }: &Pole| [world.state()[0] as f32, world.state()[2] as f32, f32::from(u8::from(*rest > 0))];
        self.poles.iter().flat_map(numbers).collect()
    }

    fn weights(&self) -> &[f32] {
        self.ppo.weights()
    }
}
