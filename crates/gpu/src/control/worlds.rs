//! Worlds as kernels: the rules of `worlds` in WGSL, with their constants and random words taken from there.
//!
//! Same seeds begin the same episodes; steps differ by roundings, for a GPU fuses and divides as it likes. It refuses
//! to know who acts, and a world's text to bind anything: kernels read and write, worlds only compute.

use crate::program::{Memory, Program, Region, Space, groups};
use crate::text::Text;
use ::worlds::control::vector::{LENGTH_SHIFT, TERMINATED, TRUNCATED};
use ::worlds::control::{Kernels, Kind, Spec, cartpole};
use math::Isa;

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

/// What a world's own text is written in. A step that draws numbers draws them by its moment.
const TYPES: &str = "alias State = array<f32, STATE>;
alias Shown = array<f32, OBSERVATION>;
struct Stepped { state: State, reward: f32, terminated: bool }
struct Moment { key: vec4<u32>, env: u32, episode: u32, steps: u32 }
";

/// Invocations of a workgroup, as in `worlds/common.wgsl`.
const GROUP: usize = 64;
/// No region.
const NOWHERE: u32 = u32::MAX;
/// Words that say which environments these are: the key, the first environment and the game.
const SETUP: usize = 6;

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
/// `worlds::control::Vector`, but that observations are rows.
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
    /// As `worlds::control::Vector::step` writes them.
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

    /// Says which environments these are: `first..` of a seed; and what play is thrown, in force from the
    /// next submit on.
    pub fn set_up(&self, memory: &Memory, seed: u32, first: u32, game: u32) {
        let [a, b, c, d] = (self.world.kernels.key)(seed);
        memory.write_words(self.setup, &[a, b, c, d, first, game]);
    }

    /// Appends what begins anew as [`Worlds::set_up`] said, each environment at the start of its first episode.
    /// What they show is written where it is asked for.
    pub fn reset(&self, program: &mut Program, shown: Option<Region>) {
        self.begin(program, shown, true);
    }

    /// Appends what only shows the states there are.
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

    /// Appends many steps of CartPole in one dispatch, with the coins of [`cartpole::CartPoles::coins`] for actions. Only states,
    /// clocks and the number of episodes that ended are left of it.
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
