//! Environments as kernels: the rules of `worlds` in WGSL, with their constants and random words taken from there.
//!
//! The same seeds begin the same episodes. Steps differ by rounding, because a GPU may fuse and reorder arithmetic. A world's text only
//! computes; kernels read and write.

use crate::program::{Memory, Program, Region, Space, groups};
use crate::text::Text;
use ::worlds::control::vector::{LENGTH_SHIFT, TERMINATED, TRUNCATED};
use ::worlds::control::{Kernels, Kind, Spec, cartpole};
use math::Isa;

/// The polynomials of `math::poly`: `poly_exp`, `poly_ln`, `poly_tanh`, `poly_sigmoid`, `poly_sin_cos`.
pub const POLY: &str = include_str!("../poly.wgsl");
/// The random generators of `math::rng`, with the same words: `threefry`, `pcg4`, `hash`, `uniform_of`, `normals`. [`POLY`] must come
/// before this text.
pub const RNG: &str = include_str!("../rng.wgsl");

/// Functions of angles, for worlds with rotation.
const ANGLE: &str = include_str!("worlds/angle.wgsl");
const ROWS: &str = include_str!("worlds/rows.wgsl");
const EPISODE: &str = include_str!("worlds/episode.wgsl");

/// One kind of world in WGSL.
#[derive(Clone)]
pub struct World {
    pub spec: &'static Spec,
    /// WGSL functions without bindings, which precede a kernel's own text. They include [`POLY`] and [`RNG`] and define the world:
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
    /// They also define its episodes, with step limits, lengths and restarts:
    /// ```wgsl
    /// struct EnvState { state: State, shown: Shown, steps: u32, episodes: u32 }
    /// struct StepResult { now: EnvState, reached: Shown, reward: f32, ended: u32 }
    /// fn world_begin(env: u32, episode: u32, key: vec4<u32>) -> EnvState
    /// fn world_go(at: EnvState, action: f32, env: u32, key: vec4<u32>) -> StepResult
    /// ```
    pub text: String,
    /// Number of floats of a state.
    pub state: usize,
    /// Number of floats of an observation.
    pub observation: usize,
    pub step_limit: u32,
    pub kernels: Kernels,
}

/// Kernels of a kind of world; `None` if the kind has none.
pub fn world(kind: &Kind) -> Option<World> {
    let (spec, kernels) = (kind.spec, kind.kernels?);
    // The reference twin's state may be longer.
    let state = (kind.many)(Isa::Portable, 0, 0, 1).state_len();
    let observation = spec.observation.len();
    let mut text = Text::default().add(POLY).add(RNG).add(ANGLE).words(&[
        ("STATE", state),
        ("OBSERVATION", observation),
        ("STEP_LIMIT", spec.step_limit as usize),
        ("EPISODE_MASK", kernels.episode_mask as usize),
        ("TERMINATED", TERMINATED as usize),
        ("TRUNCATED", TRUNCATED as usize),
        ("LENGTH_SHIFT", LENGTH_SHIFT as usize),
    ]);
    for (name, value) in (kernels.constants)() {
        text = text.float(name, value as f32);
    }
    for &(name, times) in kernels.repeated {
        text = text.count(name, times);
    }
    let text = text.add(TYPES).add(kernels.text).add(EPISODE).text;
    Some(World { spec, text, state, observation, step_limit: spec.step_limit, kernels })
}

/// Types of a world's own text. A step derives its random numbers from the moment (environment, episode, step).
const TYPES: &str = "alias State = array<f32, STATE>;
alias Shown = array<f32, OBSERVATION>;
struct Stepped { state: State, reward: f32, terminated: bool }
struct Moment { key: vec4<u32>, env: u32, episode: u32, steps: u32 }
";

/// Number of threads of a workgroup, as in `worlds/common.wgsl`.
const GROUP: usize = 64;
/// Offset for an absent region.
const NOWHERE: u32 = u32::MAX;
/// Number of words that identify the environments: the key, the first environment and the game.
const SETUP: usize = 6;

/// Arguments of a dispatch that differ between kernels.
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

