//! LunarLander, compared with Gymnasium (`tests/golden/worlds_lunar_lander.py`). Single steps in flight and on the ground must agree within
//! the f32 precision of Box2D. The statistics of many episodes must also agree.

use crate::fleet::{Fleet, wide};
use crate::recorded::numbers;
use math::rng::uniform_from_word;
use math::{Isa, Rng};
use serde_json::Value;
use testkit::{distance, test};
use worlds::control::lunar_lander::{GROUND, LunarLander, OBSERVATION, STATE, STEP_LIMIT, heuristic, key};
use worlds::control::vector::{LENGTH_SHIFT, TERMINATED, TRUNCATED};
use worlds::control::{Action, LunarLander64, LunarLanders, Twin, Vector, World64};

pub const ID: &str = "LunarLander-v3";
/// Number of values that describe the hull's position, angle and speeds. These values are the first of a state.
const HULL: usize = 6;
/// Number of values that describe the positions, angles and speeds of the hull and the legs. These values are the first of a state.
const MOTION: usize = 18;

fn golden() -> Value {
    serde_json::from_str(include_str!("../../../../tests/golden/worlds_lunar_lander.json")).unwrap()
}

fn list(value: &Value) -> &[Value] {
    value.as_array().unwrap()
}

fn choice(action: f64) -> Action {
    Action::Choice(action as u32)
}

/// Returns `state` with the recorded random offsets of the next step.
fn with_scatter(state: &[f64], scatter: &[f64]) -> Vec<f64> {
    let mut state = state.to_vec();
    state[STATE..STATE + 2].copy_from_slice(scatter);
    state
}

/// Recorded steps of a craft on the ground.
struct Stretch {
    elapsed: u32,
    states: Vec<Vec<f64>>,
    actions: Vec<f64>,
    rewards: Vec<f64>,
    terminated: Vec<bool>,
}

fn stretches() -> Vec<Stretch> {
    let golden = golden();
    let stretch = |s: &Value| {
        let mut states = vec![numbers(&s["states"][0])];
        for changes in &list(&s["states"])[1..] {
            let mut next = states.last().unwrap().clone();
            for (i, x) in changes.as_object().unwrap() {
                next[i.parse::<usize>().unwrap()] = x.as_f64().unwrap();
            }
            states.push(next);
        }
        Stretch {
            elapsed: s["elapsed"].as_u64().unwrap() as u32,
            states,
            actions: numbers(&s["actions"]),
            rewards: numbers(&s["rewards"]),
            terminated: s["terminated"].as_str().unwrap().bytes().map(|b| b == b'1').collect(),
        }
    };
    list(&golden["touches"]).iter().map(stretch).collect()
}

#[test]
fn flights_match_gymnasium_until_the_ground() {
    for flight in list(&golden()["flights"]) {
        let actions = numbers(&flight["actions"]);
        let mut lander = LunarLander64::new(0);
        lander.set_state(&numbers(&flight["state"]), 0).unwrap();
        for (t, &action) in actions.iter().enumerate() {
            let state = with_scatter(lander.state(), &numbers(&flight["scatter"][t]));
            lander.set_state(&state, t as u32).unwrap();
            let step = lander.step(choice(action)).unwrap();
            assert!(!step.terminated && !step.truncated);
            let error = distance(&lander.observation(), &numbers(&flight["observations"][t]));
            assert!(error < 1e-3, "{}, step {t}: off by {error:e}", flight["kind"]);
            let error = (step.reward - flight["rewards"][t].as_f64().unwrap()).abs();
            assert!(error < 5e-2, "{}, step {t}: reward off by {error:e}", flight["kind"]);
        }
        assert!(actions.len() > 40);
    }
}

