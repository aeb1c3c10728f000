//! Events of the room: progress of the preparation, and samples.

use super::protocol::{PreparingPart, RoomEvent, Sample};
use crate::plain_data::json;

/// Maximum number of stored samples. If a further sample is added, every second sample is dropped first.
const MOST_SAMPLES: usize = 64;

/// Samples so far, and events that [`EventLog::take`] has not returned yet.
#[derive(Default)]
pub struct EventLog {
    pub samples: Vec<Sample>,
    events: Vec<RoomEvent>,
}

impl EventLog {
    pub fn add(&mut self, event: RoomEvent) {
        self.events.push(event);
    }

    pub fn keep(&mut self, sample: Sample) {
        // A repeated test of an iteration writes the same sample again, which is already stored.
        if self.samples.last().is_some_and(|last| last.iteration == sample.iteration) {
            return;
        }
        if self.samples.len() == MOST_SAMPLES {
            let mut place = 0..;
            self.samples.retain(|_| place.next().is_some_and(|i: usize| i % 2 == 1));
        }
        self.samples.push(sample.clone());
        self.events.push(RoomEvent::Sample(sample));
    }

    /// Returns the events since the previous call, as plain data and as sentences.
    pub fn take(&mut self) -> Vec<(serde_json::Value, String)> {
        let described = |event: RoomEvent| {
            let text = event.text();
            (json(&event), text)
        };
        self.events.drain(..).map(described).collect()
    }
}

impl RoomEvent {
    /// Returns the event as a sentence.
    fn text(&self) -> String {
        match self {
            RoomEvent::Preparing(preparing) => {
                let part = match preparing.part {
                    PreparingPart::Text => "reading the text",
                    PreparingPart::Merges => "learning byte pairs",
                    PreparingPart::Tokens => "converting the text to tokens",
                };
                let left = preparing.left_s.filter(|&left_s| left_s >= 1.0);
                let left = left.map_or(String::new(), |left_s| format!(", about {left_s:.0} s left"));
                format!("{part}: {:.0}%{left}", 100.0 * preparing.done)
            }
            RoomEvent::Ready(about) => {
                let model = about
                    .model
                    .as_ref()
                    .map_or(String::new(), |model| format!("{} parameters, {} different tokens", model.parameters, model.vocabulary));
                let corpus = about.corpus.as_ref().map_or(String::new(), |corpus| {
                    format!("{}: {} characters in {} tokens", corpus.name, corpus.characters, corpus.tokens)
                });
                format!("{corpus}; {model}")
            }
            RoomEvent::Sample(sample) => {
                format!("after {} tokens: {}{}", sample.tokens, sample.prompt, sample.text.replace('\n', " "))
            }
        }
    }
}
