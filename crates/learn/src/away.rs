//! Machines besides the processor that learners can lend work to, a GPU for one, and what can go wrong with them. What is lent
//! and what comes back is each learner's own: `ppo/away.rs`, `backgammon/published/away.rs`.

use crate::backgammon::published::away as published;
use crate::ppo::{Ppo, away as ppo};
use math::par::{Movable, Pinned};

/// Why a machine cannot go on, or cannot begin. Each names the next step.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    #[error("there is no GPU to use here ({why}). Train on the processor, or see to the system's GPU driver")]
    NoAdapter { why: String },
    #[error(
        "the GPU was lost ({why}). Training goes on on the processor; choose the GPU again once it is back"
    )]
    Lost { why: String },
    #[error(
        "the GPU refused the work ({why}). Train on the processor; the text says what to report or update"
    )]
    Refused { why: String },
    #[error(
        "the GPU has run out of memory. Choose fewer environments or games at once, or train on the processor"
    )]
    OutOfMemory,
    #[error(
        "the GPU's buffers hold {has} bytes, but this run needs {needs}. Choose fewer environments or games at once, or train on the processor"
    )]
    TooSmall { needs: u64, has: u64 },
    #[error("{what} has not been taught to run on a GPU. Train it on the processor")]
    Unknown { what: String },
    #[error("{why}. Choose the published learner, or train on the processor")]
    Stays { why: &'static str },
}

/// Where work can be done.
pub trait Machine: Movable {
    /// `NVIDIA H200 (Vulkan)`
    fn name(&self) -> String;

    /// It is the processor itself, pretending.
    fn is_software(&self) -> bool;

    /// Gets ready to go on from where a learner of control stands at a boundary.
    fn take_on(&self, ppo: &Ppo) -> Result<Box<dyn ppo::Accelerator>, Fault>;

    /// Gets ready for the work that backgammon's published learner lends.
    fn coach(&self, blueprint: &published::Blueprint) -> Result<Box<dyn published::Coach>, Fault>;
}

impl Machine for Pinned<Box<dyn Machine>> {
    fn name(&self) -> String {
        self.with(|machine| machine.name())
    }

    fn is_software(&self) -> bool {
        self.with(|machine| machine.is_software())
    }

    fn take_on(&self, ppo: &Ppo) -> Result<Box<dyn ppo::Accelerator>, Fault> {
        self.with(|machine| machine.take_on(ppo))
    }

    fn coach(&self, blueprint: &published::Blueprint) -> Result<Box<dyn published::Coach>, Fault> {
        self.with(|machine| machine.coach(blueprint))
    }
}
