//! Copies of the agent that are kept as opponents. The room makes one copy at each training time in `FREEZE_MINUTES`.

use super::players::FrozenAgent;
use super::protocol::{FREEZE_MINUTES, Frozen, RoomEvent};
use super::schema::SCHEMA;
use crate::RunError;
use crate::plain_data::json;
use crate::protocol::Progress;
use crate::room::{Saved, Tensors};
use learn::Data;
use learn::backgammon::SelfTaught;

#[derive(Default)]
pub(super) struct Kept(pub Vec<FrozenAgent>);

/// Returns the name of a copy's weights in a checkpoint. The copy was made after `minutes` minutes of training.
fn name(minutes: u32) -> String {
    format!("frozen.{minutes}")
}

impl Kept {
    /// Restores the copies from a checkpoint. A copy that does not have exactly `len` finite weights is an error.
    pub fn restore(frozen: Vec<Frozen>, saved: Saved, len: usize) -> Result<Kept, RunError> {
        let restored = frozen.into_iter().map(|frozen| {
            let name = name(frozen.minutes);
            match saved.find(&name) {
                Some((_, Data::F32(weights))) if weights.len() == len && weights.iter().all(|w| w.is_finite()) => {
                    Ok(FrozenAgent { frozen, weights: weights.clone() })
                }
                _ => Err(RunError::damaged(format!("{name} is missing or invalid"))),
            }
        });
        Ok(Kept(restored.collect::<Result<_, _>>()?))
    }

    pub fn parts(&self) -> Tensors {
        let part = |agent: &FrozenAgent| (name(agent.frozen.minutes), vec![agent.weights.len()], Data::F32(agent.weights.clone()));
        self.0.iter().map(part).collect()
    }

    pub fn frozen(&self) -> Vec<Frozen> {
        self.0.iter().map(|agent| agent.frozen.clone()).collect()
    }

    /// Keeps a copy of the agent for each time in [`FREEZE_MINUTES`] that has passed and has no copy yet. `train_s` is the training time in
    /// seconds. Makes no copies within an iteration. Returns an event and the event's text for each new copy.
    pub fn keep(&mut self, learner: &dyn SelfTaught, train_s: f64) -> Vec<(serde_json::Value, String)> {
        let mut events = Vec::new();
        if !learner.at_boundary() {
            return events;
        }
        for minutes in FREEZE_MINUTES {
            let here = self.0.iter().any(|agent| agent.frozen.minutes == minutes);
            if !here && train_s >= 60.0 * f64::from(minutes) {
                let (iteration, counts) = (learner.progress().iterations as u32, SCHEMA.counts(&learner.counts()));
                let frozen = Frozen { minutes, progress: Progress { iteration, counts, train_s } };
                let event = RoomEvent::Frozen(frozen.clone());
                self.0.push(FrozenAgent { frozen, weights: learner.weights().to_vec() });
                let text = format!("A copy of the agent after {minutes} min was kept as an opponent.");
                events.push((json(&event), text));
            }
        }
        events
    }
}
