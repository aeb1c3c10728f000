//! The tests of a run, and what their confirmations came to.

use super::told::Told;
use crate::protocol::{Confirmation, Event, Goal, Level, Progress, Row};
use crate::room::Room;
use crate::schema::{Schema, goal_of};
use math::Rng;

/// Past this many tests every second one is dropped.
const MAX_TESTS: usize = 2048;
/// The stream of random numbers that confirmations alone draw from.
const CONFIRMATIONS: u32 = 0x434F_4E46;

#[derive(Default)]
pub(super) struct Tests {
    pub rows: Vec<Row>,
    under_way: Option<Testing>,
    pub solved: Option<Progress>,
    pub attempts: u32,
}

/// A test under way, of what was learned by then.
struct Testing {
    progress: Progress,
    /// It confirms another.
    confirms: bool,
}

impl Tests {
    /// A file from before there were confirmations calls solved what a single test did.
    pub fn restored(rows: Vec<Row>, solved: Option<Progress>, attempts: Option<u32>) -> Tests {
        let (solved, attempts) = attempts.map_or((None, 0), |attempts| (solved, attempts));
        Tests { rows, under_way: None, solved, attempts }
    }

    /// Whether the test under way confirms another.
    pub fn under_way(&self) -> Option<bool> {
        self.under_way.as_ref().map(|testing| testing.confirms)
    }

    /// A test that the end of an iteration waits for. A confirmation is long, and goes on beside the next iteration.
    pub fn holds_back(&self) -> bool {
        self.under_way() == Some(false)
    }

    /// Of a run of this seed. False where it is to confirm a test that needs none.
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
        true
    }

    /// A slice of the test under way: what it found once it is done, and whether it confirms another.
    pub fn advance<R: Room>(&mut self, room: &mut R, told: &mut Told) -> Option<(Row, bool)> {
        let Testing { progress, confirms } = self.under_way.take()?;
        match room.advance_test() {
            Ok(None) => self.under_way = Some(Testing { progress, confirms }),
            Ok(Some(found)) => return Some((Row { progress, values: R::SCHEMA.test_row(&found) }, confirms)),
            Err(error) => {
                let text = format!("A test broke off: {}.", error.what());
                told.notice(Level::Warning, &text, "Training goes on; please report it.");
            }
        }
        None
    }

    /// Whether the test reaches the goal, and is to be confirmed.
    pub fn take(&mut self, row: &Row, schema: &Schema, goal: Option<Goal>, told: &mut Told) -> bool {
        self.rows.push(row.clone());
        told.push(Event::Test(row.clone()));
        self.solved.is_none() && goal_of(schema, goal, &row.values).is_some_and(|(_, _, reached)| reached)
    }

    /// The run is solved, or has tried once more.
    pub fn take_confirmation(&mut self, row: &Row, schema: &Schema, goal: Option<Goal>, told: &mut Told) {
        let Some((value, goal, confirmed)) = goal_of(schema, goal, &row.values) else { return };
        let progress = row.progress.clone();
        told.push(Event::Confirmation(Confirmation { progress: progress.clone(), value, goal, confirmed }));
        if confirmed {
            self.solved = Some(progress.clone());
            told.push(Event::Solved { progress, goal });
        } else {
            self.attempts += 1;
        }
    }

    /// Keeps no more than there is room for.
    pub fn thin(&mut self) {
        if self.rows.len() > MAX_TESTS {
            thin(&mut self.rows, self.solved.as_ref());
        }
    }
}

/// Drops every second test but the newest and the one that solved the task: shells tell from it when that was.
fn thin(tests: &mut Vec<Row>, solved: Option<&Progress>) {
    let solved = solved.and_then(|solved| tests.iter().position(|t| t.progress.iteration == solved.iteration));
    let last = tests.len().saturating_sub(1);
    let mut place = 0..;
    tests.retain(|_| place.next().is_some_and(|i: usize| i % 2 == last % 2 || Some(i) == solved));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thinned_tests_keep_the_newest_and_the_one_that_solved() {
        let test = |iteration| Row { progress: Progress { iteration, ..Progress::default() }, values: vec![] };
        let mut tests: Vec<_> = (1..=9).map(test).collect();
        thin(&mut tests, Some(&test(6).progress));
        let kept: Vec<_> = tests.iter().map(|test| test.progress.iteration).collect();
        assert_eq!(kept, [1, 3, 5, 6, 7, 9]);
    }
}
