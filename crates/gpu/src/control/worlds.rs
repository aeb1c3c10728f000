//! Worlds as kernels: the rules of `worlds` in WGSL, with their constants and random words taken from there.
//!
//! Same seeds begin the same episodes; steps differ by roundings, for a GPU fuses and divides as it likes. It refuses
//! to know who acts, and a world's text to bind anything: kernels read and write, worlds only compute.

use crate::program::{Memory, Program, Region, Space, groups};
use ::worlds::control::vector::{LENGTH_SHIFT, TERMINATED, TRUNCATED};
use ::worlds::control::{Actions, Impossible, Kernels, Kind, Spec, Throws, Vector, cartpole};
use math::{Isa, rng};
use std::fmt::Write as _;

/// The polynomials of `math::poly`: `poly_exp`, `poly_ln`, `poly_tanh`, `poly_sigmoid`, `poly_sin_cos`.
pub const POLY: &str = include_str!("../poly.wgsl");
/// The words of `math::rng`: `threefry`, `pcg4`, `hash`, `uniform_of`, `normals`. Stands after [`POLY`].
pub const RNG: &str = include_str!("../rng.wgsl");

/// Angles, for worlds that turn.
const ANGLE: &str = include_str!("worlds/angle.wgsl");
const ROWS: &str = include_str!("worlds/rows.wgsl");
const EPISODE: &str = include_str!("worlds/episode.wgsl");

/// One kind of world in WGSL.
#[derive(Clone)]
pub struct World {
    pub spec: &'static Spec,
    /// Functions without bindings, to stand before a kernel's own text. It brings [`POLY`] and [`RNG`] along, and
    /// ```wgsl
    /// const STATE: u32; const OBSERVATION: u32; const STEP_LIMIT: u32; const EPISODE_MASK: u32;
    /// const TERMINATED: u32; const TRUNCATED: u32; const LENGTH_SHIFT: u32;
    /// alias State = array<f32, STATE>; alias Shown = array<f32, OBSERVATION>;
    /// struct Stepped { state: State, reward: f32, terminated: bool }
    /// struct Moment { key: vec4<u32>, env: u32, episode: u32, steps: u32 }
    /// fn world_first(env: u32, episode: u32, key: vec4<u32>) -> State
    /// fn world_shown(state: State) -> Shown
    /// fn world_step(state: State, shown: Shown, action: f32, when: Moment) -> Stepped
    /// ```
    /// and on top of these, with limits, lengths and new episodes,
    /// ```wgsl
    /// struct EnvState { state: State, shown: Shown, steps: u32, episodes: u32 }
    /// struct StepResult { now: EnvState, reached: Shown, reward: f32, ended: u32 }
    /// fn world_begin(env: u32, episode: u32, key: vec4<u32>) -> EnvState
    /// fn world_go(at: EnvState, action: f32, env: u32, key: vec4<u32>) -> StepResult
    /// ```
    pub text: String,
    /// Numbers of a state.
    pub state: usize,
    /// Numbers of an observation.
    pub observation: usize,
    pub step_limit: u32,
    pub kernels: Kernels,
}

/// A kind of world, where it has kernels.
pub fn world(kind: &Kind) -> Option<World> {
    let (spec, kernels) = (kind.spec, kind.kernels?);
    // A twin's may be longer.
    let state = (kind.many)(Isa::Portable, 0, 0, 1).state_len();
    let mut text = format!("{POLY}{RNG}{ANGLE}");
    for (name, word) in [
        ("STATE", state as u32),
        ("OBSERVATION", spec.observation.len() as u32),
        ("STEP_LIMIT", spec.step_limit),
        ("EPISODE_MASK", kernels.episode_mask),
        ("TERMINATED", TERMINATED),
        ("TRUNCATED", TRUNCATED),
        ("LENGTH_SHIFT", LENGTH_SHIFT),
    ] {
        let _ = writeln!(text, "const {name}: u32 = {word}u;");
    }
    for (name, value) in (kernels.constants)() {
        constant(&mut text, name, value as f32);
    }
    text += "alias State = array<f32, STATE>;\nalias Shown = array<f32, OBSERVATION>;\n";
    text += "struct Stepped { state: State, reward: f32, terminated: bool }\n";
    // What a step that draws numbers draws them by.
    text += "struct Moment { key: vec4<u32>, env: u32, episode: u32, steps: u32 }\n";
    text += &unrolled(kernels.text, kernels.repeated);
    text += EPISODE;
    let observation = spec.observation.len();
    Some(World { spec, text, state, observation, step_limit: spec.step_limit, kernels })
}

/// An f32 written out as the f64 it equals, which is read back to the bit.
fn constant(text: &mut String, name: &str, value: f32) {
    let _ = writeln!(text, "const {name}: f32 = {:?};", f64::from(value));
}

