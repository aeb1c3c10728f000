//! Events of a run that the shell has not received yet.

use crate::RunError;
use crate::protocol::{Device, Event, Level};
use learn::Fault;

#[derive(Default)]
pub(super) struct EventQueue(Vec<Event>);

impl EventQueue {
    pub fn push(&mut self, event: Event) {
        self.0.push(event);
    }

    pub fn take(&mut self) -> Vec<Event> {
        std::mem::take(&mut self.0)
    }

    /// Moves the events of `before` to the front of this queue.
    pub fn follow(&mut self, before: &mut EventQueue) {
        self.0.splice(0..0, before.take());
    }

    /// Emits a notice. Capitalizes both texts and ends them with a full stop.
    pub fn notice(&mut self, level: Level, text: &str, next_step: &str) {
        let (text, next_step) = (sentence(text), sentence(next_step));
        self.push(Event::Notice { level, text, next_step });
    }

    pub fn device(&mut self, device: Device, fault: Option<&Fault>) {
        self.push(Event::Device(device));
        if let Some(fault) = fault {
            self.notice(Level::Warning, &fault.what(), fault.next_step());
        }
    }

    pub fn saved(&mut self, saved: Result<Vec<u8>, RunError>) {
        self.push(match saved {
            Ok(bytes) => Event::Saved { bytes },
            Err(error) => Event::NotSaved { text: sentence(&error.what()), next_step: sentence(&error.next_step()) },
        });
    }
}

fn sentence(text: &str) -> String {
    let mut letters = text.trim_end_matches('.').chars();
    let Some(first) = letters.next() else { return String::new() };
    let mut sentence: String = first.to_uppercase().chain(letters).collect();
    sentence.push('.');
    sentence
}
