//! Times training steps of logic automata in the published shapes, on one thread and on all:
//! `cargo run --release -p learn --example logic -- checkerboard avx512`.

use learn::logic::automaton::{Automaton, GateForm};
use learn::logic::train::{Optimiser, Rollout, Trainer};
use learn::logic::{Architecture, Wiring, Wirings};
use math::par::Threads;
use math::{Isa, Rng};

/// Seconds; of the processor where there is one thread and the system says so, so that others do not count.
fn now(threads: usize) -> f64 {
    let spent = || std::fs::read_to_string("/proc/thread-self/schedstat").ok()?.split(' ').next()?.parse().ok();
    if let (1, Some(spent)) = (threads, spent()) {
        let nanoseconds: f64 = spent;
        return nanoseconds * 1e-9;
    }
    static BEGAN: std::sync::OnceLock<std::time::Instant> = std::sync::OnceLock::new();
    BEGAN.get_or_init(std::time::Instant::now).elapsed().as_secs_f64()
}

fn main() {
    let [only, set] = [1, 2].map(|i| std::env::args().nth(i));
    let life = Architecture {
        channels: 1,
        kernels: 16,
        perception: vec![8, 4, 2, 1],
        update: [vec![128; 17], vec![64, 32, 16, 8, 4, 2, 1]].concat(),
    };
    let checkerboard =
        Architecture { channels: 8, kernels: 16, perception: vec![8, 4, 2], update: [vec![256; 10], vec![128, 64, 32, 16, 8, 8]].concat() };
    let asynchronous = Architecture { update: [vec![256; 14], vec![128, 64, 32, 16, 8, 8]].concat(), ..checkerboard.clone() };
    let lizard = Architecture { channels: 128, kernels: 4, perception: vec![8, 4, 2, 1], update: [vec![512; 8], vec![256, 128]].concat() };
    let colour = Architecture { channels: 64, kernels: 4, perception: vec![8, 4, 2], update: [vec![512; 8], vec![256, 128, 64]].concat() };
    let shapes = [
        ("life", life, 3, true, 1, 20, None),
        ("checkerboard", checkerboard, 16, false, 20, 2, None),
        ("asynchronous", asynchronous, 14, false, 50, 1, Some(0.6)),
        ("lizard", lizard, 20, true, 12, 1, None),
        ("colour", colour, 16, false, 15, 1, None),
    ];
    for (name, architecture, side, periodic, steps, batch, fire_rate) in shapes {
        if only.as_ref().is_some_and(|only| only != name) {
            continue;
        }
        let rollout = Rollout { width: side, height: side, periodic, steps, batch, fire_rate };
        for isa in Isa::available() {
            if set.as_ref().is_some_and(|set| set != isa.name()) {
                continue;
            }
            for threads in [1, math::par::threads()] {
                let Ok(wirings) = Wirings::new(&architecture, Wiring::Unique, 1) else { continue };
                let automaton = Automaton::new(architecture.clone(), wirings, GateForm::Softmax);
                let mut trainer = Trainer::new(isa, automaton, rollout.clone(), Optimiser::default(), 1);
                let plane = side * side * batch;
                let mut start = vec![0.0; architecture.channels * plane];
                Rng::new(1, 2).fill_uniform(isa, 0, &mut start);
                start.iter_mut().for_each(|x| *x = x.round());
                let target: Vec<f32> = (0..plane).map(|i| ((i / 2) % 2) as f32).collect();
                let Some(pool) = Threads::of(threads) else { continue };
                let mut times: Vec<f64> = pool.run(|| {
                    let steps = if side == 3 { 400 } else { 12 };
                    let time = |_| {
                        let began = now(threads);
                        (0..steps).for_each(|_| _ = trainer.step(&start, &target, 1));
                        (now(threads) - began) * 1e3 / f64::from(steps)
                    };
                    (0..20).map(time).collect()
                });
                times.sort_by(f64::total_cmp);
                let (median, least) = (times[times.len() / 2], times[0]);
                println!("{name} {} {threads} threads: {median:.3} ms a step (least {least:.3})", isa.name());
            }
        }
    }
}
