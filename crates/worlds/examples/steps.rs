//! How many steps a second one thread takes through the public call: actions in; observations, rewards
//! and flags out, episodes beginning again by themselves. The best of many short rounds.
//!
//! `cargo run --release -p worlds --example steps`

use math::Isa;
use std::time::Instant;
use worlds::many::Rules;
use worlds::mountain_car::MountainCar;
use worlds::pendulum::Pendulum;
use worlds::{CartPoles, Many};

const ENVS: usize = 4096;
const STEPS: usize = 1000;
const ROUNDS: usize = 20;

fn main() {
    for isa in Isa::available() {
        let (mut reached, mut rewards, mut ended) = (vec![0.0; ENVS * 4], vec![0.0; ENVS], vec![0; ENVS]);
        let actions = alternating(1.0);
        let mut poles = CartPoles::new(isa, 1, 0, ENVS);
        let mut t = 0;
        print("CartPole-v1", isa, || {
            t += 1;
            poles.step(&actions[t % 2], &mut reached, &mut rewards, &mut ended);
        });
        many::<MountainCar, 2, 2>(isa);
        many::<Pendulum, 2, 3>(isa);
    }
}

fn many<R: Rules<N, O>, const N: usize, const O: usize>(isa: Isa) {
    let mut many = Many::<R, N, O>::new(isa, 1, 0, ENVS);
    let (mut reached, mut rewards, mut ended) = (vec![0.0; ENVS * O], vec![0.0; ENVS], vec![0; ENVS]);
    let actions = alternating(2.0);
    let mut t = 0;
    print(R::ID, isa, || {
        t += 1;
        many.step(&actions[t % 2], &mut reached, &mut rewards, &mut ended);
    });
}

/// Two sets of actions, every environment another way from its neighbour.
fn alternating(most: f32) -> [Vec<f32>; 2] {
    [0, 1].map(|odd| (0..ENVS).map(|env| if env % 2 == odd { most } else { 0.0 }).collect())
}

fn print(id: &str, isa: Isa, mut step: impl FnMut()) {
    let mut best_s = f64::INFINITY;
    for _ in 0..ROUNDS {
        let began = Instant::now();
        (0..STEPS).for_each(|_| step());
        best_s = best_s.min(began.elapsed().as_secs_f64());
    }
    println!("{id:<16}{:<10}{:8.0} M steps/s", isa.name(), (ENVS * STEPS) as f64 / best_s / 1e6);
}