/// Invocations of a workgroup, as in `worlds/common.wgsl`.
const GROUP: usize = 64;
/// No region.
const NOWHERE: u32 = u32::MAX;
/// Words that say which environments these are: two keys, the first environment and the game.
const SETUP: usize = 8;

/// A range in 2¹⁶ levels: from one to the next, and the lowest.
fn levels(low: f64, high: f64) -> [f32; 2] {
    let step = (high - low) / 65_536.0;
    [step as f32, (low + step / 2.0) as f32]
}

/// Writes out the lines that stand behind a mark, so many times, with the number of the time for each #: compilers of
/// WGSL count the rounds of every loop, so that drivers do not unroll it, and an array indexed by what they do
/// not know leaves the registers.
fn unrolled(text: &str, times: &[(&str, usize)]) -> String {
    let mut all = String::new();
    for line in text.lines() {
        let repeated = times.iter().find_map(|(mark, times)| Some((line.trim_start().strip_prefix(mark)?, times)));
        match repeated {
            Some((line, &times)) => (0..times).for_each(|i| all += &(line.replace('#', &i.to_string()) + "\n")),
            None => all += &format!("{line}\n"),
        }
    }
    all
}

/// The arguments of a dispatch that differ between kernels.
#[derive(Default)]
struct Args {
    actions: u32,
    shown: u32,
    reached: u32,
    rewards: u32,
    ended: u32,
    steps: u32,
    anew: u32,
}

/// Many environments of one kind on the device, each beginning again by itself when its episode ends: as
/// [`Vector`], but that observations are rows.
pub struct Worlds {
    world: World,
    count: usize,
    /// Between the rows of `state` and of `clocks`.
    stride: usize,
    /// `[STATE][stride]`
    pub state: Region,
    /// Steps taken in this episode and episodes begun before it, `[2][stride]`.
    pub clocks: Region,
    /// Episodes that ended in the last play, `[groups]`: the sum is of interest.
    pub ended: Region,
    setup: Region,
}

/// Where [`Worlds::step`] reads and writes: `[count]`, and `[count][OBSERVATION]` for observations.
#[derive(Clone, Copy, Debug)]
pub struct Stepping {
    pub actions: Region,
    /// What the environments show from now on.
    pub shown: Region,
    /// The observation that the step led to, which for an episode that ended is its last.
    pub reached: Option<Region>,
    pub rewards: Region,
    /// As [`Vector::step`] writes them.
    pub ended: Region,
}

impl Worlds {
    pub fn new(world: World, count: usize, space: &mut Space) -> Worlds {
        let stride = count.next_multiple_of(GROUP);
        Worlds {
            count,
            stride,
            state: space.floats(world.state * stride),
            clocks: space.words(2 * stride),
            ended: space.words(stride / GROUP),
            setup: space.words(SETUP),
            world,
        }
    }

    pub fn count(&self) -> usize {
        self.count
    }

    /// Says which environments these are: `first..` of a seed; and what play is thrown, in force from the
    /// next submit on.
    pub fn set_up(&self, memory: &Memory, seed: u32, first: u32, game: u32) {
        let [a, b, c, d] = (self.world.kernels.key)(seed);
        let [e, f] = (self.world.kernels.coins)(seed);
        memory.write_words(self.setup, &[a, b, c, d, e, f, first, game]);
    }

    /// Appends what begins anew as [`Worlds::tell`] said, each environment at the start of its first episode.
    /// What they show is written where it is asked for.
    pub fn reset(&self, program: &mut Program, shown: Option<Region>) {
        self.begin(program, shown, true);
    }

    /// Appends what only shows the states there are, after [`Worlds::put`].
    pub fn show(&self, program: &mut Program, shown: Region) {
        self.begin(program, Some(shown), false);
    }

    fn begin(&self, program: &mut Program, shown: Option<Region>, anew: bool) {
        let text = format!("{ROWS}{}", include_str!("worlds/begin.wgsl"));
        let args = Args { shown: shown.map_or(NOWHERE, |region| region.at), anew: u32::from(anew), ..Args::default() };
        self.append(program, "begin", &text, args);
    }

    /// Appends one step of every environment.
    pub fn step(&self, program: &mut Program, at: &Stepping) {
        let Stepping { actions, shown, reached, rewards, ended } = at;
        let text = format!("{ROWS}{}", include_str!("worlds/step.wgsl"));
        let reached = reached.map_or(NOWHERE, |region| region.at);
        let (actions, shown, rewards, ended) = (actions.at, shown.at, rewards.at, ended.at);
        self.append(program, "step", &text, Args { actions, shown, reached, rewards, ended, ..Args::default() });
    }

