//! What a training process did, as its last record says.

use run::protocol::{Progress, Row};
use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EndedBy {
    /// `--steps`: the limit of the room's first counter was reached.
    Steps,
    Seconds,
    CpuSeconds,
    Solved,
    /// Ctrl-C, a termination signal, or `q`.
    Interrupt,
    /// Nobody reads the output any more.
    ClosedOutput,
    /// The weights are no longer numbers.
    Diverged,
}

/// What a training process did.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    pub ended_by: EndedBy,
    pub room: String,
    pub variant: String,
    pub seed: u32,
    /// Of the whole run, what was resumed included.
    pub progress: Progress,
    /// Of this process: on the wall, and of processor time.
    pub seconds: f64,
    pub cpu_seconds: f64,
    /// Of the first counter, a second of training in this process.
    pub per_second: f64,
    /// The newest.
    pub metrics: Option<Row>,
    /// At the end; none where it diverged.
    pub test: Option<Row>,
    /// Where it was first confirmed to reach the goal, and how many confirmations failed.
    pub solved: Option<Progress>,
    pub attempts: u32,
    /// Seconds of training in this process, by part.
    pub parts_s: Parts,
    pub machine: Ended,
}

/// What of a summary needs no names of a room's.
#[derive(Clone, Debug, PartialEq)]
pub struct Ended {
    /// Hash of the weights at the end.
    pub digest: String,
    pub arithmetic: String,
    /// The GPU that trained in the end, where it was one.
    pub device: Option<String>,
    pub isa: String,
    pub threads: u32,
    pub file: Option<String>,
    /// The command that continues the run.
    pub resume: Option<String>,
}

/// Seconds by part.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Parts(pub Vec<f64>);
