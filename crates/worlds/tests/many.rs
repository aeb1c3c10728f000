//! The forms in arrays beside their f64 twins and beside themselves: neither lanes, nor how environments
//! are cut into groups, nor the way through a checkpoint changes a bit.

use math::Isa;
use serde_json::Value;
use testkit::{distance, worst};
use worlds::acrobot::Acrobot;
use worlds::many::Rules;
use worlds::mountain_car::{MountainCar, MountainCarContinuous};
use worlds::pendulum::Pendulum;
use worlds::vector::{LENGTH_SHIFT, TERMINATED, TRUNCATED, Vector};
use worlds::{Action, Actions, Many, World64, kind};

#[cfg(target_arch = "wasm32")]
use wasm_bindgen_test::wasm_bindgen_test as test;
#[cfg(target_arch = "wasm32")]
wasm_bindgen_test::wasm_bindgen_test_configure!(run_in_dedicated_worker);

const ACROBOTS: &str = include_str!("../../../tests/golden/worlds_acrobot.json");
const CARS: &str = include_str!("../../../tests/golden/worlds_mountain_car.json");
const CONTINUOUS: &str = include_str!("../../../tests/golden/worlds_mountain_car_continuous.json");
const PENDULUMS: &str = include_str!("../../../tests/golden/worlds_pendulum.json");

/// What one step gave, in panels.
struct Out {
    reached: Vec<f32>,
    rewards: Vec<f32>,
    ended: Vec<u32>,
}

impl Out {
    fn new<R: Rules<N, O>, const N: usize, const O: usize>(many: &Many<R, N, O>) -> Out {
        let lanes = many.observations().len() / O;
        Out { reached: vec![0.0; lanes * O], rewards: vec![0.0; lanes], ended: vec![0; lanes] }
    }
}

fn seen<const O: usize>(panels: &[f32], env: usize) -> [f64; O] {
    std::array::from_fn(|i| f64::from(panels[(env / 32 * O + i) * 32 + env % 32]))
}

/// Steps taken before, state and action, of every recorded step; angles within ±π.
fn recorded<const N: usize>(text: &str, turns: bool) -> Vec<(u32, [f32; N], f32)> {
    use std::f64::consts::{PI, TAU};
    let golden: Value = serde_json::from_str(text).unwrap();
    let mut steps = vec![];
    for e in golden["episodes"].as_array().unwrap() {
        let first_step = e["first_step"].as_u64().unwrap() as u32;
        for (t, action) in e["actions"].as_array().unwrap().iter().enumerate() {
            let mut state: [f64; N] = std::array::from_fn(|i| e["states"][t][i].as_f64().unwrap());
            if turns {
                state[0] = (state[0] + PI).rem_euclid(TAU) - PI;
            }
            steps.push((first_step + t as u32, state.map(|x| x as f32), action.as_f64().unwrap() as f32));
        }
    }
    steps
}

/// One step from every recorded state at once: what is shown, rewards and flags, within `tolerance`
/// of the twin's, large rewards in proportion.
fn follows_its_twin<R: Rules<N, O>, const N: usize, const O: usize>(text: &str, tolerance: f64) {
    let mut twin = (kind(R::SPEC.id).unwrap().twin)();
    let steps = recorded::<N>(text, O > N);
    for isa in Isa::available() {
        let mut many = Many::<R, N, O>::new(isa, 1, 0, steps.len());
        let mut out = Out::new(&many);
        let mut actions = vec![0.0; out.ended.len()];
        for (env, &(elapsed, state, action)) in steps.iter().enumerate() {
            many.set_environment(env, state, elapsed, 0).unwrap();
            actions[env] = action;
        }
        let before = many.observations().to_vec();
        many.step(&actions, &mut out.reached, &mut out.rewards, &mut out.ended);
        let (mut off, mut reward_off) = (0.0, 0.0);
        for (env, &(elapsed, state, action)) in steps.iter().enumerate() {
            twin.set_state(&state.map(f64::from), elapsed).unwrap();
            off = worst([off, distance(&seen::<O>(&before, env), &twin.observation())]);
            let step = twin.step(act(&*twin, action)).unwrap();
            off = worst([off, distance(&seen::<O>(&out.reached, env), &twin.observation())]);
            let error = (f64::from(out.rewards[env]) - step.reward).abs();
            reward_off = worst([reward_off, error / step.reward.abs().max(1.0)]);
            let flags =
                if step.terminated { TERMINATED } else { 0 } + if step.truncated { TRUNCATED } else { 0 };
            let end = if flags == 0 { 0 } else { flags | (elapsed + 1) << LENGTH_SHIFT };
            assert_eq!(out.ended[env], end, "{} on {}: environment {env}", R::SPEC.id, isa.name());
            let (_, after, episodes) = many.environment(env);
            assert_eq!((after, episodes), if flags == 0 { (elapsed + 1, 0) } else { (0, 1) });
            let shown = seen::<O>(many.observations(), env);
            assert_eq!(flags == 0, shown == seen::<O>(&out.reached, env), "a new episode has begun");
        }
        assert!(off < tolerance, "{} on {}: off by {off:e}", R::SPEC.id, isa.name());
        assert!(reward_off < 2.0 * tolerance, "{} on {}: reward {reward_off:e}", R::SPEC.id, isa.name());
    }
}

