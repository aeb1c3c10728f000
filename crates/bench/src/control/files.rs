//! Benchmarks of environments that users write as Python files: steps per second, speed of PPO, and time to compile a file.

use super::learners::{iterations_rate, learner, medium};
use super::stepped::{ENVS, stepped};
use crate::measure::{Bench, Clock, warmed_ms};
use math::Isa;
use math::rounds::ROUNDS;
use worlds::control::script::{World, compile};
use worlds::control::{Actions, kind};

macro_rules! template {
    ($name:literal) => {
        include_str!(concat!("../../../worlds/src/control/script/templates/", $name, ".py"))
    };
}

/// Templates (example environments for users). Each entry contains the template's name in the figures, and its text. The template `snake`,
/// whose compilation is timed, has 80 lines.
pub const TEMPLATES: [(&str, &str); 3] =
    [("cartpole", template!("cartpole")), ("snake10", template!("snake")), ("breakout", template!("breakout"))];

pub fn compiled(text: &str) -> World {
    compile(text).expect("a template has no errors")
}

/// Measures the speed of the templates, the speed of PPO with one of them, and the time to compile a file.
pub fn measure(bench: &mut Bench) {
    let (isa, now) = (bench.isa, bench.now);
    for (name, text) in TEMPLATES {
        let world = compiled(text);
        let count = world.choices().expect("the actions are choices");
        let speeds = stepped(Box::new(world.fleet(isa, 1, 0, ENVS)), Actions::Choices(count), now);
        bench.give(format!("worlds.{name}.steps_per_s_core"), &speeds, "steps/s");
    }
    bench.give("worlds.cartpole.share", &shares(isa, bench), "of the built-in CartPole");
    let (_, text) = TEMPLATES[1];
    bench.give("worlds.ppo.cartpole.ratio", &ppo_ratios(isa, now), "of the rate with the built-in CartPole");
    let times_ms = warmed_ms(now, || drop(std::hint::black_box(compiled(text))));
    bench.give("worlds.snake10.compile_ms", &times_ms, "ms");
}

/// Returns the speed of PPO with the template `cartpole` divided by the speed of PPO with the built-in CartPole, in each round. The two
/// environments are measured in turn, on all threads.
fn ppo_ratios(isa: Isa, now: Clock) -> Vec<f64> {
    let own = compiled(TEMPLATES[0].1).kind("cartpole.py");
    let built_in = kind("CartPole-v1").expect("a known environment");
    let mut two = [&own, built_in].map(|kind| learner(kind, medium(), 1, isa));
    let mut rates = || two.each_mut().map(|ppo| iterations_rate(ppo, now));
    rates();
    (0..ROUNDS).map(|_| rates()).map(|[own, fast]| own / fast).collect()
}

/// Returns the speed of the template `cartpole` divided by the speed of the built-in CartPole, in each round. All rounds of the built-in
/// CartPole are measured first.
fn shares(isa: Isa, bench: &Bench) -> Vec<f64> {
    let pushes = Actions::Choices(2);
    let built_in = kind("CartPole-v1").expect("a known environment");
    let fast = stepped((built_in.many)(isa, 1, 0, ENVS), pushes, bench.now);
    let own = stepped(Box::new(compiled(TEMPLATES[0].1).fleet(isa, 1, 0, ENVS)), pushes, bench.now);
    own.iter().zip(&fast).map(|(own, fast)| own / fast).collect()
}
