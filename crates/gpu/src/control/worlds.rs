//! Environments as kernels: the rules of the crate `worlds` in WGSL. That crate also defines the constants and the random words.
//!
//! Each episode begins in the same state as on the CPU. Later states differ by rounding, because a GPU may fuse and reorder arithmetic. The
//! text of a world (a kind of environment) does not access memory; the text of each kernel reads and writes memory.

use crate::program::{Memory, Program, Region, Space, groups};
use crate::shader::include_wgsl;
use crate::text::Text;
use ::worlds::control::vector::{LENGTH_SHIFT, TERMINATED, TRUNCATED};
use ::worlds::control::{Kernels, Kind, Spec, cartpole};
use math::Isa;
use std::sync::Arc;

/// WGSL text of the polynomials of `math::poly`: `poly_exp`, `poly_ln`, `poly_tanh`, `poly_sigmoid`, `poly_sin_cos`.
pub const POLY: &str = include_wgsl!("../poly.wgsl");
/// WGSL text of random functions, which give the same words as those of `math::rng`: `threefry`, `pcg4`, `hash`, `uniform_of`, `normals`.
/// [`POLY`] must come before this text.
pub const RNG: &str = include_wgsl!("../rng.wgsl");

/// WGSL functions of angles, for worlds with rotation.
const ANGLE: &str = include_wgsl!("worlds/angle.wgsl");
const ROWS: &str = include_wgsl!("worlds/rows.wgsl");
const EPISODE: &str = include_wgsl!("worlds/episode.wgsl");

/// One kind of environment in WGSL.
#[derive(Clone)]
pub struct World {
    pub spec: Arc<Spec>,
    /// WGSL functions without bindings, which precede a kernel's own text. The text includes [`POLY`] and [`RNG`] and defines the world:
    /// ```wgsl
    /// const STATE: u32; const OBSERVATION: u32; const MASK: u32; const ACTION: u32; const STEP_LIMIT: u32;
    /// const EPISODE_MASK: u32; const TERMINATED: u32; const TRUNCATED: u32; const LENGTH_SHIFT: u32;
    /// alias State = array<f32, STATE>; alias Shown = array<f32, OBSERVATION + MASK>; alias Action = array<f32, ACTION>;
    /// struct Stepped { state: State, reward: f32, terminated: bool }
    /// struct Moment { key: vec4<u32>, env: u32, episode: u32, steps: u32 }
    /// const FAULTS: bool; var<private> world_fault: vec2<u32>;
    /// fn world_first(env: u32, episode: u32, key: vec4<u32>) -> State
    /// fn world_shown(state: State) -> Shown
    /// fn world_step(state: State, shown: Shown, action: Action, when: Moment) -> Stepped
    /// ```
    /// The text also defines the world's episodes, with step limits, lengths and restarts:
    /// ```wgsl
    /// struct EnvState { state: State, shown: Shown, steps: u32, episodes: u32 }
    /// struct StepResult { now: EnvState, reached: Shown, reward: f32, ended: u32 }
    /// fn world_begin(env: u32, episode: u32, key: vec4<u32>) -> EnvState
    /// fn world_go(at: EnvState, action: Action, env: u32, key: vec4<u32>) -> StepResult
    /// ```
    /// `Shown` contains the observation and, for a kind with masks, one number for each choice: 1 if the choice is permitted, else 0.
    ///
    /// If `FAULTS` is true, the rules can raise errors, which they write to `world_fault` (see [`worlds::control::Explain`]). Before a
    /// step, a kernel sets `world_fault` to the environment's stored error. If this error is not zero, the step does not change the
    /// environment.
    pub text: String,
    /// Number of floats of a state.
    pub state: usize,
    /// Number of floats of an observation.
    pub observation: usize,
    /// Number of choices with a flag in the mask; 0 if all choices are always permitted.
    pub mask: usize,
    /// Number of floats of an action; 1 for a choice.
    pub action: usize,
    pub step_limit: u32,
    pub kernels: Kernels,
}

