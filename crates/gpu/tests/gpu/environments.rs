//! Tests of environments on the device, compared with the same environments on the CPU. Random words are equal bit for bit. Single steps
//! are equal up to rounding. Long play of CartPole agrees statistically.

use crate::fleet::{Fleet, Saved};
use crate::submit;
use gpu::control::{POLY, RNG, Stepping, World, Worlds, world};
use gpu::{Gpu, Memory, Program, Readback, Space, groups};
use math::poly::{exp_1, ln_1, tanh_1};
use math::rng::{hash_1, uniform_from_word};
use math::{Isa, Rng};
use std::f32::consts::TAU;
use worlds::control::vector::{TERMINATED, TRUNCATED};
use worlds::control::{Actions, CartPoles, InvalidState, Kind, Vector, kind};

const POLE: &str = "CartPole-v1";
pub const SEED: u32 = 11;
/// Index of the first environment, above half of the u32 range to detect signed arithmetic.
pub const FIRST: u32 = 4_000_000_000;
const GAME: u32 = 3;
/// Number of environments, not a multiple of the workgroup size.
pub const ENVS: usize = 1000;

/// Returns the kinds of environments with kernels. In a browser, LunarLander is omitted, because its kernels compile slowly on the
/// browser's software adapter; `lunar_lander.rs` tests them there.
fn both() -> impl Iterator<Item = (&'static Kind, World)> {
    let left_out = |kind: &Kind| cfg!(target_family = "wasm") && kind.spec.id == "LunarLander-v3";
    let kinds = worlds::control::kinds().into_iter().filter(move |kind| !left_out(kind));
    kinds.filter_map(|kind| Some((kind, world(kind)?)))
}

/// Runs one kernel over `len` items. Returns its floats and its words, both `[row][len]`.
async fn rows(gpu: &Gpu, text: &str, args: &[u32], len: usize, [floats, words]: [usize; 2]) -> (Vec<f32>, Vec<u32>) {
    let mut space = Space::default();
    let (y, n) = (space.floats(len * floats), space.words(len * words));
    let mut program = Program::new(gpu);
    let kernel = program.kernel("rows", text);
    program.dispatch(&kernel, &[&[len as u32][..], args].concat(), groups(len, 64));
    let memory = space.allocate(gpu).unwrap();
    program.bind(&memory);
    submit(gpu, &program, 0..1);
    let (mut floats, mut words) = Readback::new(&memory, &[y], &[n]).fetch().await.unwrap();
    (floats.remove(0), words.remove(0))
}

const MAIN: &str = "
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = id.x;
    let len = args.len;
    if (i >= len) { return; }
";

async fn random_words_match_the_cpu(gpu: Gpu) {
    let body = "
        let a = threefry(args.key, vec4<u32>(i, 7u * i, i ^ 0xF0F0F0F0u, 3u));
        let b = hash(args.key.xy, vec2<u32>(i * 0x9E3779B9u, 0x12345678u));
        for (var w = 0u; w < 4u; w++) {
            words[w * len + i] = a[w];
            words[(4u + w) * len + i] = b[w];
        }
        mem[i] = uniform_of(b.x);
        let pair = normals(b.y, b.z);
        mem[len + i] = pair.x;
        mem[2u * len + i] = pair.y;
    }";
    let args = "struct Args { len: u32, a: u32, b: u32, c: u32, key: vec4<u32> }\n";
    let text = format!("{args}{}{}{MAIN}{body}", POLY, RNG);
    let (len, key) = (1000, [1, 0xFFFF_FFFF, 0x8000_0001, 77]);
    let args = [0, 0, 0, key[0], key[1], key[2], key[3]];
    let (floats, words) = rows(&gpu, &text, &args, len, [3, 8]).await;
    for i in 0..len {
        let n = i as u32;
        let a = Rng { key }.block([n, n.wrapping_mul(7), n ^ 0xF0F0_F0F0, 3]);
        let b = hash_1([key[0], key[1]], [n.wrapping_mul(0x9E37_79B9), 0x1234_5678]);
        for (w, expected) in a.into_iter().chain(b).enumerate() {
            assert_eq!(words[w * len + i], expected, "word {w} of {i}");
        }
        assert_eq!(floats[i], uniform_from_word(b[0]));
        // Normal numbers, as for a learner's actions.
        let [u, v] = [b[1], b[2]].map(|word| f64::from(uniform_from_word(word)));
        let (radius, angle) = ((-2.0 * (1.0 - u).ln()).sqrt(), (v - 0.5) * std::f64::consts::TAU);
        for (row, expected) in [(1, radius * angle.cos()), (2, radius * angle.sin())] {
            let found = f64::from(floats[row * len + i]);
            assert!((found - expected).abs() <= 2e-6, "normal {i}: {found}, not {expected}");
        }
    }
}