fn act(world: &dyn World64, action: f32) -> Action {
    match world.spec().actions {
        Actions::Choices(_) => Action::Choice(action as u32),
        Actions::Range(..) => Action::Level(f64::from(action)),
    }
}

#[test]
fn cars_take_every_recorded_step_as_their_twin() {
    follows_its_twin::<MountainCar, 2, 2>(CARS, 2e-7);
    follows_its_twin::<MountainCarContinuous, 2, 2>(CONTINUOUS, 2e-7);
}

#[test]
fn acrobots_take_every_recorded_step_as_their_twin() {
    follows_its_twin::<Acrobot, 4, 6>(ACROBOTS, 1e-4);
}

/// The faster the links, the more a step makes of a rounding; the recorded ones are mostly slow.
#[test]
fn acrobots_keep_to_their_twin_at_every_speed() {
    use std::f64::consts::PI;
    const COUNT: usize = 8192;
    let numbers = math::Rng::new(5, 0);
    let number = |env: usize, i: u32, most: f64| {
        let word = numbers.block([env as u32, i, 0, 0])[0];
        ((f64::from(word) / f64::from(u32::MAX) * 2.0 - 1.0) * most) as f32
    };
    let mut twin = (kind(Acrobot::SPEC.id).unwrap().twin)();
    for (fastest, tolerance) in [([1.0, 1.0], 1e-6), ([3.0, 6.0], 2e-6), ([6.0, 12.0], 1e-5)] {
        let limits = [PI, PI, fastest[0], fastest[1]];
        for isa in Isa::available() {
            let mut many = Many::<Acrobot, 4, 6>::new(isa, 1, 0, COUNT);
            let mut out = Out::new(&many);
            let actions: Vec<f32> = (0..COUNT).map(|env| (env % 3) as f32).collect();
            for env in 0..COUNT {
                let state = std::array::from_fn(|i| number(env, i as u32, limits[i]));
                let set = many.set_environment(env, state, 0, 0);
                let [a, b] = [f64::from(state[0]), f64::from(state[1])];
                let height = -a.cos() - (a + b).cos();
                assert!((height - 1.0).abs() < 1e-4 || set.is_ok() == (height < 1.0), "{height}");
            }
            let before: Vec<_> = (0..COUNT).map(|env| many.environment(env).0.map(f64::from)).collect();
            many.step(&actions, &mut out.reached, &mut out.rewards, &mut out.ended);
            for env in 0..COUNT {
                twin.set_state(&before[env], 0).unwrap();
                let step = twin.step(act(&*twin, actions[env])).unwrap();
                let error = distance(&seen::<6>(&out.reached, env), &twin.observation());
                assert!(error < tolerance, "{}: {:?} by {error:e}", isa.name(), before[env]);
                // Where the tip is within a rounding of the line, either may be right.
                let [a, b] = [twin.state()[0], twin.state()[1]];
                let clear = (a.cos() + (a + b).cos() + 1.0).abs() > tolerance;
                assert!(!clear || step.terminated == (out.ended[env] & TERMINATED != 0));
            }
        }
    }
}

#[test]
fn pendulums_take_every_recorded_step_as_their_twin() {
    follows_its_twin::<Pendulum, 2, 3>(PENDULUMS, 2e-6);
}

/// All there is to save, and how each episode ended.
type Played<const N: usize> = (Vec<([f32; N], u32, u32)>, Vec<u32>);

