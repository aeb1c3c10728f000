//! A kind of environment: its rules in f64, in vectorized f32 and for accelerators, and optional properties with defaults.

use super::many::{Many, Rules};
use super::vector::Vector;
use super::world::{Actions, Single, Spec, Text, World64};
use math::{Isa, Rng};
use std::borrow::Cow;
use std::sync::Arc;

/// Creates an array of pairs (name, value) from the names of Rust constants. The generated WGSL text declares these constants.
#[macro_export]
macro_rules! named {
    ($($name:ident),* $(,)?) => { [$((stringify!($name), $name)),*] };
}

/// A kind of environment. Built-in kinds are in the registry (module `kinds`). Other kinds can be created at run time. A clone is cheap.
#[derive(Clone)]
pub struct Kind {
    pub spec: Arc<Spec>,
    /// Creates one f64 environment.
    pub twin: MakeOne,
    pub many: Make,
    /// Default values of learner settings for this kind, as pairs (setting, value). These values replace the learner's own default values.
    /// A switch is 0 or 1.
    pub tuned: Cow<'static, [(&'static str, f64)]>,
    /// Default number of steps of each run in a sweep (training with several settings), summed over all environments. For a built-in kind,
    /// this number is at least twice the number of steps that a learner needs to solve the task.
    pub steps: f64,
    /// True if the environments forbid some choices in some states; see [`Vector::masks`].
    pub masked: bool,
    /// Action of each key, by the key's name in the browser; empty if the kind names no keys.
    pub keys: Vec<(String, Vec<f32>)>,
    /// Width and height of the pictures that [`Vector::draw`] draws, in the unit of their shapes; `None` if the environments draw none.
    pub size: Option<[f32; 2]>,
    /// Kernels for an accelerator; `None` if only the CPU can step the environment.
    pub kernels: Option<Kernels>,
}

/// Function that creates the environments `first..first + count` of a seed. The arguments are `isa`, `seed`, `first` and `count`.
pub type Make = Arc<dyn Fn(Isa, u32, u32, usize) -> Box<dyn Vector> + Send + Sync>;

/// Function that creates one f64 environment.
pub type MakeOne = Arc<dyn Fn() -> Box<dyn World64> + Send + Sync>;

impl Kind {
    /// Creates a kind with default properties, stepped by [`Many`].
    pub fn of<R: Rules<S, O, A>, const S: usize, const O: usize, const A: usize>() -> Kind {
        let many: Make = Arc::new(|isa, seed, first, count| Box::new(Many::<R, S, O, A>::new(isa, seed, first, count)));
        Kind::new(R::SPEC.clone(), Arc::new(|| Box::new(Single::<R, S, A>::new(0))), many)
    }

    /// Returns the number of values in the mask of an environment: the number of choices, or 0 if all choices are always permitted.
    pub fn mask_len(&self) -> usize {
        match self.spec.actions {
            Actions::Choices(count) if self.masked => count as usize,
            _ => 0,
        }
    }

    /// Creates a kind with default properties, stepped by the vectorized form that `many` creates.
    pub fn new(spec: Spec, twin: MakeOne, many: Make) -> Kind {
        let spec = Arc::new(spec);
        Kind { spec, twin, many, tuned: Cow::Borrowed(&[]), steps: 1e6, masked: false, keys: Vec::new(), size: None, kernels: None }
    }
}

/// Rules in WGSL for an accelerator. These rules use the same constants and random words as the CPU rules.
#[derive(Clone)]
pub struct Kernels {
    /// WGSL text of the functions `world_first`, `world_shown` and `world_step`. The text declares no bindings.
    pub text: Text,
    /// Pairs (name, count). A line of `text` that begins with `#name` is repeated `count` times. Each other `#` in the line is replaced by
    /// the index of the repetition.
    pub repeated: &'static [(&'static str, usize)],
    /// Names and values of the constants that `text` uses.
    pub constants: fn() -> Vec<(&'static str, f64)>,
    /// Returns the random key from which the initial states of a seed are drawn.
    pub key: fn(u32) -> [u32; 4],
    /// Mask of the episode counter's bits. The counter wraps around to 0.
    pub episode_mask: u32,
    /// Function that describes the errors of the rules; `None` if the rules raise no errors.
    pub explain: Option<Explain>,
}

/// Function that describes an error in WGSL rules. It returns the error's line in the text of the rules, if known, and the error's message.
/// The argument is the value of the WGSL variable `world_fault`, a `vec2<u32>`. At their first error, the rules write this variable, whose
/// first word is then not 0. The rules report no further errors, and may return any result afterwards.
pub type Explain = Arc<dyn Fn([u32; 2]) -> (Option<u32>, String) + Send + Sync>;

impl Kernels {
    /// Creates the kernels of rules whose initial states are drawn by Threefry from the stream [`Rules::STREAM`].
    pub const fn of<R: Rules<S, O, A>, const S: usize, const O: usize, const A: usize>(
        text: &'static str,
        constants: fn() -> Vec<(&'static str, f64)>,
    ) -> Kernels {
        Kernels {
            text: Cow::Borrowed(text),
            repeated: &[],
            constants,
            key: |seed| Rng::new(seed, R::STREAM).key,
            episode_mask: u32::MAX,
            explain: None,
        }
    }
}
