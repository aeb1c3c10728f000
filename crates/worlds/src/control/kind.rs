//! What a file of an environment gives: its rules in all their forms, and what is special about it, each with a default.

use super::many::{Many, Rules};
use super::vector::Vector;
use super::world::{Single, Spec, World64};
use math::{Isa, Rng};

/// Constants beside their names, for those who write them into another program.
#[macro_export]
macro_rules! named {
    ($($name:ident),* $(,)?) => { [$((stringify!($name), $name)),*] };
}

/// A kind of environment.
pub struct Kind {
    pub spec: &'static Spec,
    /// One environment in f64, somewhere.
    pub twin: fn() -> Box<dyn World64>,
    pub many: Make,
    /// Where settings that solve it differ from those that solve most, by name. A switch is 0 or 1.
    pub tuned: &'static [(&'static str, f64)],
    /// Steps of all environments together in which a learner should have solved it: twice what it takes, or more.
    pub steps: f64,
    /// Without it no accelerator steps the environment.
    pub kernels: Option<Kernels>,
}

/// Makes environments `first..first + count` of a seed: `(isa, seed, first, count)`.
pub type Make = fn(Isa, u32, u32, usize) -> Box<dyn Vector>;

impl Kind {
    /// One with nothing special about it.
    pub const fn of<R: Rules<S, O>, const S: usize, const O: usize>() -> Kind {
        let many: Make = |isa, seed, first, count| Box::new(Many::<R, S, O>::new(isa, seed, first, count));
        Kind::new(R::SPEC, || Box::new(Single::<R, S>::new(0)), many)
    }

    /// The same, where many are stepped in a way of their own.
    pub const fn new(spec: &'static Spec, twin: fn() -> Box<dyn World64>, many: Make) -> Kind {
        Kind { spec, twin, many, tuned: &[], steps: 1e6, kernels: None }
    }
}

/// The rules for an accelerator, with the constants and random words of the rules here.
#[derive(Clone, Copy)]
pub struct Kernels {
    /// WGSL without bindings: `world_first`, `world_shown` and `world_step`.
    pub text: &'static str,
    /// Lines behind such a mark are written out so many times, with the number of the time for each #.
    pub repeated: &'static [(&'static str, usize)],
    /// Constants that the text reads.
    pub constants: fn() -> Vec<(&'static str, f64)>,
    /// What first states are drawn under, for a seed.
    pub key: fn(u32) -> [u32; 4],
    /// Episodes are counted up to this, and from 0 again.
    pub episode_mask: u32,
}

impl Kernels {
    /// Of rules that draw from Threefry under their own stream.
    pub const fn of<R: Rules<S, O>, const S: usize, const O: usize>(
        text: &'static str,
        constants: fn() -> Vec<(&'static str, f64)>,
    ) -> Kernels {
        Kernels { text, repeated: &[], constants, key: |seed| Rng::new(seed, R::STREAM).key, episode_mask: u32::MAX }
    }
}
