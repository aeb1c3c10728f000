//! Kinds of user files: their specifications, the contract of the trait `Vector`, and single environments.

use super::script_fleet::{OBSERVE, TEMPLATES, compiled, file};
use math::{Isa, PANEL, Rng, rng};
use worlds::control::script::Choice;
use worlds::control::{Action, Actions, Kind, Vector, WorldError};

const TEMPLATE_STEPS: &str = include_str!("../../../../tests/golden/script_worlds.txt");

fn template(name: &str) -> Kind {
    let (_, text) = TEMPLATES.iter().find(|(of, _)| *of == name).unwrap();
    compiled(text).kind(name.to_owned())
}

/// Returns a file whose environments fail in a step with the action 2 if `x` is 3. `x` counts steps.
fn failing() -> String {
    let step = "self.x += 1\nself.y = 1 // (0 if action == 2 and self.x == 3 else 1)\nreturn 1.0, self.x == 5";
    let mask = "    def mask(self):\n        return [True, self.x > 1, True]\n";
    file("self.x = 0\nself.y = 0", step, &format!("{OBSERVE}{mask}"))
}

/// One panel of environments behind the trait [`Vector`], with the results of the last step.
struct Panel {
    vector: Box<dyn Vector>,
    actions: Vec<f32>,
    reached: Vec<f32>,
    rewards: [f32; PANEL],
    ended: [u32; PANEL],
}

impl Panel {
    fn new(kind: &Kind, isa: Isa, seed: u32, first: u32) -> Panel {
        let vector = (kind.many)(isa, seed, first, PANEL);
        let (actions, reached) = (vec![0.0; PANEL * kind.spec.actions.numbers()], vec![0.0; vector.observations().len()]);
        Panel { vector, actions, reached, rewards: [0.0; PANEL], ended: [0; PANEL] }
    }

    fn step(&mut self) {
        self.vector.step(&self.actions, &mut self.reached, &mut self.rewards, &mut self.ended);
    }

    fn saved(&self, env: usize) -> (Vec<f32>, u32, u32) {
        let mut state = vec![0.0; self.vector.state_len()];
        let (steps, episodes) = self.vector.environment(env, &mut state);
        (state, steps, episodes)
    }
}

fn lane(panels: &[f32], env: usize) -> Vec<f64> {
    panels.iter().skip(env).step_by(PANEL).map(|x| f64::from(*x)).collect()
}

fn bools(numbers: Vec<f64>) -> Vec<bool> {
    numbers.into_iter().map(|x| x != 0.0).collect()
}

#[test]
fn specifications_describe_the_file() {
    for (name, text) in TEMPLATES {
        let (world, kind) = (compiled(text), template(name));
        let spec = &kind.spec;
        assert_eq!((&*spec.id, spec.step_limit, spec.observation.len()), (name, world.meta.limit, world.observation_len()));
        assert!(spec.summary.len() > 10 && text.contains(&*spec.summary) && !spec.summary.contains("First"), "{}", spec.summary);
        assert_eq!((spec.actions.numbers(), kind.mask_len()), (world.action_len(), world.mask_len()), "{name}");
        assert_eq!(spec.choices.len(), world.choices().map_or(0, |count| count as usize), "{name}");
        assert!(spec.choices.iter().zip(&world.meta.names).all(|(choice, name)| choice == name), "{name}");
        assert_eq!(spec.solved_at, f64::from(world.meta.solved.unwrap()), "{name}");
        assert!(spec.returns[0] < spec.returns[1] && spec.returns.contains(&spec.solved_at), "{name}");
        assert_eq!((kind.twin)().state().len(), spec.state.len(), "{name}");
        assert_eq!(matches!(spec.actions, Actions::Box { .. }), matches!(world.meta.actions, Choice::Box { .. }), "{name}");
    }
    assert_eq!(*template("taxi").spec.state, ["goal", "passenger", "x", "y"]);
    assert_eq!(template("breakout").spec.state[9], "bricks[9]");
    assert_eq!(template("cartpole").spec.returns, [0.0, 475.0]);

    let lists =
        file("self.x = [[0] * 3, [0] * 3]\nself.y = 0", "return 0.0, False", "    def observe(self):\n        return [self.y, 2]\n");
    let plain = compiled(&lists).kind("Plain").spec;
    assert_eq!(*plain.state, ["x[0][0]", "x[0][1]", "x[0][2]", "x[1][0]", "x[1][1]", "x[1][2]", "y"]);
    assert_eq!(*plain.choices, ["choice 0", "choice 1", "choice 2"]);
    assert_eq!(*plain.observation, ["y", "2"]);
    assert_eq!((&*plain.summary, plain.solved_at, plain.returns), ("", f64::INFINITY, [0.0, 1.0]));
}