#[test]
fn one_step_from_each_recorded_state_on_the_ground_matches() {
    let (mut landed, mut crashed, mut one_leg, mut both) = (0, 0, 0, 0);
    for (n, stretch) in stretches().iter().enumerate() {
        let mut lander = LunarLander64::new(0);
        for (t, &action) in stretch.actions.iter().enumerate() {
            let (from, to) = (&stretch.states[t], &stretch.states[t + 1]);
            lander.set_state(from, stretch.elapsed + t as u32).unwrap();
            let step = lander.step(choice(action)).unwrap();
            // A fast impact amplifies the rounding errors of Box2D to the third digit. The recording also lacks the order of the neighbours
            // of a crashing hull.
            let crash = stretch.rewards[t] == -100.0;
            let bounds = if crash { [5e-2; 2] } else { [1e-4, 1e-3] };
            let (hull, legs) = (0..HULL, HULL..MOTION);
            for (part, bound) in [hull, legs].into_iter().zip(bounds) {
                let error = distance(&lander.state()[part.clone()], &to[part]);
                assert!(error < bound, "stretch {n}, step {t}: off by {error:e}");
            }
            assert_eq!(lander.state()[26..29], to[26..29], "stretch {n}, step {t}: legs and rest");
            assert_eq!(step.terminated, stretch.terminated[t], "stretch {n}, step {t}");
            let error = (step.reward - stretch.rewards[t]).abs();
            assert!(error < 1e-2, "stretch {n}, step {t}: reward off by {error:e}");
            landed += usize::from(step.terminated && step.reward == 100.0);
            crashed += usize::from(step.terminated && step.reward == -100.0);
            one_leg += usize::from(to[26] != to[27]);
            both += usize::from(to[26] + to[27] == 2.0);
        }
    }
    assert!(landed > 0 && crashed > 3 && one_leg > 30 && both > 60, "{landed} {crashed} {one_leg} {both}");
}

/// Takes one step with the engines off in both versions, from the same state. Asserts that the episode ends in both versions or in neither.
/// Returns the largest difference of the observations, and the difference of the rewards.
fn step_apart(many: &mut LunarLanders, lander: &mut LunarLander64, state: &[f64], elapsed: u32) -> (f64, f64) {
    let (mut reached, mut reward, mut ended) = ([0.0; 32 * OBSERVATION], [0.0; 32], [0; 32]);
    let single: Vec<f32> = state[..STATE].iter().map(|&x| x as f32).collect();
    many.set_environment(0, &single, elapsed, 0).unwrap();
    many.step(&[0.0; 32], &mut reached, &mut reward, &mut ended);
    lander.set_state(state, elapsed).unwrap();
    let step = lander.step(choice(0.0)).unwrap();
    let end = if step.terminated { TERMINATED | (elapsed + 1) << LENGTH_SHIFT } else { 0 };
    assert_eq!(ended[0], end, "step {elapsed}");
    let seen: Vec<f64> = (0..OBSERVATION).map(|i| f64::from(reached[i * 32])).collect();
    (distance(&seen, &lander.observation()), (f64::from(reward[0]) - step.reward).abs())
}

#[test]
fn vectorized_steps_from_recorded_states_match_the_reference() {
    let mut many = LunarLanders::new(Isa::best(), 1, 0, 1);
    let mut lander = LunarLander64::new(0);
    for (n, stretch) in stretches().iter().enumerate() {
        for (t, state) in stretch.states.iter().take(stretch.actions.len()).enumerate() {
            let elapsed = stretch.elapsed + t as u32;
            let (error, reward_error) = step_apart(&mut many, &mut lander, state, elapsed);
            assert!(error < 5e-4, "stretch {n}, step {t}: off by {error:e}");
            assert!(reward_error < 5e-2, "stretch {n}, step {t}: reward off by {reward_error:e}");
        }
    }
}

