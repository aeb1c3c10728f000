//! Benchmarks of environments that users write: speed of the engine, and time to compile a file.

#[cfg(feature = "device")]
pub use self::device::measure as measure_device;

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

/// Name in the figures, and text, of each template (example environment for users). The template `snake` has 80 lines.
const TEMPLATES: [(&str, &str); 3] =
    [("cartpole", template!("cartpole")), ("snake10", template!("snake")), ("breakout", template!("breakout"))];

fn compiled(text: &str) -> World {
    compile(text).expect("a template has no errors")
}

/// Measures the engine of user environments on templates, and the time to compile a file.
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

/// Returns the steps per second of PPO with the template `cartpole`, divided by those with the built-in CartPole, in each round. The
/// rounds of both alternate, on all threads.
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

#[cfg(feature = "device")]
mod device {
    use super::{TEMPLATES, compiled};
    use crate::control::learners::{iteration_s, learner, samples};
    use crate::device::{Device, iterations};
    use crate::measure::Bench;
    use learn::control::{Ppo, PpoConfig};
    use learn::{Fault, Offload};
    use math::rounds::FEW;
    use worlds::control::{Kind, kind};

    /// Measures PPO with files on the GPU: the rate with the template `cartpole` relative to the rate with the built-in CartPole, and the
    /// rates with the other templates. Software adapters get the first figure only, because they need minutes to compile large shaders.
    pub fn measure(device: &Device, config: &PpoConfig, bench: &mut Bench) -> Result<(), Fault> {
        let (isa, now) = (bench.isa, bench.now);
        let begun = |kind: &Kind| -> Result<Ppo, Fault> {
            let mut ppo = learner(kind, config.clone(), 1, isa);
            ppo.begin_offload(device.gpu, 0)?;
            iteration_s(&mut ppo, now)?;
            Ok(ppo)
        };
        let file = |(name, text): (&'static str, &str)| compiled(text).kind(name);
        let (mut own, mut fast) = (begun(&file(TEMPLATES[0]))?, begun(kind("CartPole-v1").expect("a known environment"))?);
        let ratios = (0..FEW).map(|_| {
            let own_s = iteration_s(&mut own, now)?;
            Ok(iteration_s(&mut fast, now)? / own_s)
        });
        let ratios = ratios.collect::<Result<Vec<f64>, Fault>>()?;
        bench.give("gpu.worlds.ppo.cartpole.ratio", &ratios, "of the rate with the built-in CartPole on the GPU");
        let others = if device.is_software() { &[] } else { &TEMPLATES[1..] };
        for &template in others {
            let mut ppo = begun(&file(template))?;
            let steps = samples(&ppo);
            let rates = iterations(now, || Ok(steps / iteration_s(&mut ppo, now)?))?;
            bench.give(format!("gpu.worlds.ppo.{}.steps_per_s", template.0), &rates, "steps/s");
        }
        Ok(())
    }
}