/// Compares functions such as exp and ln with the CPU. The values are equal up to rounding. Some compilers merge the two parts of ln 2 or
/// π/2 in the range reduction; the error then grows with the argument.
async fn polynomials_match_the_cpu(gpu: Gpu) {
    let len = 4001;
    // The factors are powers of two, so the products with x are exact.
    let body = "
        let x = f32(i32(i) - 2000) / 128.0;
        mem[i] = poly_exp(4.0 * x);
        mem[len + i] = poly_ln(exp2(x));
        mem[2u * len + i] = poly_tanh(0.125 * x);
        let turned = poly_sin_cos(4.0 * x);
        mem[3u * len + i] = turned.x;
        mem[4u * len + i] = turned.y;
        mem[5u * len + i] = poly_sigmoid(x);
        mem[6u * len + i] = x;
        mem[7u * len + i] = exp2(x);
    }";
    let text = format!("struct Args {{ len: u32 }}\n{}{MAIN}{body}", POLY);
    let (found, _) = rows(&gpu, &text, &[], len, [8, 0]).await;
    let isa = Isa::best();
    for i in 0..len {
        let [x, power] = [6, 7].map(|row| found[row * len + i]);
        let (sin, cos) = f64::from(4.0 * x).sin_cos();
        let expected = [
            exp_1(isa, 4.0 * x),
            ln_1(isa, power),
            tanh_1(isa, 0.125 * x),
            sin as f32,
            cos as f32,
            1.0 / (1.0 + (-f64::from(x)).exp()) as f32,
        ];
        for (row, expected) in expected.into_iter().enumerate() {
            let found = found[row * len + i];
            // Near zeros of sin, cos and ln, the rounding errors are as large as for results near 1.
            let size = if [1, 3, 4].contains(&row) { expected.abs().max(0.25) } else { expected.abs() };
            let from = [4.0 * x, 0.0, 0.25 * x, 4.0 * x, 4.0 * x, x][row].abs();
            let error = (6e-7 + 6e-8 * from) * size;
            assert!((found - expected).abs() <= error, "row {row} at {x}: {found}, not {expected}");
        }
    }
}

/// The functions of a negative zero keep its sign.
async fn zeros_keep_their_signs(gpu: Gpu) {
    let body = "
        let zero = bitcast<f32>(i << 31u);
        mem[i] = poly_sin_cos(zero).x;
        mem[len + i] = poly_tanh(zero);
    }";
    let text = format!("struct Args {{ len: u32 }}\n{POLY}{MAIN}{body}");
    let (found, _) = rows(&gpu, &text, &[], 2, [2, 0]).await;
    assert_eq!(found.iter().map(|x| x.to_bits()).collect::<Vec<_>>(), [0, 1 << 31, 0, 1 << 31]);
}

/// Environments on the device, with their memory and readbacks.
pub struct Device {
    gpu: Gpu,
    worlds: Worlds,
    program: Program,
    memory: Memory,
    at: Stepping,
    readback: Readback,
    over: Readback,
}

const RESET: usize = 0;
const SHOW: usize = 1;
const STEP: usize = 2;
const PLAY: usize = 3;

/// Contents of a [`Device`] that were read back.
pub struct Seen {
    state: Vec<f32>,
    shown: Vec<f32>,
    pub reached: Vec<f32>,
    pub rewards: Vec<f32>,
    clocks: Vec<u32>,
    pub ended: Vec<u32>,
    pub faults: Vec<u32>,
}

impl Seen {
    /// Returns the number of steps in the current episode of an environment, and the number of the environment's earlier episodes.
    pub fn age(&self, env: usize) -> (u32, u32) {
        (self.clocks[env], self.clocks[self.clocks.len() / 2 + env])
    }

