//! Every kind of world there is, by the name Gymnasium gives it.

use crate::world::{Spec, World64};
use crate::{
    Acrobot64, Acrobots, CartPole64, CartPoles, LunarLander64, LunarLanders, MountainCar64, MountainCarContinuous64, MountainCars,
    MountainCarsContinuous, Pendulum64, Pendulums, Vector, acrobot, cartpole, lunar_lander, mountain_car, pendulum,
};
use math::Isa;

/// A kind of world in all its forms.
pub struct Kind {
    pub spec: &'static Spec,
    /// One environment in f64, somewhere.
    pub twin: fn() -> Box<dyn World64>,
    pub many: Make,
}

/// Makes environments `first..first + count` of a seed: `(isa, seed, first, count)`.
pub type Make = fn(Isa, u32, u32, usize) -> Box<dyn Vector>;

/// Every kind there is: the one list that a new one joins.
static KINDS: [Kind; 6] = [
    Kind {
        spec: &cartpole::SPEC,
        twin: || Box::new(CartPole64::new([0.0; 4])),
        many: |isa, seed, first, count| Box::new(CartPoles::new(isa, seed, first, count)),
    },
    Kind {
        spec: &mountain_car::SPEC,
        twin: || Box::new(MountainCar64::new([-0.5, 0.0])),
        many: |isa, seed, first, count| Box::new(MountainCars::new(isa, seed, first, count)),
    },
    Kind {
        spec: &mountain_car::CONTINUOUS,
        twin: || Box::new(MountainCarContinuous64::new([-0.5, 0.0])),
        many: |isa, seed, first, count| Box::new(MountainCarsContinuous::new(isa, seed, first, count)),
    },
    Kind {
        spec: &pendulum::SPEC,
        twin: || Box::new(Pendulum64::new([0.0; 2])),
        many: |isa, seed, first, count| Box::new(Pendulums::new(isa, seed, first, count)),
    },
    Kind {
        spec: &acrobot::SPEC,
        twin: || Box::new(Acrobot64::new([0.0; 4])),
        many: |isa, seed, first, count| Box::new(Acrobots::new(isa, seed, first, count)),
    },
    Kind {
        spec: &lunar_lander::SPEC,
        twin: || Box::new(LunarLander64::new(0)),
        many: |isa, seed, first, count| Box::new(LunarLanders::new(isa, seed, first, count)),
    },
];

pub fn kinds() -> &'static [Kind] {
    &KINDS
}

/// The kind that Gymnasium calls so.
pub fn kind(id: &str) -> Option<&'static Kind> {
    KINDS.iter().find(|kind| kind.spec.id == id)
}