/// A single environment equals environment 0 of many: state, observation, mask, reward and end of every step.
#[test]
fn one_environment_equals_many() {
    for (name, text) in TEMPLATES {
        let (world, kind) = (compiled(text), template(name));
        let (mut panel, mut one) = (Panel::new(&kind, Isa::Portable, 5, 0), (kind.twin)());
        one.reset(5);
        let mut drawn = Rng::new(1, 2).sequence(0);
        for step in 0..300 {
            let words = (0..kind.spec.actions.numbers()).map(|_| rng::uniform_from_word(drawn.word()));
            let numbers: Vec<f32> = words.map(|u| world.choices().map_or(2.4 * u - 1.2, |count| (u * count as f32).floor())).collect();
            numbers.iter().enumerate().for_each(|(k, x)| panel.actions[k * PANEL] = *x);
            let context = format!("{name}, step {step}");
            assert_eq!(one.observation(), lane(panel.vector.observations(), 0), "{context}");
            assert_eq!(one.permitted(), bools(lane(panel.vector.masks(), 0)), "{context}");
            panel.step();
            let action = match kind.spec.actions {
                Actions::Choices(_) => Action::Choice(numbers[0] as u32),
                Actions::Box { .. } => Action::Levels(numbers.iter().map(|x| f64::from(*x)).collect()),
            };
            let found = one.step(action).unwrap();
            assert_eq!((found.reward, one.observation()), (panel.rewards[0].into(), lane(&panel.reached, 0)), "{context}");
            assert_eq!([found.terminated, found.truncated], [1, 2].map(|flag| panel.ended[0] & flag != 0), "{context}");
            if panel.ended[0] != 0 {
                assert_eq!(panel.ended[0] >> 2, step + 1, "{context}");
                break;
            }
        }
    }
}

/// Compares the steps of environment 0's first episode with plain Python. The lines of the file are described in `script_golden.rs`.
#[test]
fn single_environments_agree_with_python() {
    let numbers = |text: &str| -> Vec<f64> { text.split_whitespace().map(|x| x.parse().unwrap()).collect() };
    let agree = |found: &[f64], expected: &[f64], context: &str| {
        assert_eq!(found.len(), expected.len(), "{context}");
        let worst = found.iter().zip(expected).map(|(x, y)| (x - y).abs() / y.abs().max(1.0)).fold(0.0, f64::max);
        assert!(worst <= 5e-6, "{context}: {found:?}, expected {expected:?}");
    };
    let (mut one, mut checked) = ((template("catch").twin)(), 0);
    for line in TEMPLATE_STEPS.lines() {
        if let Some(name) = line.strip_prefix("= ") {
            one = (template(name).twin)();
            one.reset(7);
        }
        let Some((steps, rest)) = line.strip_prefix("step 0 0 ").and_then(|line| line.split_once(" | ")) else { continue };
        let parts: Vec<Vec<f64>> = rest.split('|').map(numbers).collect();
        let context = format!("{}: step {steps}", one.spec().id);
        one.set_state(&parts[0], steps.parse().unwrap()).unwrap();
        let action = match one.spec().actions {
            Actions::Choices(_) => Action::Choice(parts[1][0] as u32),
            Actions::Box { .. } => Action::Levels(parts[1].clone()),
        };
        let step = one.step(action).unwrap();
        agree(&[step.reward, f64::from(u8::from(step.terminated))], &parts[2], &context);
        agree(one.state(), &parts[3], &context);
        agree(&one.observation(), &parts[4], &context);
        assert!(parts[5].is_empty() || one.permitted() == bools(parts[5].clone()), "{context}");
        checked += 1;
    }
    assert!(checked > 80, "{checked}");
}

#[test]
fn a_fault_keeps_the_state_behind_the_trait() {
    for isa in Isa::available() {
        let mut panel = Panel::new(&compiled(&failing()).kind("Failing"), isa, 1, 100);
        (0..2).for_each(|_| panel.step());
        panel.actions.fill(2.0);
        panel.actions[9] = 1.0;
        let before = (panel.saved(4), lane(panel.vector.observations(), 4), lane(panel.vector.masks(), 4));
        assert_eq!((&before.1, &before.2), (&vec![2.0, 1.0], &vec![1.0; 3]));
        for step in 3..9 {
            panel.step();
            let fault = panel.vector.fault().unwrap();
            assert_eq!((fault.env, fault.episode, fault.step, fault.line), (100, 0, 3, Some(8)), "{fault}");
            assert_eq!((panel.rewards[4], panel.ended[4], lane(&panel.reached, 4)), (0.0, 0, before.1.clone()));
            assert_eq!((panel.saved(4), lane(panel.vector.observations(), 4), lane(panel.vector.masks(), 4)), before);
            // Environment 9 took another action. Its episodes have five steps.
            assert_eq!((panel.rewards[9], panel.saved(9).1, panel.saved(9).2), (1.0, step % 5, step / 5));
            panel.actions[4] = 0.0;
        }
        // An environment can continue from a saved state, even from the state before an error.
        let (state, steps, episodes) = before.0;
        panel.vector.set_environment(4, &state, steps, episodes).unwrap();
        panel.step();
        assert_eq!((panel.rewards[4], panel.saved(4).1), (1.0, 3));
        panel.vector.begin(5);
        assert_eq!((panel.saved(5), lane(panel.vector.masks(), 5)), ((vec![0.0; 4], 0, 1), vec![1.0, 0.0, 1.0]));
        let error = panel.vector.set_environment(4, &state[1..], 0, 0).unwrap_err();
        assert_eq!((error.env, &*error.id), (104, "Failing"));
        panel.vector.reset(1, 0);
        assert_eq!(panel.vector.fault(), None);
    }
}

