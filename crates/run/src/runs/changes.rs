//! Live changes of knobs: the changes in the config, the changes that the user requested, and the changes made so far.

use super::check::check_changes;
use super::event_queue::EventQueue;
use crate::Host;
use crate::checkpoint::Snapshot;
use crate::protocol::{Change, Config, Event, Level, Mark, Progress, Value};
use crate::room::Room;
use std::ops::Range;

/// Maximum number of snapshots that a run keeps.
const MOST_KEPT: usize = 12;
/// Maximum total size in bytes of the snapshots that a run keeps. A single snapshot may be larger.
const MOST_BYTES: usize = 100_000_000;

/// Index range of the marks of changes that were made together, and a snapshot of the run immediately before these changes.
type Kept = (Range<usize>, Snapshot);

#[derive(Default)]
pub(super) struct Changes {
    /// Changes that the user requested and that are not made yet. The run makes them before the next iteration.
    pub pending: Vec<(String, Value)>,
    /// Number of changes in the config that the run has made.
    replayed: usize,
    /// True if the user changed a knob during the run, beyond the changes in the config.
    pub user_changed: bool,
    pub marks: Vec<Mark>,
    /// Kept snapshots, oldest first. Each snapshot was taken immediately before changes that the user had requested.
    pub kept: Vec<Kept>,
}

impl Changes {
    /// Restores the changes of a saved run that has completed `iteration` iterations. The run made the changes that were due
    /// before it was saved, so these changes are not repeated.
    pub fn restored(config: &Config, iteration: u32, marks: Vec<Mark>) -> Changes {
        let replayed = config.changes.partition_point(|change| change.iteration <= iteration);
        Changes { replayed, marks, ..Changes::default() }
    }

    /// Returns true if any change of the config or any requested change is due after `iteration` iterations.
    pub fn are_due(&self, config: &Config, iteration: u32) -> bool {
        let next = config.changes.get(self.replayed);
        !self.pending.is_empty() || next.is_some_and(|change| change.iteration <= iteration)
    }

    /// Makes the config's changes that are due. Returns true if a knob's value changed.
    pub fn replay<R: Room>(&mut self, room: &mut R, config: &Config, progress: &Progress, queue: &mut EventQueue) -> bool {
        let marks = self.marks.len();
        while let Some(Change { knob, value, .. }) =
            config.changes.get(self.replayed).filter(|change| change.iteration <= progress.iteration)
        {
            self.replayed += 1;
            self.apply_one(room, knob.clone(), value, progress, queue);
        }
        self.marks.len() > marks
    }

    /// Makes the changes `requested`. Returns the index range of their marks.
    pub fn make<R: Room>(
        &mut self,
        requested: Vec<(String, Value)>,
        room: &mut R,
        progress: &Progress,
        queue: &mut EventQueue,
    ) -> Range<usize> {
        let first = self.marks.len();
        for (knob, value) in requested {
            self.user_changed |= self.apply_one(room, knob, &value, progress, queue);
        }
        first..self.marks.len()
    }

    /// Keeps the snapshot `before`, which was taken immediately before the changes with the marks `made`. Drops the oldest snapshots if the
    /// limits are exceeded. A snapshot larger than [`MOST_BYTES`] is kept only if it is the single snapshot and fits into a quarter of the
    /// free memory.
    pub fn keep(&mut self, made: Range<usize>, before: Snapshot, free_bytes: u64) {
        self.kept.push((made, before));
        let bytes = |kept: &[Kept]| kept.iter().flat_map(|(_, (_, tensors))| tensors).map(|(_, _, data)| data.bytes()).sum::<usize>();
        let most = |count: usize| if count == 1 { MOST_BYTES.max((free_bytes / 4) as usize) } else { MOST_BYTES };
        while self.kept.len() > MOST_KEPT || bytes(&self.kept) > most(self.kept.len()) {
            self.kept.remove(0);
        }
    }

    /// Takes over the snapshots that `other` kept. Drops a snapshot if the marks of its changes differ between this run and `other`.
    pub fn take_kept(&mut self, other: &mut Changes) {
        self.kept = std::mem::take(&mut other.kept);
        self.kept.retain(|(made, _)| self.marks.get(made.clone()) == other.marks.get(made.clone()));
    }

    fn apply_one<R: Room>(&mut self, room: &mut R, knob: String, value: &Value, progress: &Progress, queue: &mut EventQueue) -> bool {
        let before = room.values().remove(&knob);
        let changed = room.change(&knob, value).map(|()| before.zip(room.values().remove(&knob)));
        match changed {
            Ok(Some((from, to))) if from != to => {
                let mark = Mark { progress: progress.clone(), knob, from, to };
                self.marks.push(mark.clone());
                queue.push(Event::Mark(mark));
                return true;
            }
            Ok(_) => {}
            // Each request was valid when it was made, but two changes together may be invalid.
            Err(error) => queue.notice(Level::Warning, &error.what(), &error.next_step()),
        }
        false
    }

    /// Returns the config with the live changes made so far and the config's changes that are not made yet.
    pub fn config_now(&self, config: &Config) -> Config {
        let change = |mark: &Mark| Change { iteration: mark.progress.iteration, knob: mark.knob.clone(), value: mark.to.clone() };
        let ahead = config.changes[self.replayed..].iter().cloned();
        Config { changes: self.marks.iter().map(change).chain(ahead).collect(), ..config.clone() }
    }

    /// Returns the config with the changes that the user requested during the current iteration. These changes take effect at the end of
    /// this iteration.
    pub fn config_with_pending<R: Room>(&self, config: &Config, iteration: u32, host: Host) -> Config {
        let mut with = config.clone();
        let pending = self.pending.iter();
        with.changes.extend(pending.map(|(knob, value)| Change { iteration: iteration + 1, knob: knob.clone(), value: value.clone() }));
        with.changes.sort_by_key(|change| change.iteration);
        // If the requested changes are invalid together, the config omits all of them, so that the saved file can be read. The run refuses
        // invalid changes at the end of the iteration.
        if !self.pending.is_empty() && check_changes::<R>(&with, host).is_ok() { with } else { config.clone() }
    }
}
