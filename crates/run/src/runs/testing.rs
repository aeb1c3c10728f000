//! Tests and confirmations of a run.

use super::event_queue::EventQueue;
use crate::RunError;
use crate::protocol::{Confirmation, Event, Goal, Level, Progress, Row};
use crate::room::Room;
use crate::schema::{Schema, goal_of};
use crate::standing::Tested;
use math::Rng;

/// Maximum number of stored tests. If it is exceeded, every second test is dropped.
const MAX_TESTS: usize = 2048;
/// Random stream that only confirmations use.
const CONFIRMATIONS: u32 = 0x434F_4E46;

#[derive(Default)]
pub(super) struct Tests {
    pub rows: Vec<Row>,
    under_way: Option<Testing>,
    /// Progress of the run when a test began that a shell requested and interrupted; `None` if there is no such test.
    interrupted: Option<Progress>,
    pub solved: Option<Progress>,
    pub attempts: u32,
}

/// A test in progress. `progress` is the run's progress at the beginning of the test.
struct Testing {
    progress: Progress,
    /// True if the test is a confirmation.
    confirms: bool,
}

impl Tests {
    /// Restores the tests of a saved run. If `attempts` is `None`, the file is from a version without confirmations. In such a file, a
    /// single test decided `solved`, so `solved` is dropped.
    pub fn restored(rows: Vec<Row>, solved: Option<Progress>, attempts: Option<u32>) -> Tests {
        let (solved, attempts) = attempts.map_or((None, 0), |attempts| (solved, attempts));
        Tests { rows, solved, attempts, ..Tests::default() }
    }

    pub fn tested<'a>(&'a self, schema: &'a Schema, goal: Option<Goal>) -> Tested<'a> {
        Tested { schema, goal, tests: &self.rows, solved: self.solved.as_ref() }
    }

    /// Returns `Some(true)` while a confirmation is in progress, `Some(false)` while another test is in progress, and `None` otherwise.
    pub fn under_way(&self) -> Option<bool> {
        self.under_way.as_ref().map(|testing| testing.confirms)
    }

    /// Returns true if a test in progress delays the record of an ended iteration. A confirmation delays no record, because it is long.
    pub fn holds_back(&self) -> bool {
        self.under_way() == Some(false)
    }

    /// Begins a test or a confirmation. `seed` is the seed of the run. Returns false if a confirmation was requested but the room's tests
    /// need none.
    pub fn begin<R: Room>(&mut self, room: &mut R, progress: Progress, seed: u32, confirms: bool) -> bool {
        if confirms {
            let seed = Rng::new(seed, CONFIRMATIONS).block([progress.iteration, 0, 0, 0])[0];
            if !room.begin_confirmation(seed) {
                return false;
            }
        } else {
            room.begin_test();
        }
        self.under_way = Some(Testing { progress, confirms });
        self.forget();
        true
    }

    /// Forgets the interrupted test.
    pub fn forget(&mut self) {
        self.interrupted = None;
    }

    /// Begins a test that a shell requests, or continues an interrupted one of the same weights, until it ends or `should_continue`
    /// returns false. Returns the row of the test, or `None` if the test is interrupted.
    pub fn run<R: Room>(
        &mut self,
        room: &mut R,
        progress: Progress,
        should_continue: &mut dyn FnMut() -> bool,
    ) -> Result<Option<Row>, RunError> {
        if self.interrupted.take().is_none_or(|began| began != progress) {
            room.begin_test();
        }
        while should_continue() {
            if let Some(found) = room.advance_test()? {
                return Ok(Some(Row { progress, values: R::SCHEMA.test_row(&found) }));
            }
        }
        self.interrupted = Some(progress);
        Ok(None)
    }

    /// Runs one slice of the test in progress. At the end of the test, returns the row, and true if the test was a confirmation. If an
    /// environment's rules raised an error, returns the text of this error, which ends the run.
    pub fn advance<R: Room>(&mut self, room: &mut R, queue: &mut EventQueue) -> Result<Option<(Row, bool)>, String> {
        let Some(Testing { progress, confirms }) = self.under_way.take() else { return Ok(None) };
        match room.advance_test() {
            Ok(None) => self.under_way = Some(Testing { progress, confirms }),
            Ok(Some(found)) => return Ok(Some((Row { progress, values: R::SCHEMA.test_row(&found) }, confirms))),
            Err(RunError::WorldFailed { fault }) => return Err(fault),
            Err(error) => {
                let text = format!("A test failed: {}.", error.what());
                queue.notice(Level::Warning, &text, "Training continues. Please report this error.");
            }
        }
        Ok(None)
    }

    /// Records a test. Returns true if the test reaches the goal and the run is not solved yet.
    pub fn take(&mut self, row: &Row, schema: &Schema, goal: Option<Goal>, queue: &mut EventQueue) -> bool {
        self.rows.push(row.clone());
        queue.push(Event::Test(row.clone()));
        self.solved.is_none() && goal_of(schema, goal, &row.values).is_some_and(|(_, _, reached)| reached)
    }

    /// Records a confirmation. If the confirmation reaches the goal, the run is solved; otherwise the number of failed confirmations grows.
    pub fn take_confirmation(&mut self, row: &Row, schema: &Schema, goal: Option<Goal>, queue: &mut EventQueue) {
        let Some((value, goal, confirmed)) = goal_of(schema, goal, &row.values) else { return };
        let progress = row.progress.clone();
        queue.push(Event::Confirmation(Confirmation { progress: progress.clone(), value, goal, confirmed }));
        if confirmed {
            self.solved = Some(progress.clone());
            queue.push(Event::Solved { progress, goal });
        } else {
            self.attempts += 1;
        }
    }

    /// Drops every second test if there are more than [`MAX_TESTS`]. Keeps the tests that the run's standing depends on. Shells read the
    /// time of the solution from one of them.
    pub fn thin(&mut self, schema: &Schema, goal: Option<Goal>) {
        if self.rows.len() > MAX_TESTS {
            let kept = self.tested(schema, goal).kept();
            thin(&mut self.rows, &kept);
        }
    }
}

/// Drops every second test, but keeps the latest test and the tests of the iterations `kept`.
pub fn thin(tests: &mut Vec<Row>, kept: &[u32]) {
    let last = tests.len().saturating_sub(1);
    let mut place = 0..;
    tests.retain(|test| place.next().is_some_and(|i: usize| i % 2 == last % 2) || kept.contains(&test.progress.iteration));
}