/// Some actions push with the speed, some against it, and some environments are pushed one way alone.
fn play<R: Rules<N, O>, const N: usize, const O: usize>(
    many: &mut Many<R, N, O>,
    steps: usize,
    phase: usize,
) -> Played<N> {
    let mut out = Out::new(many);
    let mut ends = vec![];
    let mut actions = vec![0.0; out.ended.len()];
    for t in phase..phase + steps {
        for env in 0..actions.len() {
            let speed = seen::<O>(many.observations(), env)[O - 1];
            let with = env % 4 != 3 && (speed >= 0.0) == (t % 7 != env % 3);
            actions[env] = if with { 2.0 } else { 0.0 };
        }
        many.step(&actions, &mut out.reached, &mut out.rewards, &mut out.ended);
        ends.extend_from_slice(&out.ended);
    }
    ((0..many.count()).map(|env| many.environment(env)).collect(), ends)
}

fn is_the_same_however_it_is_run<R: Rules<N, O>, const N: usize, const O: usize>() {
    for fused in [false, true] {
        let sets = Isa::available().into_iter().filter(|isa| isa.fused() == fused);
        let runs: Vec<_> = sets.map(|isa| play(&mut Many::<R, N, O>::new(isa, 7, 0, 96), 450, 0)).collect();
        assert!(runs.windows(2).all(|pair| pair[0] == pair[1]), "{}: fused: {fused}", R::SPEC.id);
    }
    let isa = Isa::best();

    let mut whole = Many::<R, N, O>::new(isa, 3, 0, 192);
    let mut part = Many::<R, N, O>::new(isa, 3, 96, 96);
    assert_eq!(play(&mut whole, 250, 0).0[96..], play(&mut part, 250, 0).0[..], "{}: cut", R::SPEC.id);

    let mut resumed = Many::<R, N, O>::new(isa, 3, 0, 192);
    for env in 0..192 {
        let (state, steps, episodes) = whole.environment(env);
        resumed.set_environment(env, state, steps, episodes).unwrap();
    }
    assert_eq!(whole.observations(), resumed.observations(), "{}: shown after resuming", R::SPEC.id);
    assert_eq!(play(&mut whole, 250, 250), play(&mut resumed, 250, 250), "{}: resumed", R::SPEC.id);

    let (_, ends) = play(&mut whole, 600, 500);
    let ends: Vec<u32> = ends.into_iter().filter(|&end| end != 0).collect();
    assert!(ends.iter().any(|end| end & TRUNCATED != 0), "{}", R::SPEC.id);
    assert_eq!(ends.iter().any(|end| end & TERMINATED != 0), R::SPEC.id != "Pendulum-v1", "{}", R::SPEC.id);
    for end in ends {
        let length = end >> LENGTH_SHIFT;
        assert!(length > 0 && length <= R::SPEC.step_limit, "{}: an episode of {length}", R::SPEC.id);
        assert_eq!(end & TRUNCATED != 0, length == R::SPEC.step_limit, "{}", R::SPEC.id);
    }
}

#[test]
fn acrobots_are_the_same_however_they_are_run() {
    is_the_same_however_it_is_run::<Acrobot, 4, 6>();
}

#[test]
fn cars_are_the_same_however_they_are_run() {
    is_the_same_however_it_is_run::<MountainCar, 2, 2>();
    is_the_same_however_it_is_run::<MountainCarContinuous, 2, 2>();
}

#[test]
fn pendulums_are_the_same_however_they_are_run() {
    is_the_same_however_it_is_run::<Pendulum, 2, 3>();
}

