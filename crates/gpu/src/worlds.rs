//! Worlds as kernels: the rules of `worlds` in WGSL, with their constants and random words taken from there.
//!
//! Same seeds begin the same episodes; steps differ by roundings, for a GPU fuses and divides as it likes. It refuses
//! to know who acts, and a world's text to bind anything: kernels read and write, worlds only compute.

use ::worlds::cartpole;
use ::worlds::vector::{LENGTH_SHIFT, TERMINATED, TRUNCATED};
use ::worlds::world::Spec;
use std::fmt::Write as _;

/// The polynomials of `math::poly`: `poly_exp`, `poly_ln`, `poly_tanh`, `poly_sigmoid`, `poly_sin_cos`.
pub const POLY: &str = include_str!("poly.wgsl");
/// The words of `math::rng`: `threefry`, `pcg4`, `hash`, `uniform_of`, `normals`. Stands after [`POLY`].
pub const RNG: &str = include_str!("rng.wgsl");

const GOING: &str = include_str!("worlds/going.wgsl");

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
    /// struct Going { state: State, shown: Shown, steps: u32, episodes: u32 }
    /// struct Gone { now: Going, reached: Shown, reward: f32, ended: u32 }
    /// fn world_begin(env: u32, episode: u32, key: vec4<u32>) -> Going
    /// fn world_go(at: Going, action: f32, env: u32, key: vec4<u32>) -> Gone
    /// ```
    pub text: String,
    /// Numbers of a state.
    pub state: usize,
    /// Numbers of an observation.
    pub observation: usize,
    pub step_limit: u32,
    /// `key` of `world_first` for a seed.
    pub key: fn(seed: u32) -> [u32; 4],
}

/// The world that Gymnasium calls so.
pub fn world(id: &str) -> Option<World> {
    let spec = ::worlds::kind(id)?.spec;
    let (rules, constants, key, episode_mask): (_, _, fn(u32) -> [u32; 4], _) = match id {
        "CartPole-v1" => {
            (include_str!("worlds/cartpole.wgsl"), poles(), cartpole::key as _, cartpole::EPISODES - 1)
        }
        _ => return None,
    };
    let mut text = format!("{POLY}{RNG}");
    for (name, word) in [
        ("STATE", spec.state.len() as u32),
        ("OBSERVATION", spec.observation.len() as u32),
        ("STEP_LIMIT", spec.step_limit),
        ("EPISODE_MASK", episode_mask),
        ("TERMINATED", TERMINATED),
        ("TRUNCATED", TRUNCATED),
        ("LENGTH_SHIFT", LENGTH_SHIFT),
    ] {
        let _ = writeln!(text, "const {name}: u32 = {word}u;");
    }
    for (name, value) in constants {
        // An f32 written out as the f64 it equals is read back to the bit.
        let _ = writeln!(text, "const {name}: f32 = {:?};", f64::from(value as f32));
    }
    text += "alias State = array<f32, STATE>;\nalias Shown = array<f32, OBSERVATION>;\n";
    text += "struct Stepped { state: State, reward: f32, terminated: bool }\n";
    // What a step that draws numbers draws them by.
    text += "struct Moment { key: vec4<u32>, env: u32, episode: u32, steps: u32 }\n";
    text += rules;
    text += GOING;
    let (state, observation) = (spec.state.len(), spec.observation.len());
    Some(World { spec, text, state, observation, step_limit: spec.step_limit, key })
}

type Constants = Vec<(&'static str, f64)>;

fn poles() -> Constants {
    use cartpole::{FORCE, GRAVITY, HALF_LENGTH, MASS_CART, MASS_POLE, SPREAD, STEP_S, THETA_LIMIT, X_LIMIT};
    let mass = MASS_CART + MASS_POLE;
    // The largest θ² between two steps. The next term of each series is spread over the others, so that it errs
    // both ways: θ⁷ ≈ 0.85·q·θ⁵ and θ⁶ ≈ 3/2·q·θ⁴ - 9/16·q²·θ² (+ q³/32) for θ² <= q.
    let q = THETA_LIMIT * THETA_LIMIT;
    // 1 over the inertia a - b·cos²θ, with r = b/(a - b).
    let (a, b) = (HALF_LENGTH * 4.0 / 3.0, HALF_LENGTH * MASS_POLE / mass);
    let r = b / (a - b);
    let last = -(2.0 / 45.0 * r + 2.0 / 3.0 * r * r + r * r * r);
    let ease = |c: f64| c / (a - b);
    vec![
        ("SPREAD", f64::from(SPREAD)),
        ("GRAVITY", GRAVITY),
        ("PUSH", FORCE / mass),
        ("POLE_SHARE", MASS_POLE * HALF_LENGTH / mass),
        ("STEP_S", STEP_S),
        ("X_LIMIT", X_LIMIT),
        ("THETA_LIMIT", THETA_LIMIT),
        ("SIN_3", -1.0 / 6.0),
        ("SIN_5", 1.0 / 120.0 - 0.85 * q / 5040.0),
        ("COS_2", -0.5 + 9.0 / 16.0 * q * q / 720.0),
        ("COS_4", 1.0 / 24.0 - 1.5 * q / 720.0),
        ("EASE_0", ease(1.0 + last * q * q * q / 32.0)),
        ("EASE_2", ease(-r - 9.0 / 16.0 * last * q * q)),
        ("EASE_4", ease(r / 3.0 + r * r + 1.5 * last * q)),
    ]
}
