//! The f64 references, compared with episodes recorded from Gymnasium: one step from every recorded state, the first steps of a free run,
//! and the initial states. Longer runs cannot be compared, because the dynamics are chaotic even in f64.

use crate::recorded::{BEGINNINGS, CART_POLE, PENDULUM, RECORDED, act, begin_evenly, episodes, twin};
use testkit::{distance, test};
use worlds::control::{Action, Actions, WorldError, kind, kinds};

#[test]
fn recordings_contain_all_kinds_of_episode_ends() {
    for (id, text) in RECORDED {
        let episodes = episodes(text);
        let ends: Vec<_> = episodes.iter().filter_map(|e| e.steps.last().map(|s| (s.terminated, s.truncated))).collect();
        assert!(ends.contains(&(false, true)), "{id}: no episode is truncated");
        for end in [(true, false), (true, true)] {
            assert_eq!(ends.contains(&end), id != PENDULUM, "{id}: (terminated, truncated) = {end:?}");
        }
        let off_track = episodes.iter().any(|e| e.states.last().unwrap()[0].abs() > worlds::control::cartpole::X_LIMIT);
        assert!(off_track || id != CART_POLE, "no cart leaves the track");
    }
}

#[test]
fn one_step_from_each_recorded_state_matches_gymnasium() {
    for (id, text) in RECORDED {
        let mut world = twin(id);
        for (e, episode) in episodes(text).iter().enumerate() {
            for (t, recorded) in episode.steps.iter().enumerate() {
                world.set_state(&episode.states[t], episode.first_step + t as u32).unwrap();
                let action = act(&*world, recorded.action);
                let step = world.step(action).unwrap();
                let error = distance(world.state(), &episode.states[t + 1]);
                assert!(error < 1e-9, "{id}: episode {e}, step {t}: off by {error:e}");
                let error = (step.reward - recorded.reward).abs();
                let most = if id == CART_POLE { 0.0 } else { 1e-9 };
                assert!(error <= most, "{id}: episode {e}, step {t}: reward off by {error:e}");
                let flags = (recorded.terminated, recorded.truncated);
                assert_eq!((step.terminated, step.truncated), flags, "{id}: episode {e}, step {t}");
            }
            // Gymnasium rounds observations to f32.
            let shown = world.observation();
            let error = distance(&shown, &episode.last_observation);
            assert!(error < 1e-6 * shown.iter().fold(1.0, |m, x| x.abs().max(m)), "{id}: shows {shown:?}");
        }
    }
}

#[test]
fn fifty_free_steps_match_gymnasium() {
    for (id, text) in RECORDED {
        let mut world = twin(id);
        for (e, episode) in episodes(text).iter().enumerate() {
            world.set_state(&episode.states[0], episode.first_step).unwrap();
            for (t, recorded) in episode.steps.iter().enumerate().take(50) {
                let action = act(&*world, recorded.action);
                world.step(action).unwrap();
                let error = distance(world.state(), &episode.states[t + 1]);
                assert!(error < 1e-6, "{id}: episode {e}, step {t}: off by {error:e}");
            }
        }
    }
}

#[test]
fn initial_states_have_gymnasiums_distribution() {
    for (id, _) in BEGINNINGS {
        let mut world = twin(id);
        let mut start = |seed| {
            world.reset(seed);
            world.state().to_vec()
        };
        let starts: Vec<Vec<f64>> = (0..2000).map(&mut start).collect();
        // The rounding to f32 can move an initial state of Acrobot exactly to a bound.
        begin_evenly(id, &starts, [0.03, 0.08], 1e-8);
        assert_eq!(start(7), starts[7], "{id}: equal seeds give equal states");
        assert_ne!(starts[7], starts[8], "{id}: different seeds give different states");
    }
}

#[test]
fn reset_clears_the_step_count() {
    for mut world in kinds().iter().map(|kind| (kind.twin)()) {
        let limit = world.spec().step_limit;
        let action = act(&*world, 0.0);
        let state = world.state().to_vec();
        world.set_state(&state, limit - 1).unwrap();
        assert!(world.step(action.clone()).unwrap().truncated, "{}", world.spec().id);
        world.reset(1);
        assert!(!world.step(action).unwrap().truncated, "{}", world.spec().id);
    }
}

#[test]
fn invalid_states_and_actions_return_errors_and_change_nothing() {
    for mut world in kinds().iter().map(|kind| (kind.twin)()) {
        let spec = world.spec().clone();
        world.reset(3);
        let before = world.state().to_vec();
        let n = before.len();
        assert_eq!((n, world.observation().len()), (spec.state.len(), spec.observation.len()));
        assert!(matches!(world.set_state(&vec![0.0; n + 1], 0), Err(WorldError::StateLength { .. })));
        assert!(matches!(world.set_state(&[], 0), Err(WorldError::StateLength { .. })));
        for bad in [f64::NAN, f64::INFINITY, -1e7] {
            assert_eq!(world.set_state(&vec![bad; n], 0), Err(WorldError::StateSize));
        }
        let late = world.set_state(&before, spec.step_limit);
        assert!(matches!(late, Err(WorldError::Elapsed { .. })));
        let wrong = match spec.actions {
            Actions::Choices(count) => [Action::Choice(count), Action::Choice(u32::MAX), Action::Levels(vec![1.0])],
            Actions::Box { .. } => [Action::Levels(vec![f64::NAN]), Action::Levels(vec![0.0; 2]), Action::Choice(0)],
        };
        let is_box = wrong[2] == Action::Choice(0);
        for action in wrong {
            assert!(world.step(action.clone()).is_err(), "{}: {action:?}", spec.id);
        }
        assert_eq!(world.state(), before, "{}", spec.id);
        // The largest accepted states give finite results.
        world.set_state(&vec![1e6; n], 0).unwrap();
        let action = if is_box { Action::Levels(vec![-1e6]) } else { Action::Choice(0) };
        let step = world.step(action).unwrap();
        assert!(step.reward.is_finite() && world.observation().iter().all(|x| x.is_finite()), "{}", spec.id);
    }
    assert!(kind("Pong-v5").is_none());
}
