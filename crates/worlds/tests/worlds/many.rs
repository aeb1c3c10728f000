//! The vectorized environments, compared with their f64 references and with each other. Results are bit-identical for every number of
//! lanes, for every division into groups, and after a restart from a checkpoint.

use crate::fleet::{Fleet, Saved, wide};
use crate::lunar_lander::{self as flying, ID as LANDER};
use crate::recorded::{BEGINNINGS, CART_POLE, PENDULUM, RECORDED, act, begin_evenly, episodes, twin};
use math::Isa;
use std::f64::consts::{PI, TAU};
use testkit::{distance, test, worst};
use worlds::control::vector::{LENGTH_SHIFT, TERMINATED, TRUNCATED};
use worlds::control::{InvalidState, cartpole, kinds, lunar_lander};

const ACROBOT: &str = "Acrobot-v1";

/// Returns the expected word in `ended` after a step, if the episode had `elapsed` steps before this step.
fn end_word(terminated: bool, truncated: bool, elapsed: u32) -> u32 {
    let flags = if terminated { TERMINATED } else { 0 } + if truncated { TRUNCATED } else { 0 };
    if flags == 0 { 0 } else { flags | (elapsed + 1) << LENGTH_SHIFT }
}

/// Takes one step from each recorded state. Observations, rewards and flags agree with the reference. The tolerance is relative for large
/// rewards.
#[test]
fn vectorized_steps_from_recorded_states_match_the_reference() {
    // The rewards of CartPole are exact integers, so their tolerance is 0.
    let tolerances = [[5e-7, 0.0], [2e-7, 4e-7], [2e-7, 4e-7], [2e-6, 4e-6], [1e-4, 2e-4]];
    for ((id, text), [most, most_reward]) in RECORDED.into_iter().zip(tolerances) {
        let mut twin = twin(id);
        // An angle that is observed by its sine and cosine is wrapped to ±π.
        let turns = twin.spec().observation.len() > twin.spec().state.len();
        let mut recorded: Vec<(Saved, f32)> = vec![];
        for e in episodes(text) {
            for (t, (step, state)) in e.steps.iter().zip(&e.states).enumerate() {
                let mut state = state.clone();
                if turns {
                    state[0] = (state[0] + PI).rem_euclid(TAU) - PI;
                }
                let state = state.iter().map(|&x| x as f32).collect();
                recorded.push(((state, e.first_step + t as u32, 0), step.action as f32));
            }
        }
        for isa in Isa::available() {
            let mut fleet = Fleet::new(id, isa, 1, 0, recorded.len());
            for (env, (saved, action)) in recorded.iter().enumerate() {
                fleet.set(env, saved).unwrap();
                fleet.actions[env] = *action;
            }
            let before: Vec<_> = (0..recorded.len()).map(|env| fleet.shown(env)).collect();
            fleet.step();
            let (mut off, mut reward_off) = (0.0, 0.0);
            for (env, ((state, elapsed, _), action)) in recorded.iter().enumerate() {
                twin.set_state(&wide(state), *elapsed).unwrap();
                off = worst([off, distance(&wide(&before[env]), &twin.observation())]);
                let action = act(&*twin, f64::from(*action));
                let step = twin.step(action).unwrap();
                off = worst([off, distance(&wide(&fleet.reached(env)), &twin.observation())]);
                let error = (f64::from(fleet.rewards[env]) - step.reward).abs();
                reward_off = worst([reward_off, error / step.reward.abs().max(1.0)]);
                let end = end_word(step.terminated, step.truncated, *elapsed);
                assert_eq!(fleet.ended[env], end, "{id} on {}: environment {env}", isa.name());
                let (after, steps, episodes) = fleet.state(env);
                assert_eq!((steps, episodes), if end == 0 { (elapsed + 1, 0) } else { (0, 1) });
                assert_eq!(end == 0, fleet.shown(env) == fleet.reached(env), "a new episode started");
                let upright = after.iter().all(|s| s.abs() <= 0.05);
                assert!(upright || end == 0 || id != CART_POLE, "a new episode starts near upright");
            }
            assert!(off < most, "{id} on {}: off by {off:e}", isa.name());
            assert!(reward_off <= most_reward, "{id} on {}: reward {reward_off:e}", isa.name());
        }
    }
}

