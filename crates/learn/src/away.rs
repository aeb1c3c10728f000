//! Machines besides the processor that learners can lend work to, a GPU for one, and what can go wrong with them. What is lent
//! and what comes back is each learner's own: `ppo/away.rs`, `backgammon/published/away.rs`.

use crate::backgammon::published::away as published;
use crate::ppo::{Ppo, away as ppo};
use math::par::{Movable, Pinned};

/// Why a machine cannot go on, or cannot begin: what is the matter, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    NoAdapter { why: String },
    Lost { why: String },
    Refused { why: String },
    OutOfMemory,
    TooSmall { needs: u64, has: u64 },
    Unknown { what: String },
    Stays { why: &'static str },
}

impl Fault {
    /// What is the matter, in a sentence.
    pub fn what(&self) -> String {
        let text = match self {
            Fault::NoAdapter { why } => format!("there is no GPU to use here ({why})"),
            Fault::Lost { why } => format!("the GPU was lost ({why})"),
            Fault::Refused { why } => format!("the GPU refused the work ({why})"),
            Fault::OutOfMemory => "the GPU has run out of memory".into(),
            Fault::TooSmall { needs, has } => {
                format!("the GPU's buffers hold {has} bytes, but this run needs {needs}")
            }
            Fault::Unknown { what } => format!("{what} has not been taught to run on a GPU"),
            Fault::Stays { why } => why.to_string(),
        };
        let mut letters = text.chars();
        let first = letters.next().into_iter().flat_map(char::to_uppercase);
        first.chain(letters).chain(['.']).collect()
    }

    /// What to do next, in a sentence.
    pub fn next_step(&self) -> &'static str {
        match self {
            Fault::NoAdapter { .. } => "Train on the processor, or see to the system's GPU driver.",
            Fault::Lost { .. } => "Training goes on on the processor; choose the GPU again once it is back.",
            Fault::Refused { .. } => "Train on the processor; the text says what to report or update.",
            Fault::OutOfMemory | Fault::TooSmall { .. } => {
                "Choose fewer environments or games at once, or train on the processor."
            }
            Fault::Unknown { .. } => "Train it on the processor.",
            Fault::Stays { .. } => "Choose the published learner, or train on the processor.",
        }
    }
}

impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        // Without the last full stop, as errors are.
        write!(f, "{} {}", self.what(), self.next_step().trim_end_matches('.'))
    }
}

impl std::error::Error for Fault {}

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