/// Returns the WGSL version of a kind of environment; `None` if the kind has no kernels.
pub fn world(kind: &Kind) -> Option<World> {
    let (spec, kernels) = (kind.spec.clone(), kind.kernels.clone()?);
    // The state of the kind's f64 environment (`Kind::twin`) may be longer, so the length is taken from the f32 environments.
    let state = (kind.many)(Isa::Portable, 0, 0, 1).state_len();
    let (observation, mask, action) = (spec.observation.len(), kind.mask_len(), spec.actions.numbers());
    let mut text = Text::default().add(POLY).add(RNG).add(ANGLE).words(&[
        ("STATE", state),
        ("OBSERVATION", observation),
        ("MASK", mask),
        ("ACTION", action),
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
    let text = text.flag("FAULTS", kernels.explain.is_some()).add(TYPES).add(&kernels.text).add(EPISODE).text;
    Some(World { text, state, observation, mask, action, step_limit: spec.step_limit, kernels, spec })
}

/// WGSL types, and the variable `world_fault`, that a world's own text uses. A step derives its random numbers from its `Moment`.
const TYPES: &str = "alias State = array<f32, STATE>;
alias Shown = array<f32, OBSERVATION + MASK>;
alias Action = array<f32, ACTION>;
struct Stepped { state: State, reward: f32, terminated: bool }
struct Moment { key: vec4<u32>, env: u32, episode: u32, steps: u32 }
var<private> world_fault: vec2<u32>;
";

/// Number of threads of a workgroup, as in `worlds/common.wgsl`.
const GROUP: usize = 64;
/// Offset that marks a region as absent.
const NOWHERE: u32 = u32::MAX;
/// Number of words of `Worlds::setup`: four of the key, the index of the first environment, and the random stream of [`Worlds::play`].
const SETUP: usize = 6;

/// Arguments that only some of the kernels use.
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

/// Many environments of one kind on the GPU. Each environment restarts when its episode ends, as in `worlds::control::Vector`. In contrast
/// to `Vector`, observations are rows: `[count][OBSERVATION]`.
pub struct Worlds {
    world: World,
    count: usize,
    /// Distance between successive rows of `state` or `clocks`, in elements.
    stride: usize,
    /// States of the environments, `[STATE][stride]`.
    pub state: Region,
    /// `[2][stride]`: number of steps in the current episode, then number of earlier episodes.
    pub clocks: Region,
    /// Numbers of episodes that ended in the last [`Worlds::play`]: one number for each workgroup.
    pub ended: Region,
    /// `[2][stride]`: errors of the environments; see [`worlds::control::Explain`]. Empty for a kind without errors.
    pub faults: Region,
    setup: Region,
}

/// Regions that [`Worlds::step`] reads and writes. Actions are `[count][ACTION]`, observations are `[count][OBSERVATION]`; the other
/// regions are `[count]`.
#[derive(Clone, Copy, Debug)]
pub struct Stepping {
    pub actions: Region,
    /// Observations after the step. If an environment's episode ended, its row holds the first observation of the next episode.
    pub shown: Region,
    /// Observations after the step but before a restart; `None` if they are not needed.
    pub reached: Option<Region>,
    pub rewards: Region,
    /// Flags and lengths of ended episodes, in the format of `worlds::control::Vector::step`.
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
            faults: space.words(if world.kernels.explain.is_some() { 2 * stride } else { 0 }),
            setup: space.words(SETUP),
            world,
        }
    }

    /// Selects the environments of `seed` with indices from `first` on, and the random stream `game` for [`Worlds::play`]. Takes effect
    /// with the next submit.
    pub fn set_up(&self, memory: &Memory, seed: u32, first: u32, game: u32) {
        let [a, b, c, d] = (self.world.kernels.key)(seed);
        memory.write_words(self.setup, &[a, b, c, d, first, game]);
    }

    /// Appends a dispatch that starts each environment's first episode with the values of [`Worlds::set_up`]. If `shown` is given, the
    /// dispatch writes the observations to `shown`.
    pub fn reset(&self, program: &mut Program, shown: Option<Region>) {
        self.begin(program, shown, true);
    }

    /// Appends a dispatch that writes the observations of the current states to `shown`.
    pub fn show(&self, program: &mut Program, shown: Region) {
        self.begin(program, Some(shown), false);
    }

    fn begin(&self, program: &mut Program, shown: Option<Region>, anew: bool) {
        let args = Args { shown: shown.map_or(NOWHERE, |region| region.at), anew: u32::from(anew), ..Args::default() };
        self.append(program, "begin", &[ROWS, include_wgsl!("worlds/begin.wgsl")], args);
    }

    /// Appends a dispatch that performs one step of every environment.
    pub fn step(&self, program: &mut Program, at: &Stepping) {
        let Stepping { actions, shown, reached, rewards, ended } = at;
        let reached = reached.map_or(NOWHERE, |region| region.at);
        let (actions, shown, rewards, ended) = (actions.at, shown.at, rewards.at, ended.at);
        let args = Args { actions, shown, reached, rewards, ended, ..Args::default() };
        self.append(program, "step", &[ROWS, include_wgsl!("worlds/step.wgsl")], args);
    }

    /// Appends a dispatch that performs many steps of CartPole. The actions are the random bits of [`cartpole::CartPoles::coins`]. The
    /// dispatch writes only the states, the clocks and the number of ended episodes.
    pub fn play(&self, program: &mut Program, steps: u32) {
        let texts = [include_wgsl!("worlds/count.wgsl"), include_wgsl!("worlds/random_steps_cartpole.wgsl")];
        self.append(program, "play", &texts, Args { ended: self.ended.at, steps, ..Args::default() });
    }

    fn append(&self, program: &mut Program, label: &str, texts: &[&str], args: Args) {
        let mut text = Text::default()
            .add(&self.world.text)
            .count("STATE", self.world.state)
            .count("OBSERVATION", self.world.observation)
            .count("ACTION", self.world.action)
            .word("STEP_BITS", cartpole::STEP_BITS as usize)
            .word("SHORTEST", cartpole::SHORTEST as usize)
            .add(include_wgsl!("worlds/common.wgsl"));
        for own in texts {
            text = text.add(own);
        }
        let kernel = program.kernel(label, &text.text);
        let Args { actions, shown, reached, rewards, ended, steps, anew } = args;
        let (state, clocks, setup) = (self.state.at, self.clocks.at, self.setup.at);
        let (count, stride) = (self.count as u32, self.stride as u32);
        let args = [count, stride, state, clocks, setup, actions, shown, reached, rewards, ended, steps, anew, self.faults.at];
        program.dispatch(&kernel, &args, groups(self.count, GROUP));
    }
}