    pub fn state(&self, env: usize) -> Vec<f32> {
        self.state.iter().skip(env).step_by(self.clocks.len() / 2).copied().collect()
    }

    pub fn shown(&self, env: usize) -> &[f32] {
        row(&self.shown, env)
    }

    /// Sets the environments of a fleet on the CPU to these states.
    fn give(&self, to: &mut Fleet) -> Result<(), InvalidState> {
        (0..ENVS).try_for_each(|env| {
            let (steps, episodes) = self.age(env);
            to.set(env, &(self.state(env), steps, episodes))
        })
    }
}

/// Returns the row of environment `env` in an array `[ENVS][features]`.
pub fn row(rows: &[f32], env: usize) -> &[f32] {
    let features = rows.len() / ENVS;
    &rows[features * env..][..features]
}

impl Device {
    pub fn new(gpu: &Gpu, world: World) -> Device {
        Device::playing(gpu, world, None)
    }

    /// Creates CartPole environments whose program includes a kernel that plays `steps` steps.
    fn poles(gpu: &Gpu, steps: u32) -> Device {
        Device::playing(gpu, world(kind(POLE).unwrap()).unwrap(), Some(steps))
    }

    fn playing(gpu: &Gpu, world: World, play: Option<u32>) -> Device {
        let mut space = Space::default();
        let (wide, numbers) = (ENVS * world.observation, ENVS * world.action);
        let worlds = Worlds::new(world, ENVS, &mut space);
        let at = Stepping {
            actions: space.floats(numbers),
            shown: space.floats(wide),
            reached: Some(space.floats(wide)),
            rewards: space.floats(ENVS),
            ended: space.words(ENVS),
        };
        let mut program = Program::new(gpu);
        worlds.reset(&mut program, Some(at.shown));
        worlds.show(&mut program, at.shown);
        worlds.step(&mut program, &at);
        if let Some(steps) = play {
            worlds.play(&mut program, steps);
        }
        let memory = space.allocate(gpu).unwrap();
        program.bind(&memory);
        worlds.set_up(&memory, SEED, FIRST, GAME);
        let floats = [worlds.state, at.shown, at.reached.unwrap(), at.rewards];
        let readback = Readback::new(&memory, &floats, &[worlds.clocks, at.ended, worlds.faults]);
        let over = Readback::new(&memory, &[], &[worlds.ended]);
        Device { gpu: gpu.clone(), worlds, program, memory, at, readback, over }
    }

    /// Sets the environments on the device to the states of a fleet.
    fn put(&self, from: &Fleet) {
        self.put_states(from.states());
    }

    pub fn put_states(&self, from: Vec<Saved>) {
        let stride = self.worlds.clocks.len as usize / 2;
        let (mut state, mut clocks) = (vec![0.0; self.worlds.state.len as usize], vec![0; 2 * stride]);
        for (env, (numbers, steps, episodes)) in from.into_iter().enumerate() {
            numbers.into_iter().enumerate().for_each(|(i, x)| state[i * stride + env] = x);
            (clocks[env], clocks[stride + env]) = (steps, episodes);
        }
        self.memory.write_floats(self.worlds.state, &state);
        self.memory.write_words(self.worlds.clocks, &clocks);
    }

    /// Starts the first episodes.
    pub fn begin(&self) {
        self.run(RESET);
    }

    fn run(&self, which: usize) {
        submit(&self.gpu, &self.program, which..which + 1);
    }

    pub fn step(&self, actions: &[f32]) {
        self.memory.write_floats(self.at.actions, actions);
        self.run(STEP);
    }

    pub async fn see(&self) -> Seen {
        let (floats, words) = self.readback.fetch().await.unwrap();
        let [state, shown, reached, rewards] = floats.try_into().unwrap();
        let [clocks, ended, faults] = words.try_into().unwrap();
        Seen { state, shown, reached, rewards, clocks, ended, faults }
    }

    /// Returns the number of episodes that ended in the last [`Worlds::play`].
    async fn over(&self) -> u64 {
        let (_, words) = self.over.fetch().await.unwrap();
        words[0].iter().map(|&n| u64::from(n)).sum()
    }
}

