//! Small environments that the page draws side by side. The current policy acts in them in real time. They do not affect training.

use super::protocol::{Crowd as View, Tile};
use super::shown::Shown;
use super::stage::{drawn, gap_s};
use learn::control::Ppo;
use math::{Isa, PANEL};
use worlds::control::{Kind, Vector};

/// Number of the small environments. One panel is cheap to step, and more pictures would be too small.
const COUNT: usize = PANEL;
/// Number of shapes after which an answer contains no further picture.
const MAX_SHAPES: usize = 1500;
/// Number of the first environment. Training uses lower numbers and tests use higher numbers, so they draw other random numbers.
const FIRST: u32 = 1 << 30;

pub(super) struct Crowd {
    world: Box<dyn Vector>,
    step_s: f64,
    owed_s: f64,
    /// Number of steps of each environment in its episode.
    steps: [u32; COUNT],
    /// Environment whose picture is the first of the next answer.
    next: usize,
    buffers: Buffers,
}

/// Buffers of a step.
struct Buffers {
    actions: Vec<f32>,
    reached: Vec<f32>,
    rewards: [f32; PANEL],
    ended: [u32; PANEL],
}

impl Crowd {
    /// Returns the memory in bytes; 0 if the environment draws no pictures.
    pub fn bytes(kind: &Kind) -> u64 {
        if kind.size.is_some() { many(kind, 0).bytes() as u64 } else { 0 }
    }

    /// Creates the environments. Returns `None` if the environment draws no pictures.
    pub fn new(kind: &Kind, seed: u32) -> Option<Crowd> {
        kind.size?;
        Some(Crowd {
            world: many(kind, seed),
            step_s: Shown::of(&kind.spec).step_s,
            owed_s: 0.0,
            steps: [0; COUNT],
            next: 0,
            buffers: Buffers {
                actions: vec![0.0; kind.spec.actions.numbers() * PANEL],
                reached: vec![0.0; kind.spec.observation.len() * PANEL],
                rewards: [0.0; PANEL],
                ended: [0; PANEL],
            },
        })
    }

    /// Advances the environments by the time `dt_s`, and draws as many of them as the limit of shapes permits.
    pub fn advance(&mut self, ppo: &mut Ppo, dt_s: f64) -> View {
        self.owed_s += gap_s(dt_s);
        while self.owed_s >= self.step_s {
            self.owed_s -= self.step_s;
            self.step(ppo);
        }
        let (mut tiles, mut shapes) = (Vec::new(), 0);
        while tiles.len() < COUNT && shapes < MAX_SHAPES {
            let tile = self.tile(self.next);
            self.next = (self.next + 1) % COUNT;
            shapes += tile.shapes.len();
            tiles.push(tile);
        }
        View { count: COUNT as u32, tiles }
    }

    /// Draws one environment. A picture whose rules raise an error is empty.
    fn tile(&mut self, env: usize) -> Tile {
        let shapes = self.world.draw(env).unwrap_or_default().into_iter().map(drawn).collect();
        Tile { env: env as u32, steps: self.steps[env], shapes }
    }

    fn step(&mut self, ppo: &mut Ppo) {
        let Crowd { world, steps, buffers: Buffers { actions, reached, rewards, ended }, .. } = self;
        let of_lane = |panel: &[f32], lane: usize| panel.iter().skip(lane).step_by(PANEL).copied().collect::<Vec<f32>>();
        let observations: Vec<f32> = (0..COUNT).flat_map(|env| of_lane(world.observations(), env)).collect();
        let (mut policies, mut values) = (vec![0.0; COUNT * ppo.policy_len()], [0.0; COUNT]);
        ppo.predict(&observations, &mut policies, &mut values);
        for (env, policy) in policies.chunks_exact_mut(ppo.policy_len()).enumerate() {
            let permitted: Vec<bool> = of_lane(world.masks(), env).into_iter().map(|permitted| permitted != 0.0).collect();
            ppo.restrict(policy, &permitted);
            for (k, number) in ppo.greedy(policy).into_iter().enumerate() {
                actions[k * PANEL + env] = number as f32;
            }
        }
        world.step(actions, reached, rewards, ended);
        for (steps, ended) in steps.iter_mut().zip(ended) {
            *steps = if *ended == 0 { *steps + 1 } else { 0 };
        }
    }
}

fn many(kind: &Kind, seed: u32) -> Box<dyn Vector> {
    (kind.many)(Isa::best(), seed, FIRST, COUNT)
}
