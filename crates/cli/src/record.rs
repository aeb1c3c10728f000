//! What a training process tells: the events of its experiment, and what only the shell knows, as
//! one JSON object a line. `--json`, `--events` and `watch` all speak it; nothing else is printed there.

use run::protocol::{Backend, Evaluation, Event, Progress};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Record {
    /// The first line.
    Opened(Opened),
    /// A checkpoint was written.
    FileSaved { file: String, bytes: u64 },
    /// The last line.
    Summary(Summary),
    #[serde(untagged)]
    Event(Event),
}

/// The machine a run is on.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Opened {
    pub isa: String,
    pub threads: u32,
    pub arithmetic: String,
    pub version: String,
}

impl From<Backend> for Opened {
    fn from(b: Backend) -> Opened {
        Opened { isa: b.isa, threads: b.threads, arithmetic: b.arithmetic, version: b.version }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EndedBy {
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
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    pub ended_by: EndedBy,
    pub room: String,
    pub env: String,
    pub seed: u32,
    /// Of the whole run, what was resumed included.
    pub steps: u64,
    pub iterations: u32,
    pub episodes: u64,
    /// Of this process: on the wall, and of processor time.
    pub seconds: f64,
    pub cpu_seconds: f64,
    pub steps_per_s: f64,
    /// Mean return of the last 100 training episodes.
    pub mean_return: Option<f64>,
    /// The policy at the end, on fresh episodes.
    pub evaluation: Evaluation,
    /// Where the run first reached the task's threshold.
    pub solved: Option<Progress>,
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

impl Record {
    pub fn line(&self) -> String {
        // Plain data with string keys: there is nothing in it that JSON cannot hold.
        serde_json::to_string(self).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use run::protocol::Metrics;

    #[test]
    fn records_and_events_survive_the_round_trip() {
        let metrics = Metrics {
            mean_return: Some(12.5),
            progress: Progress { env_steps: 1 << 40, ..Default::default() },
            ..Default::default()
        };
        let records = [
            Record::Opened(Opened { isa: "avx2".into(), threads: 2, ..Default::default() }),
            Record::FileSaved { file: "run.safetensors".into(), bytes: 7 },
            Record::Event(Event::Metrics(metrics)),
            Record::Event(Event::Running { running: true }),
        ];
        for record in records {
            assert_eq!(serde_json::from_str::<Record>(&record.line()).unwrap(), record);
        }
        assert!(Record::Event(Event::Running { running: true }).line().starts_with(r#"{"kind":"running""#));
    }
}
