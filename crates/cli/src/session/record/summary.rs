//! The summary, which is the last record of a training process.

use run::protocol::{Progress, Row, Standing};
use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EndedBy {
    /// The room's first counter reached its limit (`--steps`).
    Steps,
    Seconds,
    CpuSeconds,
    Solved,
    /// The user pressed Ctrl-C or `q`, or the process received a termination signal.
    Interrupt,
    /// The program that reads the output closed it.
    ClosedOutput,
    /// The weights contain NaN or infinity.
    Diverged,
    /// The rules of an environment raised an error.
    WorldFailed,
}

/// Results of a training process.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    pub ended_by: EndedBy,
    pub room: String,
    pub variant: String,
    pub seed: u32,
    /// Progress of the whole run, including earlier processes.
    pub progress: Progress,
    /// Wall-clock time of this process in seconds.
    pub seconds: f64,
    /// CPU time of this process in seconds.
    pub cpu_seconds: f64,
    /// Increase of the first counter in this process, per second of training.
    pub per_second: f64,
    /// Latest row of metrics; `None` if this process has no metrics.
    pub metrics: Option<Row>,
    /// Test at the end of the run; `None` if the run failed, was still preparing its data, or if a stop or a time limit cut the test off.
    pub test: Option<Row>,
    /// Standing of the run after `test`; `None` in records of other versions.
    pub standing: Option<Standing>,
    /// Progress when the goal was confirmed; `None` if the run is not solved. A second test confirms the goal, or the first test if this
    /// test covers all cases.
    pub solved: Option<Progress>,
    /// Number of tests that reached the goal, but whose confirmation by a second test failed.
    pub attempts: u32,
    /// Seconds that training in this process spent on each part of the iteration.
    pub parts_s: Parts,
    pub machine: Ended,
}

/// State of the run at its end, and the machine and files of the process.
#[derive(Clone, Debug, PartialEq)]
pub struct Ended {
    /// Link to the run, without a digest.
    pub link: String,
    /// Hash of the weights at the end of the run.
    pub digest: String,
    pub arithmetic: String,
    /// GPU that the run used at its end; `None` if the run used the CPU.
    pub device: Option<String>,
    pub isa: String,
    pub threads: u32,
    pub file: Option<String>,
    /// Command that resumes the run; `None` if the run was not saved.
    pub resume: Option<String>,
}

/// Seconds spent on each part of the iteration, in the order of the schema.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Parts(pub Vec<f64>);
