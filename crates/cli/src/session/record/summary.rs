//! Summary of a training process, its last record.

use run::protocol::{Progress, Row};
use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EndedBy {
    /// The limit of the room's first counter (`--steps`) was reached.
    Steps,
    Seconds,
    CpuSeconds,
    Solved,
    /// Ctrl-C, a termination signal, or `q`.
    Interrupt,
    /// The reader closed the output.
    ClosedOutput,
    /// The weights contain NaN or infinity.
    Diverged,
}

/// Results of a training process.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    pub ended_by: EndedBy,
    pub room: String,
    pub variant: String,
    pub seed: u32,
    /// Progress of the whole run, including its earlier processes.
    pub progress: Progress,
    /// Wall-clock seconds of this process.
    pub seconds: f64,
    /// CPU seconds of this process.
    pub cpu_seconds: f64,
    /// Increase of the first counter per second of training in this process.
    pub per_second: f64,
    /// Newest row of metrics.
    pub metrics: Option<Row>,
    /// Test at the end; None after divergence.
    pub test: Option<Row>,
    /// Progress at which the goal was first confirmed.
    pub solved: Option<Progress>,
    /// Number of failed confirmations.
    pub attempts: u32,
    /// Seconds of training in this process, by part.
    pub parts_s: Parts,
    pub machine: Ended,
}

/// Fields of a summary that all rooms have.
#[derive(Clone, Debug, PartialEq)]
pub struct Ended {
    /// Hash of the weights at the end.
    pub digest: String,
    pub arithmetic: String,
    /// GPU in use at the end; None if the run used the CPU.
    pub device: Option<String>,
    pub isa: String,
    pub threads: u32,
    pub file: Option<String>,
    /// Command that resumes the run.
    pub resume: Option<String>,
}

/// Seconds of each part.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Parts(pub Vec<f64>);
