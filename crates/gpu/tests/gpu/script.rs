//! Tests of user files on the device, compared with the engine that runs the files on the CPU. Integers, flags, random words and errors are
//! equal. Floats are equal up to rounding.

use crate::environments::{Device, ENVS, FIRST, SEED, row};
use crate::pause;
use crate::ppo::{compare_kind, iterate_on_cpu, normalized, of_kind, small};
use crate::script_fleet::{TEMPLATES, Worlds, compiled, programs_about_lists};
use gpu::Gpu;
use gpu::control::world;
use learn::control::{IterationStats, Ppo, PpoConfig};
use learn::{Learner, Offload, Slice};
use math::rng::{hash_1, uniform_from_word};
use worlds::control::script::{Type, World, compile};
use worlds::control::vector::{TERMINATED, TRUNCATED};
use worlds::control::{Actions, Kind, Vector};

fn template(name: &str) -> World {
    compiled(TEMPLATES.iter().find(|(of, _)| *of == name).unwrap().1)
}

fn kind(world: &World) -> Kind {
    world.kind("File-v0")
}

/// Sets random actions of the environments on the CPU. Returns the same actions as `[ENVS][numbers of an action]`.
fn act(host: &mut Worlds, kind: &Kind, turn: u32) -> Vec<f32> {
    let number = |env: usize, k: usize| {
        let unit = uniform_from_word(hash_1([SEED, turn], [env as u32, k as u32])[0]);
        match kind.spec.actions {
            Actions::Choices(count) => (unit * count as f32).floor(),
            Actions::Box { .. } => 2.4 * unit - 1.2,
        }
    };
    let mut all = Vec::new();
    for env in 0..ENVS {
        let action: Vec<f32> = (0..kind.spec.actions.numbers()).map(|k| number(env, k)).collect();
        host.act(env, &action);
        all.extend(action);
    }
    all
}

fn states(host: &Worlds) -> Vec<(Vec<f32>, u32, u32)> {
    (0..ENVS).map(|env| host.saved(env)).collect()
}

/// Returns the largest difference between two lists of floats. A difference is relative if the expected float is above 1 in absolute value.
fn apart(found: &[f32], expected: &[f32]) -> f32 {
    let gap = |(f, e): (&f32, &f32)| if f == e { 0.0 } else { (f - e).abs() / e.abs().max(1.0) };
    let worst = found.iter().zip(expected).map(gap).fold(0.0, f32::max);
    assert!(found.len() == expected.len() && found.iter().all(|x| x.is_finite()), "{found:?}, not {expected:?}");
    worst
}

/// Splits a saved state into two lists: its integers and bools, and its floats.
fn split(world: &World, state: &[f32]) -> (Vec<f32>, Vec<f32>) {
    let (mut whole, mut floats, mut rest) = (Vec::new(), Vec::new(), state);
    for attribute in &world.attributes {
        let (these, others) = rest.split_at(attribute.len * (1 + usize::from(attribute.ty == Type::Int)));
        if attribute.ty == Type::Float {
            floats.extend(these)
        } else {
            whole.extend(these)
        }
        rest = others;
    }
    (whole, floats)
}

/// Bound of the differences of floats after one step from equal states.
const ROUNDING: f32 = 1e-5;

/// Number of steps that the engine takes before the first compared step.
const EARLIER: u32 = 100;
/// Number of compared steps.
const STEPS: u32 = 25;

/// Takes [`EARLIER`] steps of the engine. Then changes the step count of every third environment, so that its episode is soon truncated.
fn warm(host: &mut Worlds, kind: &Kind) {
    for turn in 0..EARLIER {
        act(host, kind, turn);
        host.step();
    }
    for env in (0..ENVS).step_by(3) {
        let (state, _, episodes) = host.saved(env);
        let age = kind.spec.step_limit - 1 - env as u32 % (2 * STEPS);
        host.fleet.set_environment(env, &state, age, episodes).unwrap();
    }
}