/// Many environments of one kind on the GPU. Each environment restarts when its episode ends, as in `worlds::control::Vector`, but
/// observations are rows.
pub struct Worlds {
    world: World,
    count: usize,
    /// Distance from one row of `state` or `clocks` to the next.
    stride: usize,
    /// `[STATE][stride]`
    pub state: Region,
    /// Number of steps in the current episode, and number of earlier episodes: `[2][stride]`.
    pub clocks: Region,
    /// Number of episodes that ended in the last [`Worlds::play`], one for each workgroup; add them up.
    pub ended: Region,
    setup: Region,
}

/// Regions that [`Worlds::step`] reads and writes: `[count][OBSERVATION]` for observations, else `[count]`.
#[derive(Clone, Copy, Debug)]
pub struct Stepping {
    pub actions: Region,
    /// Observations after the step; after the restart if an episode ended.
    pub shown: Region,
    /// Observations that the step led to, before a restart.
    pub reached: Option<Region>,
    pub rewards: Region,
    /// Flags and lengths in the format of `worlds::control::Vector::step`.
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

    /// Selects the environments: the environments from `first` on of a seed, and the random stream `game` of [`Worlds::play`]. Takes effect
    /// with the next submit.
    pub fn set_up(&self, memory: &Memory, seed: u32, first: u32, game: u32) {
        let [a, b, c, d] = (self.world.kernels.key)(seed);
        memory.write_words(self.setup, &[a, b, c, d, first, game]);
    }

    /// Appends a restart: each environment begins its first episode, with the values of [`Worlds::set_up`]. Writes the observations to
    /// `shown` if given.
    pub fn reset(&self, program: &mut Program, shown: Option<Region>) {
        self.begin(program, shown, true);
    }

    /// Appends a dispatch that writes the observations of the current states to `shown`.
    pub fn show(&self, program: &mut Program, shown: Region) {
        self.begin(program, Some(shown), false);
    }

    fn begin(&self, program: &mut Program, shown: Option<Region>, anew: bool) {
        let args = Args { shown: shown.map_or(NOWHERE, |region| region.at), anew: u32::from(anew), ..Args::default() };
        self.append(program, "begin", &[ROWS, include_str!("worlds/begin.wgsl")], args);
    }

    /// Appends one step of every environment.
    pub fn step(&self, program: &mut Program, at: &Stepping) {
        let Stepping { actions, shown, reached, rewards, ended } = at;
        let reached = reached.map_or(NOWHERE, |region| region.at);
        let (actions, shown, rewards, ended) = (actions.at, shown.at, rewards.at, ended.at);
        let args = Args { actions, shown, reached, rewards, ended, ..Args::default() };
        self.append(program, "step", &[ROWS, include_str!("worlds/step.wgsl")], args);
    }

    /// Appends many steps of CartPole in one dispatch, with the coins of [`cartpole::CartPoles::coins`] as actions. Writes only the states,
    /// the clocks and the number of ended episodes.
    pub fn play(&self, program: &mut Program, steps: u32) {
        let texts = [include_str!("worlds/count.wgsl"), include_str!("worlds/random_steps_cartpole.wgsl")];
        self.append(program, "play", &texts, Args { ended: self.ended.at, steps, ..Args::default() });
    }

    fn append(&self, program: &mut Program, label: &str, texts: &[&str], args: Args) {
        let mut text = Text::default()
            .add(&self.world.text)
            .count("STATE", self.world.state)
            .count("OBSERVATION", self.world.observation)
            .word("STEP_BITS", cartpole::STEP_BITS as usize)
            .word("SHORTEST", cartpole::SHORTEST as usize)
            .add(include_str!("worlds/common.wgsl"));
        for own in texts {
            text = text.add(own);
        }
        let kernel = program.kernel(label, &text.text);
        let Args { actions, shown, reached, rewards, ended, steps, anew } = args;
        let (state, clocks, setup) = (self.state.at, self.clocks.at, self.setup.at);
        let (count, stride) = (self.count as u32, self.stride as u32);
        let args = [count, stride, state, clocks, setup, actions, shown, reached, rewards, ended, steps, anew];
        program.dispatch(&kernel, &args, groups(self.count, GROUP));
    }
}