/// Returns random actions for all environments.
fn random_actions(kind: &Kind, step: u32) -> Vec<f32> {
    let one = |env: usize| {
        let unit = uniform_from_word(hash_1([SEED, step], [env as u32, GAME])[0]);
        match kind.spec.actions {
            Actions::Choices(count) => (unit * count as f32).floor(),
            Actions::Box { low, high, .. } => low as f32 + (high - low) as f32 * unit,
        }
    };
    (0..ENVS).map(one).collect()
}

fn poles() -> CartPoles {
    CartPoles::new(Isa::best(), SEED, FIRST, ENVS)
}

/// Creates environments on the CPU with the same initial states as the environments on the device.
fn host(id: &str) -> Fleet {
    Fleet::new(id, Isa::best(), SEED, FIRST, ENVS)
}

/// Creates environments on the CPU at different steps of their episodes, so that some are soon truncated.
fn aged(id: &str, limit: u32) -> Fleet {
    let mut host = host(id);
    for env in 0..ENVS {
        let (state, _, episodes) = host.state(env);
        host.set(env, &(state, env as u32 * 7 % limit, episodes)).unwrap();
    }
    host
}

fn step(host: &mut Fleet, actions: &[f32]) {
    host.actions[..ENVS].copy_from_slice(actions);
    host.step();
}

/// Returns the number of leading state values that are angles, compared modulo 2π.
fn angles(id: &str) -> usize {
    match id {
        "Pendulum-v1" => 1,
        "Acrobot-v1" => 2,
        _ => 0,
    }
}

/// Returns the largest difference between elements of two arrays. A difference is relative if the expected element is above 1 in absolute
/// value. The first `angles` elements are compared modulo 2π.
fn apart(found: &[f32], expected: &[f32], angles: usize) -> f32 {
    assert_eq!(found.len(), expected.len());
    let one = |(i, (&f, &e)): (usize, (&f32, &f32))| {
        let gap = (f - e).abs();
        let gap = if i < angles { gap.min((gap - TAU).abs()) } else { gap };
        assert!(gap.is_finite(), "{found:?}, not {expected:?}");
        gap / e.abs().max(1.0)
    };
    found.iter().zip(expected).enumerate().map(one).fold(0.0, f32::max)
}

/// Compares initial states. They are equal up to one rounding error of the largest initial value, because a compiler may fuse product and
/// sum.
async fn initial_states_match_the_cpu(gpu: Gpu) {
    for (kind, world) in both() {
        let id = &*kind.spec.id;
        let device = Device::new(&gpu, world);
        device.run(RESET);
        let seen = device.see().await;
        let host = host(id);
        assert!(seen.clocks.iter().all(|&n| n == 0));
        // A random initial value is computed as a sum. Its rounding error depends on the largest value, even if the value is near 0.
        let end = (0..ENVS).flat_map(|env| host.state(env).0).fold(0.0, |most: f32, x| most.max(x.abs()));
        for env in 0..ENVS {
            let (state, ..) = host.state(env);
            let found = seen.state(env);
            let worst = testkit::distance(&found, &state) as f32;
            // An episode of LunarLander begins with a step, so its differences are larger.
            let few = if id == "LunarLander-v3" { 4.0 } else { 1.0 };
            assert!(worst <= few * 1.2e-7 * end, "{id}: {found:?}, not {state:?}");
            let shown = host.shown(env);
            assert!(apart(seen.shown(env), &shown, 0) <= few * 4e-7, "{id}");
        }
    }
}

/// Returns the action that pushes in the direction of motion, so that some environments reach the goal. Returns `None` for kinds of
/// environments without such an action.
fn pushed(id: &str, state: &[f32]) -> Option<f32> {
    match id {
        "MountainCar-v0" => Some(if state[1] >= 0.0 { 2.0 } else { 0.0 }),
        "MountainCarContinuous-v0" => Some(if state[1] >= 0.0 { 0.9 } else { -1.2 }),
        "Acrobot-v1" => Some(if state[3] >= 0.0 { 2.0 } else { 0.0 }),
        _ => None,
    }
}