/// Compares steps of a file on the device with steps of the engine, from every state of a run of the engine.
async fn compare_steps(gpu: &Gpu, name: &str, file: &World) {
    let kind = kind(file);
    let device = Device::new(gpu, world(&kind).unwrap_or_else(|| panic!("{name} has no kernels")));
    let mut host = Worlds::new(file, math::Isa::best(), SEED, FIRST, ENVS);
    device.begin();
    let begun = device.see().await;
    let (mut terminated, mut truncated, mut otherwise, mut worst) = (0, 0, 0, 0.0f32);
    for env in 0..ENVS {
        let gap = apart(&begun.state(env), &host.saved(env).0).max(apart(begun.shown(env), &host.shown(env)));
        assert!(gap <= ROUNDING, "{name}: the first states of environment {env} differ by {gap}");
    }
    warm(&mut host, &kind);
    for turn in EARLIER..EARLIER + STEPS {
        let actions = act(&mut host, &kind, turn);
        device.put_states(states(&host));
        device.step(&actions);
        host.step();
        let seen = device.see().await;
        assert!(host.fault().is_none() && seen.faults.iter().all(|word| *word == 0), "{name}: {:?}", host.fault());
        for env in 0..ENVS {
            let place = format!("{name}, environment {env} in step {turn}");
            let (state, age, episodes) = host.saved(env);
            let ((found, found_floats), (expected, floats)) = (split(file, &seen.state(env)), split(file, &state));
            // Rounding can decide a comparison of floats in the file, so a few steps may differ.
            if seen.ended[env] != host.ended[env] || found != expected {
                otherwise += 1;
                continue;
            }
            assert_eq!(seen.age(env), (age, episodes), "{place}");
            let gaps = [
                apart(&found_floats, &floats),
                apart(row(&seen.reached, env), &host.reached(env)),
                apart(seen.shown(env), &host.shown(env)),
                apart(&[seen.rewards[env]], &[host.rewards[env]]),
            ];
            assert!(gaps.iter().all(|gap| *gap <= ROUNDING), "{place}: {gaps:?}");
            worst = gaps.into_iter().fold(worst, f32::max);
            terminated += u32::from(host.ended[env] & TERMINATED != 0);
            truncated += u32::from(host.ended[env] & TRUNCATED != 0);
        }
    }
    println!("{name}: {terminated} terminated, {truncated} truncated, {otherwise} differ; largest difference of floats {worst:e}");
    let has_floats = file.attributes.iter().any(|attribute| attribute.ty == Type::Float);
    assert!(otherwise <= if has_floats { 3 } else { 0 }, "{name}: {otherwise} steps differ");
    assert!(truncated > 20, "{name}: {truncated} truncated");
    assert!(terminated > 0 || ["double_pendulum", "mountain_car", "predator", "taxi"].contains(&name), "{name}: no episode terminated");
}

async fn templates_of_integers_match_the_engine(gpu: Gpu) {
    compare_steps(&gpu, "catch", &template("catch")).await;
}

/// A software adapter needs minutes to compile the kernels of snake, so only a real GPU compares snake.
async fn templates_match_the_engine(gpu: Gpu) {
    let names = TEMPLATES.map(|(name, _)| name).into_iter();
    // With `catch` (above), these templates have integers and floats, choices and boxes.
    for name in names.filter(|name| testkit::all() || ["pong", "racer"].contains(name)) {
        if name != "snake" || !gpu.about().software {
            compare_steps(&gpu, name, &template(name)).await;
        }
    }
}

/// Maximum number of instructions in a step of a compared program. A software adapter needs seconds to compile a longer one.
const SHORT: usize = 400;

/// Compares random programs about lists with the engine, from their first states. All their numbers are exact.
async fn programs_about_lists_match_the_engine(gpu: Gpu) {
    let all = programs_about_lists();
    let files = all.iter().filter_map(|text| compile(text).ok()).filter(|file| testkit::all() || file.instructions() < SHORT);
    let mut compared = 0;
    for file in files.take(if testkit::all() { 40 } else { 3 }) {
        let kind = kind(&file);
        let Some(world) = world(&kind) else { continue };
        let device = Device::new(&gpu, world);
        let mut host = Worlds::new(&file, math::Isa::best(), SEED, FIRST, ENVS);
        device.begin();
        for turn in 0..6 {
            let actions = act(&mut host, &kind, turn);
            device.step(&actions);
            host.step();
            let seen = device.see().await;
            assert!(host.fault().is_none() && seen.faults.iter().all(|word| *word == 0), "{:?}", host.fault());
            for env in 0..ENVS {
                let place = format!("program {compared}, environment {env} in step {turn}");
                let (state, age, episodes) = host.saved(env);
                assert_eq!((seen.state(env), seen.age(env), seen.ended[env]), (state, (age, episodes), host.ended[env]), "{place}");
                assert_eq!((seen.shown(env), seen.rewards[env]), (&host.shown(env)[..], host.rewards[env]), "{place}");
            }
        }
        compared += 1;
    }
    assert!(compared >= 3, "{compared}");
}

