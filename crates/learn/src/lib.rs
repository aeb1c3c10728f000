//! Learners, one for each training algorithm. This crate uses the crates `worlds`, `graph` and `math`. The crate does not depend on a user
//! interface, a file system or a platform.
#![deny(clippy::disallowed_macros, clippy::disallowed_methods, clippy::disallowed_types)] // listed in clippy.toml
#![forbid(unsafe_code)]

pub mod backgammon;
pub mod control;
pub mod cube;
mod decimal;
mod fault;
mod learner;
pub mod logic;
mod network;
pub mod offload;
mod policy;
pub mod settings;
mod share;
mod slice;
mod state;
pub mod words;

pub use decimal::decimal;
pub use fault::Fault;
pub use learner::{ByName, Failure, Iteration, Learner, Progress, WorkedOn};
pub use network::{InputValue, LayerValues, NetworkValues};
pub use offload::{Machine, Offload, Pass};
pub use policy::Policy;
pub use share::Sharing;
pub use slice::Slice;
pub use state::{Data, Find, Parts, SavedError, Tensor, part};

/// Items for this crate's own tests.
#[doc(hidden)]
pub mod internals {
    pub use crate::backgammon::random_play::play as random_play;
    pub use crate::state::LONGEST;
    pub use crate::words::config::cos_pi;

    pub mod strong {
        pub use crate::backgammon::inputs::{
            Changes, INPUTS, Inputs, READ, USED, broken_prime, layout, prime, read as read_inputs, ways_past,
        };
        pub use crate::backgammon::net::values::values;
        pub use crate::backgammon::net::{Block, Layer, Network, Sample, Shape, Trainer, Valuer, open};
        pub use crate::backgammon::outcomes::{OUTCOMES, OutcomeProbs, turned};
        pub use crate::backgammon::td::{DICE, GameResult, LOOKAHEAD_SLICE, SLICE, SelfPlay, boards, moves};
    }

    pub mod published {
        pub use crate::backgammon::outcomes::equity;
        pub use crate::backgammon::published::draw;
        pub use crate::backgammon::published::inputs::place_of;
        pub use crate::backgammon::published::net::{action, chances, outcome, play, whole};
        pub use crate::backgammon::published::replay::{Replay, WORDS};
        pub use crate::backgammon::published::selfplay::{Actor, Playing};
        pub use crate::backgammon::published::slices::{BATCHES, Limits, Stretch};
        pub use crate::backgammon::published::trainer::{Cut, SHARDS};
        pub use crate::backgammon::published::tree::{Chance, Edge, Leaf, MOST_ACTIONS, NONE, ROOT, Rule, State, Tree, legal};
    }

    pub mod ppo {
        pub use crate::control::ppo::actor::{Actor, RolloutContext};
        pub use crate::control::ppo::advantages::Advantages;
        pub use crate::control::ppo::evaluation::Context;
        pub use crate::control::ppo::gradients::Minibatch;
        pub use crate::control::ppo::nets::{Task, plan_acting, plan_learning};
        pub use crate::control::ppo::normalizer::{Moments, Normalizer};
        pub use crate::control::ppo::rollout::{LANES, REST};
        pub use crate::control::ppo::sampling::{
            Draw, GreedyActions, GreedyMasked, KEPT, SampleChoice, SampleGaussian, SampleMasked, greedy,
        };
        pub use crate::control::ppo::stats::divided;
    }

    pub mod cube {
        pub use crate::cube::values::{Network, name as input_name};
    }
}