#[test]
fn a_mask_without_a_choice_is_an_error_unless_the_episode_is_over() {
    let mask = "    def mask(self):\n        return [self.x < 2, False, False]\n";
    for (over, expected) in [("self.x == 5", Some((2, Some(12)))), ("self.x == 2", None)] {
        let text = file("self.x = 0\nself.y = 0", &format!("self.x += 1\nreturn 1.0, {over}"), &format!("{OBSERVE}{mask}"));
        let mut panel = Panel::new(&compiled(&text).kind("Masked"), Isa::best(), 1, 0);
        (0..6).for_each(|_| panel.step());
        assert_eq!(panel.vector.fault().map(|fault| (fault.step, fault.line)), expected, "{over}");
        assert_eq!((panel.saved(3).0[1], lane(panel.vector.masks(), 3)), (if expected.is_some() { 1.0 } else { 0.0 }, vec![1.0, 0.0, 0.0]));
    }
}

#[test]
fn single_environments_return_errors() {
    let kind = compiled(&failing()).kind("Failing");
    let mut one = (kind.twin)();
    one.set_state(&[2.0, 1.0], 7).unwrap();
    let error = one.step(Action::Choice(2)).unwrap_err();
    assert!(error.to_string().starts_with("environment 0 failed in step 8 of episode 0, line 8: a division by zero"), "{error}");
    assert_eq!((one.state(), one.fault().is_some()), (&[2.0, 1.0][..], true));
    assert_eq!(one.step(Action::Choice(0)).unwrap().reward, 1.0);
    assert!(one.fault().is_none() && one.state() == [3.0, 1.0]);
    assert!(matches!(one.step(Action::Choice(3)), Err(WorldError::Choice { count: 3, .. })));
    for wrong in [[0.5, 0.0], [f64::NAN, 0.0], [f64::INFINITY, 0.0], [3e9, 0.0]] {
        let error = one.set_state(&wrong, 0).unwrap_err();
        assert!(error.to_string().contains("no state of Failing"), "{error}");
    }
    assert!(matches!(one.set_state(&[0.0], 0), Err(WorldError::StateLength { .. })));
    assert!(matches!(one.set_state(&[0.0, 0.0], 1000), Err(WorldError::Elapsed { limit: 1000, .. })));
    one.set_state(&[0.0, 0.0], 999).unwrap();
    assert!(one.step(Action::Choice(0)).unwrap().truncated);

    // The start of an episode fails.
    let text = file("self.x = randint(0, 2)\nself.y = 1 // self.x", "return 1.0, False", OBSERVE);
    let (mut one, mut failed) = ((compiled(&text).kind("Half").twin)(), 0);
    for seed in 0..20 {
        one.reset(seed);
        match one.step(Action::Choice(0)) {
            Ok(step) => assert!(step.reward == 1.0 && one.fault().is_none()),
            Err(error) => {
                failed += 1;
                assert!(error.to_string().contains("failed in step 0 of episode 0, line 5"), "{error}");
                assert_eq!((one.step(Action::Choice(0)), one.state()), (Err(error), &[0.0, 0.0][..]));
            }
        }
    }
    assert!((1..20).contains(&failed), "{failed}");
}

/// The two templates have the rules of the built-in environments. Before each step, the template's environment gets the built-in state.
#[test]
fn templates_agree_with_the_built_in_environments_step_by_step() {
    for (name, id, order) in [("cartpole", "CartPole-v1", &[2, 1, 3, 0][..]), ("mountain_car", "MountainCar-v0", &[0, 1])] {
        let (ours, theirs) = (template(name), worlds::control::kind(id).unwrap());
        let (mut ours, mut theirs) = ((ours.twin)(), (theirs.twin)());
        let Actions::Choices(count) = ours.spec().actions else { panic!("{name} has choices") };
        let mut drawn = Rng::new(3, 4).sequence(0);
        for episode in 0..100 {
            theirs.reset(episode);
            for steps in 0.. {
                let state: Vec<f64> = order.iter().map(|&k: &usize| theirs.state()[k]).collect();
                ours.set_state(&state, steps).unwrap();
                let action = Action::Choice((rng::uniform_from_word(drawn.word()) * count as f32) as u32);
                let (own, expected) = (ours.step(action.clone()).unwrap(), theirs.step(action).unwrap());
                let context = format!("{name}, episode {episode}, step {steps}");
                assert_eq!(
                    (own.reward, own.terminated, own.truncated),
                    (expected.reward, expected.terminated, expected.truncated),
                    "{context}"
                );
                for (k, found) in order.iter().zip(ours.state()) {
                    let expected = theirs.state()[*k];
                    assert!((found - expected).abs() <= 2e-6 * expected.abs().max(1.0), "{context}: {found}, not {expected}");
                }
                if expected.terminated || expected.truncated {
                    break;
                }
            }
        }
    }
}