/// Pairs of a statement and a part of its error message. As a part of `step`, the statement fails in some environments. `x` counts steps,
/// and `y` is a random number from 0 to 9.
const FAILING: [(&str, &str); 20] = [
    ("self.y = self.list[self.y]", "outside of the list"),
    ("self.list[self.y - 14] = 3", "outside of the list"),
    ("self.y = [4, 2, 3][self.y]", "outside of the list"),
    ("self.y = self.grid[self.x][self.y]", "outside of the list"),
    ("self.y = 1 // (self.y - 3)", "division by zero"),
    ("self.y = 1 % (self.y - 3)", "division by zero"),
    ("self.z = 1.0 / (self.y - 3)", "division by zero"),
    ("self.z = 5.5 // (self.y - 3)", "division by zero"),
    ("self.y += 2147483640", "does not fit"),
    ("self.y -= 2147483647 - self.x + 9", "does not fit"),
    ("self.y *= 400000000 - self.x", "does not fit"),
    ("self.y = abs(-2147483647 - self.y // 9)", "does not fit"),
    ("self.y = int(3e8 * self.y)", "does not fit"),
    ("self.z = sqrt(3.5 - self.y)", "square root of a negative number"),
    ("self.z = log(self.y)", "the logarithm of 0"),
    ("self.z = exp(10.0 * self.y)", "is too large for a float"),
    ("self.z = (self.y - 0.5) ** 1.5", "needs a positive"),
    ("self.z = 1e30 * 10.0 ** self.y", "must be finite"),
    ("self.y = randint(self.y, 5)", "has no number to choose"),
    ("while self.y > 8:\n    self.x += 1 - 1", "more than 10,000 passes"),
];

/// Indents the lines of a statement.
fn indented(statement: &str, by: usize) -> String {
    statement.lines().map(|line| format!("{:by$}{line}\n", "")).collect()
}

fn failing(reset: &str, step: &str) -> World {
    compiled(&format!(
        "class World:
    actions = 3
    def reset(self):
        self.x, self.y, self.z = 0, randint(0, 10), 0.0
        self.list = [1, 2, 3, 4, 5, 6, 7]
        self.grid = [[1] * 8, [2] * 8]
        {reset}
    def step(self, action):
        self.x += 1
        if action == 1:
{}        return 1.0, self.x >= 6
    def observe(self):
        return [self.x, self.z]
",
        indented(step, 12)
    ))
}

/// Returns a file whose step executes the statement with index `error` in [`FAILING`]. One file has all statements, because its kernels
/// compile faster than those of one file per statement.
fn all_failing() -> World {
    let statement = |(n, (statement, _)): (usize, &(&str, &str))| format!("if self.error == {n}:\n{}", indented(statement, 4));
    let step: String = FAILING.iter().enumerate().map(statement).collect();
    failing(&format!("self.error = randint(0, {})", FAILING.len()), &step)
}

/// Compares some steps of environments, of which some fail, with the engine. Also compares the first error. An environment keeps its state
/// when it fails. If `error` is given, this number is the initial value of the attribute `error` in all environments.
async fn compare_faults(gpu: &Gpu, file: &World, error: Option<usize>, part: &str) {
    let kind = kind(file);
    let gpu_world = world(&kind).unwrap();
    let explain = gpu_world.kernels.explain.clone().unwrap();
    let device = Device::new(gpu, gpu_world);
    let mut host = Worlds::new(file, math::Isa::best(), SEED, FIRST, ENVS);
    device.begin();
    if let Some(error) = error {
        assert_eq!(file.attributes[0].name, "error");
        for env in 0..ENVS {
            let mut numbers = host.attributes(env);
            numbers[0] = error as f64;
            host.set(env, &numbers, 0, 0);
        }
        device.put_states(states(&host));
    }
    let mut first = None;
    for turn in 0..9 {
        let actions = act(&mut host, &kind, turn);
        device.step(&actions);
        host.step();
        let seen = device.see().await;
        let words = seen.faults.len() / 2;
        first = first.or_else(|| (0..ENVS).find(|env| seen.faults[*env] != 0).map(|env| (env, turn, seen.age(env))));
        assert_eq!(host.fault().is_some(), first.is_some(), "{part}");
        for env in 0..ENVS {
            let place = format!("{part}: environment {env} in step {turn}");
            let (state, age, episodes) = host.saved(env);
            assert!(apart(&seen.state(env), &state) <= ROUNDING && apart(seen.shown(env), &host.shown(env)) <= ROUNDING, "{place}");
            assert_eq!((seen.age(env), seen.ended[env]), ((age, episodes), host.ended[env]), "{place}");
            assert_eq!(seen.rewards[env], host.rewards[env], "{place}");
        }
        if let Some((env, at, _)) = first
            && at == turn
        {
            let fault = host.fault().unwrap();
            let (line, message) = explain([seen.faults[env], seen.faults[words + env]]);
            assert_eq!((FIRST + env as u32, line, &message), (fault.env, fault.line, &fault.message), "{part}");
            assert!(message.contains(part), "{message}, not {part}");
        }
    }
    assert!(first.is_some(), "{part}: no error");
}