#[test]
fn direct_flight_matches_the_sweeps_of_the_reference() {
    let mut many = LunarLanders::new(Isa::best(), 1, 0, 1);
    let mut reference = LunarLander64::new(0);
    for seed in 0..20 {
        let mut lander = LunarLander64::new(seed);
        for t in 0..100 {
            let (error, _) = step_apart(&mut many, &mut reference, lander.state(), t);
            // In the first steps of an episode, the legs move to their positions. In these steps, the motors of the legs lag behind in the
            // reference, because the reference uses sweeps.
            let bound = if t < 5 { 1e-3 } else { 1e-4 };
            assert!(error < bound, "seed {seed}, step {t}: off by {error:e}");
            let seen = lander.observation().try_into().unwrap();
            if lander.step(Action::Choice(heuristic::<f64>(seen))).unwrap().terminated {
                break;
            }
        }
    }
}

/// Returns the action that a pilot takes at step `t` of environment `env`. The pilots have the same policies as in the recordings. Random
/// actions depend only on `env` and `t`.
pub fn fly(pilot: &str, shown: &[f32], env: usize, t: usize) -> f32 {
    let example = || heuristic::<f32>(shown.try_into().unwrap()) as f32;
    let words = Rng::new(11, 22).block([env as u32, t as u32, 0, 0]);
    let any = (words[0] >> 30) as f32;
    match pilot {
        "example" => example(),
        "nothing" => 0.0,
        "any_engine" => any,
        "main_engine" => 2.0,
        "mostly_example" if f64::from(words[1]) < 0.7 * f64::from(u32::MAX) => example(),
        "mostly_example" => any,
        _ => panic!("unknown pilot {pilot}"),
    }
}

/// Results of a pilot in the first episodes of each environment.
#[derive(Default)]
struct Flown {
    returns: Vec<f64>,
    lengths: Vec<f64>,
    /// Numbers of craft that crashed, that left the picture, and that landed.
    ends: [f64; 3],
}

fn flown(pilot: &str, each: u32) -> Flown {
    const COUNT: usize = 512;
    let mut fleet = Fleet::new(ID, Isa::best(), 5, 0, COUNT);
    let mut flown = Flown::default();
    let (mut totals, mut taken) = ([0.0; COUNT], [0; COUNT]);
    for t in 0.. {
        fleet.step_by(|env, shown| fly(pilot, shown, env, t));
        for env in 0..COUNT {
            totals[env] += f64::from(fleet.rewards[env]);
            let end = fleet.ended[env];
            if end == 0 {
                continue;
            }
            if taken[env] < each {
                flown.returns.push(totals[env]);
                flown.lengths.push(f64::from(end >> LENGTH_SHIFT));
                let lost = fleet.reached(env)[0].abs() >= 1.0;
                let how = if fleet.rewards[env] == 100.0 { 2 } else { usize::from(lost) };
                flown.ends[how] += f64::from(end & TERMINATED);
            }
            (totals[env], taken[env]) = (0.0, taken[env] + 1);
        }
        if taken.iter().all(|&n| n >= each) {
            break;
        }
    }
    flown
}

fn moments(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    (mean, (values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / n).sqrt())
}

#[test]
fn pilots_have_the_same_statistics_as_in_gymnasium() {
    let golden = golden();
    // Chance alone rarely causes a difference of more than four standard errors. With fewer episodes, rare events are farther from a normal
    // distribution.
    let (each, most) = if testkit::all() { (4, 4.0) } else { (2, 5.0) };
    for (pilot, recorded) in golden["statistics"].as_object().unwrap() {
        let Flown { mut returns, lengths, ends } = flown(pilot, each);
        let n = returns.len() as f64;
        let recorded = |name: &str| recorded[name].as_f64().unwrap_or_else(|| panic!("{name}"));
        let m = recorded("episodes");
        let agree = |what: &str, ours: f64, theirs: f64, variance: [f64; 2]| {
            let error = (variance[0] / n + variance[1] / m).sqrt();
            let sigmas = (ours - theirs).abs() / error;
            assert!(sigmas < most, "{pilot}: {what} {ours:.3}, in Gymnasium {theirs:.3}: {sigmas:.1} errors");
        };
        let (mean, deviation) = moments(&returns);
        agree("return", mean, recorded("mean"), [deviation.powi(2), recorded("deviation").powi(2)]);
        let (mean, deviation) = moments(&lengths);
        agree("length", mean, recorded("length"), [deviation.powi(2), recorded("length_deviation").powi(2)]);
        for (name, count) in ["crashed", "lost", "landed"].into_iter().zip(ends) {
            let (ours, theirs) = (count / n, recorded(name));
            let share = (count + theirs * m + 1.0) / (n + m + 2.0);
            agree(name, ours, theirs, [share * (1.0 - share); 2]);
        }
        // Share of the f32 version's returns that are below each quantile of the recorded returns.
        returns.sort_by(f64::total_cmp);
        let quantiles = numbers(&golden["statistics"][pilot]["quantiles"]);
        for (share, at) in [0.05, 0.25, 0.5, 0.75, 0.95].into_iter().zip(quantiles) {
            let ours = returns.partition_point(|&x| x < at) as f64 / n;
            agree(&format!("share below {at}"), ours, share, [share * (1.0 - share); 2]);
        }
    }
}

