//! What can go wrong with a machine that work is offloaded to.

/// Why a machine cannot go on, or cannot begin: what is the matter, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    NoAdapter {
        why: String,
    },
    Lost {
        why: String,
    },
    Refused {
        why: String,
    },
    OutOfMemory,
    TooSmall {
        needs: u64,
        has: u64,
    },
    /// Products in f16 were asked for.
    NoHalf,
    Unknown {
        what: String,
    },
    ProcessorOnly {
        why: &'static str,
    },
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
            Fault::NoHalf => "the GPU has no f16, which is the precision that was asked for".into(),
            Fault::Unknown { what } => format!("{what} has not been taught to run on a GPU"),
            Fault::ProcessorOnly { why } => why.to_string(),
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
                "Choose fewer environments, games, members or sequences a step, or train on the processor."
            }
            Fault::NoHalf => "Set precision to f32 to train on it, or train on the processor.",
            Fault::Unknown { .. } => "Train it on the processor.",
            Fault::ProcessorOnly { .. } => "Choose another learner of the room, or train on the processor.",
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