#[test]
fn cartpole_follows_the_recordings_for_fifty_steps() {
    let episodes = episodes(RECORDED[0].1);
    for isa in Isa::available() {
        let mut fleet = Fleet::new(CART_POLE, isa, 1, 0, episodes.len());
        for (env, e) in episodes.iter().enumerate() {
            let state = e.states[0].iter().map(|&s| s as f32).collect();
            fleet.set(env, &(state, e.first_step, 0)).unwrap();
        }
        for t in 0..50 {
            fleet.step_by(|env, _| episodes[env].steps.get(t).map_or(0.0, |s| s.action as f32));
            for (env, e) in episodes.iter().enumerate().filter(|(_, e)| t < e.steps.len()) {
                let error = distance(&wide(&fleet.reached(env)), &e.states[t + 1]);
                assert!(error < 2e-4, "{}: episode {env}, step {t}: off by {error:e}", isa.name());
            }
        }
    }
}

/// A step amplifies rounding errors more if the links are fast. In the recorded episodes, the links are mostly slow.
#[test]
fn acrobot_matches_the_reference_at_every_speed() {
    const COUNT: usize = 8192;
    let numbers = math::Rng::new(5, 0);
    let number = |env: usize, i: u32, most: f64| {
        let word = numbers.block([env as u32, i, 0, 0])[0];
        ((f64::from(word) / f64::from(u32::MAX) * 2.0 - 1.0) * most) as f32
    };
    let mut twin = twin(ACROBOT);
    for (fastest, tolerance) in [([1.0, 1.0], 1e-6), ([3.0, 6.0], 2e-6), ([6.0, 12.0], 1e-5)] {
        let limits = [PI, PI, fastest[0], fastest[1]];
        for isa in crate::sets() {
            let mut fleet = Fleet::new(ACROBOT, isa, 1, 0, COUNT);
            for env in 0..COUNT {
                let state: [f32; 4] = std::array::from_fn(|i| number(env, i as u32, limits[i]));
                let set = fleet.set(env, &(state.to_vec(), 0, 0));
                let [a, b] = [f64::from(state[0]), f64::from(state[1])];
                let height = -a.cos() - (a + b).cos();
                assert!((height - 1.0).abs() < 1e-4 || set.is_ok() == (height < 1.0), "{height}");
            }
            let before: Vec<_> = fleet.states().iter().map(|saved| wide(&saved.0)).collect();
            fleet.step_by(|env, _| (env % 3) as f32);
            for env in 0..COUNT {
                twin.set_state(&before[env], 0).unwrap();
                let action = act(&*twin, f64::from(fleet.actions[env]));
                let step = twin.step(action).unwrap();
                let error = distance(&wide(&fleet.reached(env)), &twin.observation());
                assert!(error < tolerance, "{}: {:?} by {error:e}", isa.name(), before[env]);
                // If the tip is at the goal line within the tolerance, rounding decides whether the episode terminates. The test then
                // accepts both results.
                let [a, b] = [twin.state()[0], twin.state()[1]];
                let clear = (a.cos() + (a + b).cos() + 1.0).abs() > tolerance;
                assert!(!clear || step.terminated == (fleet.ended[env] & TERMINATED != 0));
            }
        }
    }
}

/// Words in `ended`, and bits of the rewards, for all steps.
pub type Played = (Vec<u32>, Vec<u32>);

/// Steps a fleet whose first environment has the number `first`. With the chosen actions, some environments reach their goal and some do
/// not.
pub fn play(fleet: &mut Fleet, first: usize, steps: std::ops::Range<usize>) -> Played {
    let (count, id) = (fleet.many.count(), &*fleet.kind.spec.id);
    let mut played = (vec![], vec![]);
    for t in steps {
        fleet.step_by(|env, shown| match id {
            // Even environments balance well; odd environments push the wrong way in two of three steps.
            CART_POLE => {
                let lean = 0.1 * shown[0] + 0.3 * shown[1] + 3.0 * shown[2] + 0.6 * shown[3];
                if (lean > 0.0) == (env % 2 == 0 || t % 3 == 0) { 1.0 } else { 0.0 }
            }
            LANDER => flying::fly("mostly_example", shown, first + env, t),
            // Some actions push in the direction of the speed, some against it. Some environments are always pushed in the same direction.
            _ => {
                let with = env % 4 != 3 && (shown[shown.len() - 1] >= 0.0) == (t % 7 != env % 3);
                if with { 2.0 } else { 0.0 }
            }
        });
        played.0.extend_from_slice(&fleet.ended[..count]);
        played.1.extend(fleet.rewards[..count].iter().map(|reward| reward.to_bits()));
    }
    played
}

fn count_ends(played: &Played) -> usize {
    played.0.iter().filter(|&&end| end != 0).count()
}

