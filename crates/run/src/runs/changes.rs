//! Live changes of knobs: those of the config, those that somebody asks for, and those that were made.

use super::check::check_changes;
use super::told::Told;
use crate::Host;
use crate::checkpoint::Snapshot;
use crate::protocol::{Change, Config, Event, Level, Mark, Progress, Value};
use crate::room::Room;
use std::ops::Range;

/// Snapshots that a run keeps to go back to, and their bytes together, at most.
const MOST_KEPT: usize = 12;
const MOST_BYTES: usize = 100_000_000;

/// The places of the marks of what somebody asked for, and the run as it was just before that.
type Kept = (Range<usize>, Snapshot);

#[derive(Default)]
pub(super) struct Changes {
    /// To be made where the iteration ends.
    pub pending: Vec<(String, Value)>,
    /// How many of the config's changes are behind it.
    replayed: usize,
    /// Whether a knob was changed that is not among the config's changes.
    pub turned: bool,
    pub marks: Vec<Mark>,
    /// Oldest first.
    pub kept: Vec<Kept>,
}

impl Changes {
    /// A file is written behind the changes of its boundary.
    pub fn restored(config: &Config, iteration: u32, marks: Vec<Mark>) -> Changes {
        let replayed = config.changes.partition_point(|change| change.iteration <= iteration);
        Changes { replayed, marks, ..Changes::default() }
    }

    /// At a boundary: the config's own that are due, and then what somebody asked for.
    pub fn are_due(&self, config: &Config, iteration: u32) -> bool {
        let next = config.changes.get(self.replayed);
        !self.pending.is_empty() || next.is_some_and(|change| change.iteration <= iteration)
    }

    /// Makes the config's own that are due. Whether they changed anything.
    pub fn replay<R: Room>(&mut self, room: &mut R, config: &Config, progress: &Progress, told: &mut Told) -> bool {
        let marks = self.marks.len();
        while let Some(Change { knob, value, .. }) =
            config.changes.get(self.replayed).filter(|change| change.iteration <= progress.iteration)
        {
            self.replayed += 1;
            self.apply_one(room, knob.clone(), value, progress, told);
        }
        self.marks.len() > marks
    }

    /// Makes what somebody asked for. Gives the places of the marks that this left.
    pub fn make<R: Room>(&mut self, asked: Vec<(String, Value)>, room: &mut R, progress: &Progress, told: &mut Told) -> Range<usize> {
        let first = self.marks.len();
        for (knob, value) in asked {
            self.turned |= self.apply_one(room, knob, &value, progress, told);
        }
        first..self.marks.len()
    }

    /// Keeps the run as it was before what left these marks. A snapshot of more than [`MOST_BYTES`] is kept alone, where it takes at
    /// most a quarter of the free memory.
    pub fn keep(&mut self, made: Range<usize>, before: Snapshot, free_bytes: u64) {
        self.kept.push((made, before));
        let bytes = |kept: &[Kept]| kept.iter().flat_map(|(_, (_, tensors))| tensors).map(|(_, _, data)| data.bytes()).sum::<usize>();
        let most = |count: usize| if count == 1 { MOST_BYTES.max((free_bytes / 4) as usize) } else { MOST_BYTES };
        while self.kept.len() > MOST_KEPT || bytes(&self.kept) > most(self.kept.len()) {
            self.kept.remove(0);
        }
    }

    /// Takes over what another run kept, as far as it lies in this one's past too.
    pub fn take_kept(&mut self, other: &mut Changes) {
        self.kept = std::mem::take(&mut other.kept);
        self.kept.retain(|(made, _)| self.marks.get(made.clone()) == other.marks.get(made.clone()));
    }

    fn apply_one<R: Room>(&mut self, room: &mut R, knob: String, value: &Value, progress: &Progress, told: &mut Told) -> bool {
        let before = room.values().remove(&knob);
        let changed = room.change(&knob, value).map(|()| before.zip(room.values().remove(&knob)));
        match changed {
            Ok(Some((from, to))) if from != to => {
                let mark = Mark { progress: progress.clone(), knob, from, to };
                self.marks.push(mark.clone());
                told.push(Event::Mark(mark));
                return true;
            }
            Ok(_) => {}
            // Checked when it was asked for, but beside another change it may not be possible.
            Err(error) => told.notice(Level::Warning, &error.what(), &error.next_step()),
        }
        false
    }

    /// The config with all of them, those that were made and those that are ahead.
    pub fn config_now(&self, config: &Config) -> Config {
        let change = |mark: &Mark| Change { iteration: mark.progress.iteration, knob: mark.knob.clone(), value: mark.to.clone() };
        let ahead = config.changes[self.replayed..].iter().cloned();
        Config { changes: self.marks.iter().map(change).chain(ahead).collect(), ..config.clone() }
    }

    /// The config with what somebody asked for within this iteration, which comes into force where it ends.
    pub fn config_with_pending<R: Room>(&self, config: &Config, iteration: u32, host: Host) -> Config {
        let mut with = config.clone();
        let pending = self.pending.iter();
        with.changes.extend(pending.map(|(knob, value)| Change { iteration: iteration + 1, knob: knob.clone(), value: value.clone() }));
        with.changes.sort_by_key(|change| change.iteration);
        // What cannot be beside the others is refused when its time comes, and the file can be read all the same.
        if !self.pending.is_empty() && check_changes::<R>(&with, host).is_ok() { with } else { config.clone() }
    }
}
