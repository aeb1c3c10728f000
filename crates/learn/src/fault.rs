//! Failures of a machine to which work is offloaded.

/// Reason why a machine cannot start or continue offloaded work.
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
    /// Products in f16 were requested, but the machine does not support f16.
    NoF16,
    Unknown {
        what: String,
    },
    CpuOnly {
        why: &'static str,
    },
}

impl Fault {
    /// Returns a description of the failure, as a sentence.
    pub fn what(&self) -> String {
        let text = match self {
            Fault::NoAdapter { why } => format!("no GPU is available ({why})"),
            Fault::Lost { why } => format!("the GPU was lost ({why})"),
            Fault::Refused { why } => format!("the GPU rejected the work ({why})"),
            Fault::OutOfMemory => "the GPU is out of memory".into(),
            Fault::TooSmall { needs, has } => {
                format!("this run needs {needs} bytes in a buffer, but the GPU allows {has}")
            }
            Fault::NoF16 => "the GPU does not support f16, the selected precision".into(),
            Fault::Unknown { what } => format!("{what} has no GPU implementation"),
            Fault::CpuOnly { why } => why.to_string(),
        };
        let mut letters = text.chars();
        let first = letters.next().into_iter().flat_map(char::to_uppercase);
        first.chain(letters).chain(['.']).collect()
    }

    /// Returns a remedy, as a sentence.
    pub fn next_step(&self) -> &'static str {
        match self {
            Fault::NoAdapter { .. } => "Train on the CPU, or check the system's GPU driver.",
            Fault::Lost { .. } => "Training continues on the CPU; choose the GPU again once it is back.",
            Fault::Refused { .. } => "Train on the CPU, and report or update as described.",
            Fault::OutOfMemory | Fault::TooSmall { .. } => {
                "Choose fewer environments, games, members or sequences per step, or train on the CPU."
            }
            Fault::NoF16 => "Set precision to f32, or train on the CPU.",
            Fault::Unknown { .. } => "Train it on the CPU.",
            Fault::CpuOnly { .. } => "Choose another learner in this room, or train on the CPU.",
        }
    }
}

impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        // An error message has no final full stop.
        write!(f, "{} {}", self.what(), self.next_step().trim_end_matches('.'))
    }
}

impl std::error::Error for Fault {}