async fn errors_match_the_engine(gpu: Gpu) {
    let file = all_failing();
    for (error, (_, part)) in FAILING.into_iter().enumerate() {
        compare_faults(&gpu, &file, Some(error), part).await;
    }
    let reset = "self.z = 1.0 / float(randint(0, 40))";
    compare_faults(&gpu, &failing(reset, "self.x += 1"), None, "division by zero").await;
    compare_faults(&gpu, &compiled(MASKED), None, "permits no choice").await;
}

/// A file whose mask permits no choice in some states, which is an error. The mask also permits no choice in the last state of an episode,
/// which is no error.
const MASKED: &str = "class World:
    actions = 3
    def reset(self):
        self.x, self.y = 0, randint(0, 10)
    def step(self, action):
        self.x += 1
        if action == 1:
            self.y = randint(0, 40)
        return 1.0, self.x >= 6
    def mask(self):
        free = self.x < 6 and self.y != 11
        return [free, free, free]
    def observe(self):
        return [self.x, self.y]
";

async fn iterations_of_files_match_the_processor(gpu: Gpu) {
    compare_kind(&gpu, &kind(&template("catch")), &PpoConfig { shared: true, ..small() }, 2).await;
    compare_kind(&gpu, &kind(&template("racer")), &PpoConfig { squash: true, ..normalized() }, 1).await;
    if testkit::all() {
        compare_kind(&gpu, &kind(&template("pong")), &small(), 1).await;
        compare_kind(&gpu, &kind(&template("taxi")), &PpoConfig { clip_value: true, ..small() }, 2).await;
    }
}

/// Runs an iteration. The learner may begin on the device and complete the iteration on the CPU.
async fn iterate(gpu: &Gpu, ppo: &mut Ppo) -> IterationStats {
    loop {
        match ppo.advance() {
            Slice::Ended(stats) => return stats,
            Slice::Waiting => pause(gpu).await,
            Slice::Worked => {}
            Slice::Stopped(fault) => panic!("{fault:?}"),
        }
    }
}

/// Tests that a learner on the device reports the same error as a learner on the CPU, and learns nothing from the failed rollout.
async fn errors_stop_learners_as_on_the_processor(gpu: Gpu) {
    let trap = |odds: u32, at: u32| format!("self.y = 1 // (0 if randint(0, {odds}) == {at} else 1)");
    // 256 environments fill all actors completely. The last actor would otherwise have unused lanes. The CPU would also step these lanes
    // and report their errors.
    let config = PpoConfig { envs: 256, ..small() };
    // The second learner fails at the start of a later episode, and the third at the start of a first episode.
    let traps = [(String::new(), trap(3000, 0)), (trap(900, 7), "pass".into()), (trap(100, 0), "pass".into())];
    for (reset, step) in traps.into_iter().take(if testkit::all() { 3 } else { 1 }) {
        let kind = kind(&failing(&reset, &step));
        let [mut there, mut here] = [(); 2].map(|()| of_kind(&kind, &config));
        there.begin_offload(&gpu, 0).unwrap();
        for _ in 0..20 {
            let weights = there.weights().to_vec();
            let (found, expected) = (iterate(&gpu, &mut there).await, iterate_on_cpu(&mut here));
            assert_eq!(found.fault, expected.fault);
            assert_eq!(there.progress(), here.progress());
            let Some(fault) = found.fault else { continue };
            println!("{fault}");
            assert_eq!(fault.step == 0, step == "pass");
            assert!(!there.is_offloaded() && !there.is_finite() && there.at_boundary());
            assert_eq!(there.weights(), weights, "the learner learned from a failed rollout");
            if fault.step > 0 {
                assert_eq!(there.environment(fault.env as usize), here.environment(fault.env as usize));
            }
            break;
        }
        assert!(!there.is_finite(), "no environment failed");
    }
}

async fn every_template_has_kernels(_: Gpu) {
    for (name, text) in TEMPLATES {
        assert!(kind(&compiled(text)).kernels.is_some(), "{name}");
    }
}

crate::common::tests!(
    templates_of_integers_match_the_engine,
    every_template_has_kernels;
    natively:
    templates_match_the_engine,
    programs_about_lists_match_the_engine,
    errors_match_the_engine,
    iterations_of_files_match_the_processor,
    errors_stop_learners_as_on_the_processor,
);