/// In each environment, every played step agrees with a step of the reference. LunarLander has its own test, because its ground contact
/// amplifies rounding. Other tests have stricter bounds for recorded states; this test also covers environments without recordings.
#[test]
fn played_steps_match_the_reference() {
    for kind in kinds().into_iter().filter(|kind| kind.spec.id != LANDER) {
        let id = &*kind.spec.id;
        let mut twin = twin(id);
        let mut fleet = Fleet::new(id, Isa::best(), 5, 0, 96);
        for t in 0..300 {
            let before = fleet.states();
            play(&mut fleet, 0, t..t + 1);
            for (env, (state, elapsed, _)) in before.iter().enumerate() {
                twin.set_state(&wide(state), *elapsed).unwrap();
                let step = twin.step(act(&*twin, f64::from(fleet.actions[env]))).unwrap();
                let off = distance(&wide(&fleet.reached(env)), &twin.observation());
                assert!(off < 1e-4, "{id}: from {state:?}, off by {off:e}");
                let reward_off = (f64::from(fleet.rewards[env]) - step.reward).abs() / step.reward.abs().max(1.0);
                assert!(reward_off < 2e-4, "{id}: from {state:?}, reward off by {reward_off:e}");
                assert_eq!(fleet.ended[env], end_word(step.terminated, step.truncated, *elapsed), "{id}: from {state:?}");
            }
        }
    }
}

#[test]
fn instruction_sets_of_a_class_agree_bit_for_bit() {
    for kind in kinds() {
        let id = &*kind.spec.id;
        let is_lander = id == LANDER;
        let runs: Vec<_> = Isa::available()
            .into_iter()
            .chain([Isa::Portable])
            .map(|isa| {
                let mut fleet = Fleet::new(id, isa, 7, 0, 90);
                let played = play(&mut fleet, 0, 0..if is_lander { 250 } else { 600 });
                assert!(count_ends(&played) > 50, "{id}: {} ends", count_ends(&played));
                (isa.fused(), (fleet.states(), played))
            })
            .collect();
        for (fused, run) in &runs {
            // The lander uses no fused multiply-add, so its results agree for all instruction sets.
            let (_, first) = runs.iter().find(|other| other.0 == *fused || is_lander).unwrap();
            assert!(run == first, "{id}: fused: {fused}");
        }
    }
}

#[test]
fn results_do_not_depend_on_grouping_or_resuming() {
    for kind in kinds() {
        let id = &*kind.spec.id;
        let is_lander = id == LANDER;
        let mut whole = Fleet::new(id, Isa::best(), 3, 0, 200);
        let mut part = Fleet::new(id, Isa::best(), 3, 96, 104);
        let (all, some) = (play(&mut whole, 0, 0..300), play(&mut part, 96, 0..300));
        for t in 0..300 {
            let (all_range, some_range) = (t * 200 + 96..(t + 1) * 200, t * 104..(t + 1) * 104);
            assert_eq!(all.0[all_range.clone()], some.0[some_range.clone()], "{id}: grouping, step {t}");
            assert_eq!(all.1[all_range], some.1[some_range], "{id}: grouping, step {t}");
        }
        assert_eq!(whole.states()[96..], part.states()[..], "{id}: grouping");

        let mut resumed = Fleet::new(id, Isa::best(), 3, 0, 200);
        for (env, saved) in whole.states().iter().enumerate() {
            resumed.set(env, saved).unwrap();
            assert_eq!(whole.shown(env), resumed.shown(env), "{id}: observation after resuming");
        }
        let more = play(&mut whole, 0, 300..550);
        assert_eq!(more, play(&mut resumed, 0, 300..550), "{id}: resumed");
        assert_eq!(whole.states(), resumed.states(), "{id}: resumed");
        if is_lander {
            assert!(count_ends(&all) > 100 && count_ends(&more) > 50, "{id}");
            continue;
        }
        let last = play(&mut whole, 0, 550..1200);
        let ends: Vec<u32> = [all.0, more.0, last.0].concat().into_iter().filter(|&end| end != 0).collect();
        assert!(ends.iter().any(|end| end & TRUNCATED != 0), "{id}");
        assert_eq!(ends.iter().any(|end| end & TERMINATED != 0), id != PENDULUM, "{id}");
        for end in ends {
            let (length, limit) = (end >> LENGTH_SHIFT, kind.spec.step_limit);
            assert!(length > 0 && length <= limit, "{id}: an episode of {length}");
            assert_eq!(end & TRUNCATED != 0, length == limit, "{id}");
        }
    }
}

/// `begin` moves one environment to the start of its next episode and changes no other environment.
#[test]
fn begin_starts_the_next_episode_of_one_environment_only() {
    for kind in kinds() {
        let id = &*kind.spec.id;
        let [mut left, mut played] = [(); 2].map(|()| Fleet::new(id, Isa::best(), 7, 3, 40));
        played.actions.fill(1.0);
        let ended = (0..kind.spec.step_limit).find_map(|_| {
            played.step();
            (0..40).find(|&env| played.ended[env] != 0)
        });
        let env = ended.unwrap_or_else(|| panic!("{id}: no episode ended"));
        let first = played.state(env);
        assert_eq!((first.1, first.2), (0, 1), "{id}");
        let before = left.many.observations().to_vec();
        left.many.begin(env);
        assert_eq!(left.state(env), first, "{id}");
        let features = kind.spec.observation.len();
        for (i, (now, was)) in left.many.observations().iter().zip(&before).enumerate() {
            let of = i / (32 * features) * 32 + i % 32;
            assert!(of == env || now == was, "{id}: environment {of}");
        }
        assert_eq!(left.shown(env), played.shown(env), "{id}");
    }
}