    /// Appends many steps in one dispatch, with actions that are thrown; which, [`Worlds::thrown`] tells. Only states,
    /// clocks and the number of episodes that ended are left of it.
    pub fn play(&self, program: &mut Program, steps: u32) {
        let mut text = include_str!("worlds/count.wgsl").to_string();
        let mut word = |name: &str, word: u32| {
            let _ = writeln!(text, "const {name}: u32 = {word}u;");
        };
        match (self.world.kernels.throws, self.world.spec.actions) {
            (Throws::Coins, _) => {
                word("STEP_BITS", cartpole::EPISODES.leading_zeros() + 1);
                word("SHORTEST", cartpole::SHORTEST);
                text += include_str!("worlds/random_steps_cartpole.wgsl");
            }
            (Throws::Parts, Actions::Choices(choices)) => {
                text += &format!("fn thrown(half: u32) -> f32 {{ return f32((half * {choices}u) >> 16u); }}\n");
                text += include_str!("worlds/random_steps.wgsl");
            }
            (Throws::Parts, Actions::Range(low, high)) => {
                let [step, lowest] = levels(low, high);
                constant(&mut text, "LEVEL_STEP", step);
                constant(&mut text, "LEVEL_LOWEST", lowest);
                text += "fn thrown(half: u32) -> f32 { return fma(f32(half), LEVEL_STEP, LEVEL_LOWEST); }\n";
                text += include_str!("worlds/random_steps.wgsl");
            }
        }
        self.append(program, "play", &text, Args { ended: self.ended.at, steps, ..Args::default() });
    }

    fn append(&self, program: &mut Program, label: &str, text: &str, args: Args) {
        let times = [("#STATE ", self.world.state), ("#OBSERVATION ", self.world.observation), ("#SHORTEST ", cartpole::SHORTEST as usize)];
        let own = unrolled(&format!("{}{text}", include_str!("worlds/common.wgsl")), &times);
        let text = format!("{}{own}", self.world.text);
        let kernel = program.kernel(label, &text);
        let Args { actions, shown, reached, rewards, ended, steps, anew } = args;
        let (state, clocks, setup) = (self.state.at, self.clocks.at, self.setup.at);
        let (count, stride) = (self.count as u32, self.stride as u32);
        let args = [count, stride, state, clocks, setup, actions, shown, reached, rewards, ended, steps, anew];
        program.dispatch(&kernel, &args, groups(self.count, GROUP));
    }

    /// The actions that play takes at one step of a game.
    pub fn thrown(&self, seed: u32, first: u32, game: u32, step: u32) -> Vec<f32> {
        let [c, d] = (self.world.kernels.coins)(seed);
        let words = |env: usize, a_hash: u32| rng::hash_1([c.wrapping_add(step / a_hash), d], [first.wrapping_add(env as u32), game]);
        let one = |env| match (self.world.kernels.throws, self.world.spec.actions) {
            (Throws::Coins, _) => (words(env, 128)[(step % 128 / 32) as usize] << (step % 32) >> 31) as f32,
            (Throws::Parts, actions) => {
                let half = words(env, 8)[(step % 8 / 2) as usize] >> (step % 2 * 16) & 0xFFFF;
                match actions {
                    Actions::Choices(choices) => ((half * choices) >> 16) as f32,
                    Actions::Range(low, high) => {
                        let [step, lowest] = levels(low, high);
                        (half as f32).mul_add(step, lowest)
                    }
                }
            }
        };
        (0..self.count).map(one).collect()
    }

    /// Writes the environments of a vector to the device.
    pub fn put(&self, memory: &Memory, from: &dyn Vector) {
        let mut state = vec![0.0; self.world.state * self.stride];
        let mut clocks = vec![0; 2 * self.stride];
        let mut numbers = vec![0.0; self.world.state];
        for env in 0..self.count {
            let (steps, episodes) = from.environment(env, &mut numbers);
            for (i, &x) in numbers.iter().enumerate() {
                state[i * self.stride + env] = x;
            }
            (clocks[env], clocks[self.stride + env]) = (steps, episodes);
        }
        memory.write_floats(self.state, &state);
        memory.write_words(self.clocks, &clocks);
    }

    /// Puts what was read from [`Worlds::state`] and [`Worlds::clocks`] into a vector.
    pub fn give(&self, state: &[f32], clocks: &[u32], to: &mut dyn Vector) -> Result<(), Impossible> {
        let mut numbers = vec![0.0; self.world.state];
        for env in 0..self.count {
            for (i, x) in numbers.iter_mut().enumerate() {
                *x = state[i * self.stride + env];
            }
            to.set_environment(env, &numbers, clocks[env], clocks[self.stride + env])?;
        }
        Ok(())
    }
}