/// Compares one device step with one CPU step, from every state of a run on the CPU. Values are equal up to rounding. Flags, lengths and
/// resets are equal, unless rounding decides whether an episode ends. LunarLander has its own test in `lunar_lander.rs`, because its ground
/// contact amplifies rounding.
async fn single_steps_match_the_cpu(gpu: Gpu) {
    const STEPS: u32 = 250;
    for (kind, world) in both().filter(|(kind, _)| kind.spec.id != "LunarLander-v3") {
        let (id, limit) = (&*kind.spec.id, world.step_limit);
        let turning = angles(id);
        // A step of Acrobot computes four derivatives, each from the previous one. This amplifies rounding at up to 28 rad/s.
        let few = if id == "Acrobot-v1" { 2e-5 } else { 1e-6 };
        let device = Device::new(&gpu, world);
        let mut host = aged(id, limit);
        let (mut terminated, mut truncated, mut otherwise, mut worst) = (0, 0, 0, 0.0f32);
        for t in 0..STEPS {
            let mut actions = random_actions(kind, t);
            for env in (0..ENVS).step_by(2) {
                actions[env] = pushed(id, &host.state(env).0).unwrap_or(actions[env]);
            }
            device.put(&host);
            device.step(&actions);
            step(&mut host, &actions);
            let seen = device.see().await;
            for env in 0..ENVS {
                let gap = apart(row(&seen.reached, env), &host.reached(env), 0);
                assert!(gap <= few, "{id}, {env} at {t}: reached states differ by {gap}");
                worst = worst.max(gap);
                let (found, expected) = (seen.ended[env], host.ended[env]);
                if found != expected {
                    otherwise += 1;
                    continue;
                }
                let reward = (seen.rewards[env] - host.rewards[env]).abs();
                assert!(reward <= 1e-6 * host.rewards[env].abs().max(1.0), "{id}: rewards differ by {reward}");
                terminated += u32::from(found & TERMINATED != 0);
                truncated += u32::from(found & TRUNCATED != 0);
                let (state, steps, episodes) = host.state(env);
                assert_eq!(seen.age(env), (steps, episodes), "{id}");
                let gap = apart(&seen.state(env), &state, turning);
                assert!(gap <= few, "{id}, {env} at {t}: states differ by {gap}");
                let shown = host.shown(env);
                assert!(apart(seen.shown(env), &shown, 0) <= few, "{id}");
            }
        }
        println!("{id}: {terminated} terminated, {truncated} truncated, {otherwise} ended differently; largest difference {worst:e}");
        assert!(terminated > 50 || id == "Pendulum-v1", "{id}: {terminated} terminated");
        assert!(truncated > 30, "{id}: {truncated} truncated");
        assert!(otherwise <= 2, "{id}: {otherwise} ended differently");
    }
}

/// Tests that [`Worlds::play`] and [`Worlds::step`] give the same bits. Both kernels call the same functions, and the compiler fuses no
/// additional operations in either kernel.
async fn play_equals_single_steps(gpu: Gpu) {
    // The number of steps is not a multiple of the steps per hash, per random word or per block of initial states.
    const STEPS: u32 = 300 + 13;
    let device = Device::poles(&gpu, STEPS);
    let aged = aged(POLE, 500);
    device.put(&aged);
    let (poles, mut coins) = (poles(), [0.0; ENVS]);
    for t in 0..STEPS {
        poles.coins(GAME, t, &mut coins);
        device.step(&coins);
    }
    let stepped = device.see().await;
    let ends = (0..ENVS).map(|env| stepped.age(env).1).sum::<u32>();
    device.put(&aged);
    device.run(PLAY);
    let played = device.see().await;
    assert_eq!(played.clocks, stepped.clocks);
    let bits = |x: &[f32]| x.iter().map(|x| x.to_bits()).collect::<Vec<u32>>();
    assert_eq!(bits(&played.state), bits(&stepped.state));
    assert_eq!(device.over().await, u64::from(ends));
    assert!(ends > 0);
}