#[test]
fn set_state_continues_an_episode_exactly() {
    let (mut first, mut second) = (LunarLander64::new(9), LunarLander64::new(1));
    for t in 0..200 {
        let seen = first.observation().try_into().unwrap();
        if first.step(Action::Choice(heuristic::<f64>(seen))).unwrap().terminated {
            assert!(t > 150, "the example pilot needs more than 150 steps");
            break;
        }
        if t == 60 {
            second.set_state(first.state(), t + 1).unwrap();
        } else if t > 60 {
            second.step(Action::Choice(heuristic::<f64>(seen))).unwrap();
            assert_eq!(first.state(), second.state(), "step {t}");
        }
    }
}

#[test]
fn hovering_is_truncated_at_the_step_limit() {
    let mut fleet = Fleet::new(ID, Isa::best(), 2, 0, 1);
    let (mut state, ..) = fleet.state(0);
    for _ in 0..20 {
        // The craft is moved high above the ground before each step.
        state[1] = 8.0;
        fleet.set(0, &(state.clone(), STEP_LIMIT - 1, 4)).unwrap();
        fleet.step_by(|_, _| 0.0);
        assert_eq!(fleet.ended[0] >> LENGTH_SHIFT, STEP_LIMIT);
        assert!(fleet.ended[0] & TRUNCATED != 0);
        let (_, steps, episodes) = fleet.state(0);
        assert_eq!((steps, episodes), (0, 5), "the next episode started");
        assert_ne!(fleet.reached(0), fleet.shown(0));
    }
}

#[test]
fn initial_states_have_gymnasiums_statistics() {
    let (one, other) = (Fleet::new(ID, Isa::best(), 11, 0, 4096), Fleet::new(ID, Isa::best(), 12, 0, 4096));
    let starts: Vec<Vec<f64>> = one.states().iter().map(|saved| wide(&saved.0)).collect();
    assert!(one.states().iter().zip(other.states()).all(|(a, b)| a.0 != b.0));
    let column = |i: usize| starts.iter().map(|s| s[i]).collect::<Vec<f64>>();
    // A uniform force within ±1000 N acts for 0.02 s on the hull (4.82 kg) and, through the hinges, on both legs (0.14 kg together).
    for (i, mean) in [(3, 0.0), (4, -0.2)] {
        let (centre, deviation) = moments(&column(i));
        let most = 1000.0 * 0.02 / 4.96;
        assert!((centre - mean).abs() < 0.15, "speed {i}: {centre}");
        assert!((deviation / (most / 3f64.sqrt()) - 1.0).abs() < 0.03, "speed {i}: {deviation}");
    }
    // A ground height is the mean of three heights. Each of these is uniform between 0 and 20/3 m, or is the height of the pad.
    for i in 0..11 {
        let (mean, deviation) = moments(&column(GROUND + i));
        let drawn = (0..3).filter(|k| !(3..=7).contains(&((i + k + 11) % 12))).count() as f64;
        let one = 20.0 / 3.0 / 12f64.sqrt() * 0.33;
        assert!((mean - 3.3).abs() < 0.08, "bend {i}: {mean}");
        assert!((deviation - one * drawn.sqrt()).abs() < 0.03, "bend {i}: {deviation}");
    }
    // Each leg is near its stop.
    for s in &starts {
        let [left, right] = [s[14] - s[2], s[8] - s[2]];
        assert!(right > 0.3 && right < 0.7 && left < -0.3 && left > -0.7, "legs at {left} and {right}");
    }
}