/// Whoever leaves an episode before its end is where the next would have begun, and nobody else moves.
#[test]
fn an_episode_that_is_left_gives_way_to_the_next() {
    for kind in worlds::kinds() {
        let id = kind.spec.id;
        let (mut left, mut played) = ((kind.many)(Isa::best(), 7, 3, 40), (kind.many)(Isa::best(), 7, 3, 40));
        let lanes = 64;
        let mut out = (vec![0.0; lanes * kind.spec.observation.len()], vec![0.0; lanes], vec![0; lanes]);
        let mut state = vec![0.0; left.state_len()];
        let mut first = state.clone();
        let mut ended = None;
        for _ in 0..kind.spec.step_limit {
            played.step(&vec![1.0; lanes], &mut out.0, &mut out.1, &mut out.2);
            ended = (0..40).find(|&env| out.2[env] != 0);
            if ended.is_some() {
                break;
            }
        }
        let env = ended.unwrap_or_else(|| panic!("{id}: an episode ends"));
        assert_eq!(played.environment(env, &mut first), (0, 1), "{id}");
        let before = left.observations().to_vec();
        left.begin(env);
        assert_eq!(left.environment(env, &mut state), (0, 1), "{id}");
        assert_eq!(state, first, "{id}");
        let features = kind.spec.observation.len();
        for (i, (now, was)) in left.observations().iter().zip(&before).enumerate() {
            let of = i / (32 * features) * 32 + i % 32;
            assert!(of == env || now == was, "{id}: environment {of}");
        }
        let shown = |many: &dyn Vector| -> Vec<f32> {
            (0..features).map(|i| many.observations()[(env / 32 * features + i) * 32 + env % 32]).collect()
        };
        assert_eq!(shown(&*left), shown(&*played), "{id}");
    }
}

fn begins_within<R: Rules<N, O>, const N: usize, const O: usize>(bounds: [(f64, f64); N]) {
    let many = Many::<R, N, O>::new(Isa::best(), 11, 0, 4096);
    let other = Many::<R, N, O>::new(Isa::best(), 12, 0, 4096);
    let starts: Vec<[f64; N]> = (0..4096).map(|env| many.environment(env).0.map(f64::from)).collect();
    assert!((0..4096).all(|env| many.environment(env).0 != other.environment(env).0), "{}", R::SPEC.id);
    for (i, (low, high)) in bounds.into_iter().enumerate() {
        let width = high - low;
        let mean = starts.iter().map(|s| s[i]).sum::<f64>() / 4096.0;
        let variance = starts.iter().map(|s| (s[i] - mean).powi(2)).sum::<f64>() / 4096.0;
        assert!(starts.iter().all(|s| s[i] >= low - 1e-6 && s[i] <= high + 1e-6), "{}: {i}", R::SPEC.id);
        assert!((mean - (low + high) / 2.0).abs() <= 0.02 * width, "{}: {i} has mean {mean}", R::SPEC.id);
        assert!(
            (variance - width * width / 12.0).abs() <= 0.05 * width * width / 12.0,
            "{}: {i}",
            R::SPEC.id
        );
    }
}

#[test]
fn episodes_begin_evenly_within_their_bounds() {
    use std::f64::consts::PI;
    begins_within::<Acrobot, 4, 6>([(-0.1, 0.1); 4]);
    begins_within::<MountainCar, 2, 2>([(-0.6, -0.4), (0.0, 0.0)]);
    begins_within::<MountainCarContinuous, 2, 2>([(-0.6, -0.4), (0.0, 0.0)]);
    begins_within::<Pendulum, 2, 3>([(-PI, PI), (-1.0, 1.0)]);
}

#[test]
fn states_that_cannot_be_are_refused() {
    let mut cars = worlds::mountain_car::MountainCars::new(Isa::best(), 1, 100, 8);
    for (state, steps) in
        [([0.55, 0.01], 0), ([-1.3, 0.0], 0), ([0.0, 0.08], 0), ([f32::NAN, 0.0], 0), ([0.0, 0.0], 200)]
    {
        let error = cars.set_environment(2, state, steps, 0).unwrap_err();
        assert_eq!((error.env, error.id), (102, "MountainCar-v0"));
    }
    assert!(cars.set_environment(8, [0.0, 0.0], 0, 0).is_err(), "there is no ninth environment");
    let mut pendulums = worlds::pendulum::Pendulums::new(Isa::best(), 1, 0, 8);
    for state in [[4.0, 0.0], [0.0, 8.5], [0.0, f32::NAN]] {
        assert!(pendulums.set_environment(0, state, 0, 0).is_err());
    }
    let mut acrobots = worlds::acrobot::Acrobots::new(Isa::best(), 1, 0, 8);
    for state in
        [[4.0, 0.0, 0.0, 0.0], [0.0, 0.0, 12.7, 0.0], [0.0, 0.0, 0.0, 28.3], [f32::NAN, 0.0, 0.0, 0.0]]
    {
        assert!(acrobots.set_environment(0, state, 0, 0).is_err());
    }
}
