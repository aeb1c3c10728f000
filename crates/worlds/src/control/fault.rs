//! Errors that the rules of an environment raise.

/// Error that the rules of an environment raised in a step, such as an index beyond the length of a list.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("environment {env} failed in step {step} of episode {episode}{}: {message}", place(*line))]
pub struct WorldFault {
    /// Number of the environment among all environments of the seed.
    pub env: u32,
    /// Number of the environment's earlier episodes.
    pub episode: u32,
    /// Number of the step in the episode, counted from 1; 0 if the start of the episode failed.
    pub step: u32,
    /// Number of the line in the text of the rules, counted from 1; `None` if the rules have no text.
    pub line: Option<u32>,
    /// Description of the error and of the remedy.
    pub message: String,
}

/// State of an environment before a failed step, with all numbers on which the random draws of the step depend.
#[derive(Clone, Debug, PartialEq)]
pub struct FailedState {
    pub seed: u32,
    pub fault: WorldFault,
    /// State as [`Vector::environment`](super::Vector::environment) saves it.
    pub state: Vec<f32>,
}

impl FailedState {
    /// Returns the number of steps in the episode before the failed step.
    pub fn steps(&self) -> u32 {
        self.fault.step.saturating_sub(1)
    }
}

fn place(line: Option<u32>) -> String {
    line.map(|line| format!(", line {line}")).unwrap_or_default()
}
