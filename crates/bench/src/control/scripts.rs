//! Benchmarks of environments that users write: the speed of the engine on templates, and the time to compile a file.

use super::{ENVS, stepped};
use crate::measure::{Bench, warmed_ms};
use math::Isa;
use worlds::control::kind;
use worlds::control::script::{World, compile};

macro_rules! template {
    ($name:literal) => {
        include_str!(concat!("../../../worlds/src/control/script/templates/", $name, ".py"))
    };
}

/// Names of the figures, and the templates. The snake's file has 80 lines.
const TEMPLATES: [(&str, &str); 3] =
    [("cartpole", template!("cartpole")), ("snake10", template!("snake")), ("breakout", template!("breakout"))];

fn world(text: &str) -> World {
    compile(text).expect("a template has no errors")
}

pub fn measure(bench: &mut Bench) {
    let (isa, now) = (bench.isa, bench.now);
    for (name, text) in TEMPLATES {
        let world = world(text);
        let count = world.choices().expect("the actions are choices");
        let speeds = stepped(Box::new(world.fleet(isa, 1, 0, ENVS)), |x| (0.5 * (x + 1.0) * count as f32).floor(), now);
        bench.give(format!("worlds.{name}.steps_per_s_core"), &speeds, "steps/s");
    }
    bench.give("worlds.cartpole.share", &shares(isa, bench), "of the built-in CartPole");
    let (_, text) = TEMPLATES[1];
    let compiled = warmed_ms(now, || drop(std::hint::black_box(world(text))));
    bench.give("worlds.snake10.compile_ms", &compiled, "ms");
}

/// Speed of the template `cartpole` as a share of that of the built-in CartPole, in rounds next to each other.
fn shares(isa: Isa, bench: &Bench) -> Vec<f64> {
    let push = |x: f32| (x + 1.0).floor();
    let built_in = kind("CartPole-v1").expect("a known environment");
    let fast = stepped((built_in.many)(isa, 1, 0, ENVS), push, bench.now);
    let own = stepped(Box::new(world(TEMPLATES[0].1).fleet(isa, 1, 0, ENVS)), push, bench.now);
    own.iter().zip(&fast).map(|(own, fast)| own / fast).collect()
}
