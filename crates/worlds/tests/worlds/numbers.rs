//! Tests of an environment with an action of two numbers against its f64 reference, and of kinds that are created at run time.

use crate::point;
use math::{Isa, PANEL};
use std::sync::Arc;
use testkit::test;
use worlds::control::vector::TERMINATED;
use worlds::control::{Action, InvalidState, Kind, Spec, WorldError};

const COUNT: usize = 2 * PANEL + 5;

/// Returns the value with the index `number` of the action that environment `env` takes at step `t`. The value is sometimes outside the
/// permitted range.
fn level(env: usize, t: usize, number: usize) -> f32 {
    2.5 * ((env * 7 + t * 3 + number * 5) as f32).sin()
}

#[test]
fn actions_of_two_numbers_match_the_reference() {
    let kind = point::kind();
    for isa in Isa::available() {
        let mut many = (kind.many)(isa, 5, 0, COUNT);
        let lanes = many.observations().len() / 2;
        let (mut actions, mut reached, mut rewards, mut ended) =
            (vec![0.0; 2 * lanes], vec![0.0; 2 * lanes], vec![0.0; lanes], vec![0; lanes]);
        let mut twin = (kind.twin)();
        let mut terminations = 0;
        for t in 0..90 {
            let mut before = Vec::new();
            for env in 0..COUNT {
                let mut state = [0.0; 2];
                let (steps, _) = many.environment(env, &mut state);
                before.push((state.map(f64::from), steps));
                for number in 0..2 {
                    actions[(env / PANEL * 2 + number) * PANEL + env % PANEL] = level(env, t, number);
                }
            }
            many.step(&actions, &mut reached, &mut rewards, &mut ended);
            for (env, (state, steps)) in before.into_iter().enumerate() {
                twin.set_state(&state, steps).unwrap();
                let step = twin.step(Action::Levels(vec![level(env, t, 0).into(), level(env, t, 1).into()])).unwrap();
                for (number, expected) in twin.observation().into_iter().enumerate() {
                    let found = f64::from(reached[(env / PANEL * 2 + number) * PANEL + env % PANEL]);
                    assert!((found - expected).abs() < 1e-6, "{}: {found}, not {expected}", isa.name());
                }
                assert!((f64::from(rewards[env]) - step.reward).abs() < 1e-6);
                assert_eq!(ended[env] & TERMINATED != 0, step.terminated);
                assert_eq!(ended[env] != 0, step.terminated || step.truncated);
                terminations += usize::from(step.terminated);
            }
        }
        assert!(terminations > 5, "{terminations}");
    }
}

#[test]
fn invalid_actions_of_two_numbers_return_errors() {
    let mut world = (point::kind().twin)();
    for wrong in [Action::Choice(0), Action::Levels(vec![1.0]), Action::Levels(vec![0.0; 3]), Action::Levels(vec![0.0, f64::NAN])] {
        let error = world.step(wrong).unwrap_err();
        assert!(matches!(&error, WorldError::Box { count: 2, .. }), "{error:?}");
        assert!(error.to_string().contains(point::ID), "{error}");
    }
    assert!(world.step(Action::Levels(vec![1.0, -1.0])).is_ok());
}

#[test]
fn kinds_created_at_run_time_name_themselves_in_errors() {
    let kinds: Vec<Kind> = (1..=2)
        .map(|n| {
            let original = point::kind();
            let spec =
                Spec { id: format!("Own-v{n}").into(), state: vec!["a".into(), format!("b{n}").into()].into(), ..(*original.spec).clone() };
            Kind { spec: Arc::new(spec), ..original }
        })
        .collect();
    assert_eq!(kinds[1].clone().spec.id, "Own-v2");
    let error = InvalidState { env: 3, id: kinds[0].spec.id.clone() };
    assert!(error.to_string().contains("Own-v1"), "{error}");
    let error = WorldError::StateLength { id: kinds[1].spec.id.clone(), state: kinds[1].spec.state.clone() };
    assert!(error.to_string().contains("Own-v2") && error.to_string().contains("a, b2"), "{error}");
    assert!(worlds::control::kind("Own-v1").is_none(), "only the registry finds kinds by id");
}