#[test]
fn initial_states_are_uniform_within_bounds_and_differ_by_seed() {
    for (id, _) in BEGINNINGS {
        let [one, other] = [11, 12].map(|seed| Fleet::new(id, Isa::best(), seed, 0, 4096).states());
        assert!(one.iter().zip(&other).all(|(a, b)| a.0 != b.0), "{id}: different seeds give different states");
        let starts: Vec<_> = one.iter().map(|saved| wide(&saved.0)).collect();
        begin_evenly(id, &starts, [0.02, 0.05], if id == CART_POLE { 0.0 } else { 1e-6 });
    }
}

#[test]
fn invalid_states_are_rejected() {
    let late = [cartpole::STEP_LIMIT, cartpole::EPISODES];
    let of = |id: &'static str, state: &[f32], steps: u32, episodes: u32| (id, (state.to_vec(), steps, episodes));
    let (car, nan) = ("MountainCar-v0", f32::NAN);
    let craft = |seventh: f32| {
        let mut state = [0.0; lunar_lander::STATE];
        state[7] = seventh;
        state
    };
    for (id, wrong) in [
        of(CART_POLE, &[3.0, 0.0, 0.0, 0.0], 0, 0),
        of(CART_POLE, &[-3.0, 0.0, 0.0, 0.0], 0, 0),
        of(CART_POLE, &[0.0, 0.0, 0.3, 0.0], 0, 0),
        of(CART_POLE, &[0.0, 0.0, -0.3, 0.0], 0, 0),
        of(CART_POLE, &[0.0, nan, 0.0, 0.0], 0, 0),
        of(CART_POLE, &[0.0, 0.0, 0.0, f32::INFINITY], 0, 0),
        of(CART_POLE, &[0.0; 4], late[0], 0),
        of(CART_POLE, &[0.0; 4], 0, late[1]),
        of(car, &[0.55, 0.01], 0, 0),
        of(car, &[-1.3, 0.0], 0, 0),
        of(car, &[0.0, 0.08], 0, 0),
        of(car, &[0.0, -0.08], 0, 0),
        of(car, &[nan, 0.0], 0, 0),
        of(car, &[0.0, 0.0], 200, 0),
        of(PENDULUM, &[4.0, 0.0], 0, 0),
        of(PENDULUM, &[-4.0, 0.0], 0, 0),
        of(PENDULUM, &[0.0, 8.5], 0, 0),
        of(PENDULUM, &[0.0, -8.5], 0, 0),
        of(PENDULUM, &[0.0, nan], 0, 0),
        of(ACROBOT, &[4.0, 0.0, 0.0, 0.0], 0, 0),
        of(ACROBOT, &[0.0, -4.0, 0.0, 0.0], 0, 0),
        of(ACROBOT, &[0.0, 0.0, 12.7, 0.0], 0, 0),
        of(ACROBOT, &[0.0, 0.0, -12.7, 0.0], 0, 0),
        of(ACROBOT, &[0.0, 0.0, 0.0, 28.3], 0, 0),
        of(ACROBOT, &[0.0, 0.0, 0.0, -28.3], 0, 0),
        of(ACROBOT, &[nan, 0.0, 0.0, 0.0], 0, 0),
        of(LANDER, &craft(nan), 0, 0),
        of(LANDER, &craft(f32::INFINITY), 0, 0),
        of(LANDER, &craft(1e5), 0, 0),
        of(LANDER, &craft(-1e5), 0, 0),
        of(LANDER, &craft(0.0), lunar_lander::STEP_LIMIT, 0),
        of(LANDER, &craft(0.0)[1..], 0, 0),
    ] {
        let mut fleet = Fleet::new(id, Isa::best(), 1, 100, 8);
        assert_eq!(fleet.set(2, &wrong), Err(InvalidState { env: 102, id: id.into() }), "{wrong:?}");
        let right = fleet.state(2);
        assert!(fleet.set(8, &right).is_err(), "index 8 is out of range");
        let most = if id == CART_POLE { late[1] - 1 } else { 7 };
        assert_eq!(fleet.set(2, &(right.0, 0, most)), Ok(()), "the largest episode count is accepted");
    }
}