/// A random counter has four words: the environment, its episode, the index of the random number divided by four, and the purpose. The
/// purpose of initial states is 1. The GPU kernels use the same counters.
#[test]
fn initial_states_use_the_documented_random_counters() {
    const STREAM: u32 = 0x004C_4C33;
    const BENDS: usize = 11;
    let (seed, first) = (5, 2);
    let rng = Rng::new(seed, STREAM);
    assert_eq!(key(seed), rng.key);
    let many = LunarLanders::new(Isa::best(), seed, first, 3);
    for env in 0..3 {
        let mut drawn = 0u32;
        let mut uniform = |low: f64, high: f64| {
            drawn += 1;
            // Only the reference draws a seed of its random offsets. It draws this seed before all other numbers.
            let Some(place) = drawn.checked_sub(2) else { return low };
            let words = rng.block([first + env, 0, place / 4, 1]);
            low + (high - low) * f64::from(uniform_from_word(words[place as usize % 4]))
        };
        let expected = LunarLander::begin(&mut uniform);
        assert_eq!(drawn, 1 + 12 + 2, "a seed, heights and a force");
        let mut state = [0.0; STATE];
        many.environment(env as usize, &mut state);
        let state = state.map(f64::from);
        let ground = GROUND..GROUND + BENDS;
        assert!(distance(&state[ground.clone()], &expected[ground]) < 1e-4, "environment {env}");
        // Values 3 and 4 of a state are the velocity of the hull.
        assert!(distance(&state[3..5], &expected[3..5]) < 1e-2, "environment {env}");
    }
}

#[test]
fn arbitrary_states_give_finite_steps() {
    let mut many = LunarLanders::new(Isa::best(), 1, 100, 8);
    let (mut reached, mut rewards, mut ended) = ([0.0; 32 * OBSERVATION], [0.0; 32], [0; 32]);
    let rng = Rng::new(1, 2);
    for round in 0..200 {
        let odd: [f32; STATE] = std::array::from_fn(|i| {
            let [word, size, ..] = rng.block([round, i as u32, 0, 0]);
            let scale = [0.0, 1.0, 30.0, 1e4][size as usize % 4];
            (word as f32 / u32::MAX as f32 * 2.0 - 1.0) * scale
        });
        many.set_environment(0, &odd, 0, 0).unwrap();
        for _ in 0..10 {
            many.step(&[round as f32 % 4.0; 32], &mut reached, &mut rewards, &mut ended);
            assert!(reached.iter().all(|x| x.is_finite()) && rewards[0].is_finite(), "round {round}");
        }
    }
}

/// From one state, the engines push each craft, in each step, with its own random offset. Without an engine, all crafts move equally.
#[test]
fn only_engines_have_random_offsets() {
    const COUNT: usize = 40;
    let mut fleet = Fleet::new(ID, Isa::best(), 3, 0, COUNT);
    let (state, ..) = fleet.state(0);
    for action in 0..4 {
        let mut speeds = std::collections::BTreeSet::new();
        for steps in 0..3 {
            (0..COUNT).for_each(|env| fleet.set(env, &(state.clone(), steps, 0)).unwrap());
            fleet.actions.fill(action as f32);
            fleet.step();
            // Value 3 of a state is the horizontal speed of the hull.
            speeds.extend((0..COUNT).map(|env| fleet.state(env).0[3].to_bits()));
        }
        let different = if action == 0 { 1..=1 } else { 3 * COUNT - 6..=3 * COUNT };
        assert!(different.contains(&speeds.len()), "action {action}: {} speeds", speeds.len());
    }
}