/// Compares the number of episodes with the CPU. The random actions are equal, so the number is equal too, unless rounding decides whether
/// an episode ends.
async fn poles_play_as_on_the_cpu(gpu: Gpu) {
    const STEPS: u32 = 1000;
    let device = Device::poles(&gpu, STEPS);
    let mut poles = poles();
    device.run(RESET);
    device.run(PLAY);
    let (found, expected) = (device.over().await, poles.play(GAME, STEPS));
    let seen = device.see().await;
    let age = |env| poles.environment(env, &mut [0.0; 4]);
    let same = (0..ENVS).filter(|&env| seen.age(env) == age(env)).count();
    println!("{found} episodes, {expected} on the CPU; {same} of {ENVS} poles of the same age");
    // If rounding ends an episode at a different step than on the CPU, the environment's later actions differ. Its number of episodes then
    // differs by about 5.
    assert!(same >= ENVS - 3, "{same} of the same age");
    assert!(expected > 40_000 && found.abs_diff(expected) <= 30, "{found} episodes, not {expected}");
    // A second play continues from the states of the first play, and counts only the episodes of the second play.
    device.worlds.set_up(&device.memory, SEED, FIRST, GAME + 1);
    device.run(PLAY);
    let (found, expected) = (device.over().await, poles.play(GAME + 1, STEPS));
    assert!(found.abs_diff(expected) <= 60, "{found} episodes, not {expected}");
}

/// Covers more environments than the workgroups in one dimension can process. The last workgroup has one environment.
async fn millions_of_poles_play(gpu: Gpu) {
    const COUNT: usize = 64 * 65_535 + 65;
    const STEPS: u32 = 16;
    let mut space = Space::default();
    let worlds = Worlds::new(world(kind(POLE).unwrap()).unwrap(), COUNT, &mut space);
    let mut program = Program::new(&gpu);
    worlds.reset(&mut program, None);
    worlds.play(&mut program, STEPS);
    let memory = space.allocate(&gpu).unwrap();
    program.bind(&memory);
    worlds.set_up(&memory, SEED, FIRST, GAME);
    submit(&gpu, &program, 0..program.len());
    let (_, words) = Readback::new(&memory, &[], &[worlds.ended, worlds.clocks]).fetch().await.unwrap();
    let [ended, clocks] = words.try_into().unwrap();
    let found: u64 = ended.into_iter().map(u64::from).sum();
    let mut poles = CartPoles::new(Isa::best(), SEED, FIRST, COUNT);
    let expected = poles.play(GAME, STEPS);
    let stride = clocks.len() / 2;
    let age = |env| poles.environment(env, &mut [0.0; 4]);
    let otherwise = (0..COUNT).filter(|&env| (clocks[env], clocks[stride + env]) != age(env)).count();
    println!("{found} episodes, {expected} on the CPU; {otherwise} of {COUNT} poles of another age");
    assert!(expected > COUNT as u64 / 4, "{expected}");
    assert!(found.abs_diff(expected) <= otherwise as u64, "{found} episodes, not {expected}");
    assert!(otherwise <= COUNT / 50_000, "{otherwise} of another age");
}

/// Tests that environments keep their state when they are copied to the device and back. The CPU accepts states that the device computes in
/// later steps, but rejects NaN.
async fn environments_survive_a_round_trip(gpu: Gpu) {
    for (kind, world) in both() {
        let id = &*kind.spec.id;
        let device = Device::new(&gpu, world);
        let mut host = host(id);
        (0..40).for_each(|t| step(&mut host, &random_actions(kind, t)));
        device.put(&host);
        device.run(SHOW);
        let seen = device.see().await;
        let mut back = self::host(id);
        seen.give(&mut back).unwrap();
        for env in 0..ENVS {
            assert_eq!(back.state(env), host.state(env), "{id}");
            let shown = host.shown(env);
            assert!(apart(seen.shown(env), &shown, 0) <= 4e-7, "{id}");
        }
        // The CPU accepts the states that the device reached.
        (40..60).for_each(|t| device.step(&random_actions(kind, t)));
        let mut seen = device.see().await;
        seen.give(&mut back).unwrap();
        seen.state[ENVS / 2] = f32::NAN;
        assert!(seen.give(&mut back).is_err(), "{id}");
    }
}

crate::common::tests!(
    random_words_match_the_cpu,
    polynomials_match_the_cpu,
    zeros_keep_their_signs,
    single_steps_match_the_cpu,
    poles_play_as_on_the_cpu;
    natively:
    initial_states_match_the_cpu,
    play_equals_single_steps,
    #[ignore = "all: program_computes_also_beyond_one_row_of_workgroups"]
    fn millions_of_poles_play,
    environments_survive_a_round_trip,
);
