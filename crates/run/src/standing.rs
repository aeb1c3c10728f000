//! Standing of a run: the number that leads a headline, and the state that the run's tests show. All shells show these texts.
//!
//! The leading number is the latest test's value in the goal's column. Without a goal, or if the test has no value in this column, it is
//! the first test column with a value.
//!
//! The state depends only on the run's tests, its solution and its failure:
//! - A run is learning until a confirmation succeeds. A run without a goal always learns.
//! - After the solution, each test with a value in the goal's column either reaches the goal or misses it. The latest such test decides
//!   whether the run is still solved or lost again. Such a test is not confirmed.
//! - The state begins with the first of the latest consecutive tests that have the same result.
//! - A test without a value in the goal's column does not change the state, nor does a test that was cut off.
//! - A permanent failure, such as divergence, ends every other state.

use crate::format::{self, grouped};
use crate::protocol::{Column, Goal, Progress, Row, RunState, Standing};
use crate::schema::{Schema, goal_of};
use learn::Failure;

/// The tests of a run, oldest first, with the goal and the solution.
#[derive(Clone, Copy)]
pub struct Tested<'a> {
    pub schema: &'a Schema,
    pub goal: Option<Goal>,
    pub tests: &'a [Row],
    pub solved: Option<&'a Progress>,
}

/// The latest consecutive tests with the same result. The solution counts as the first test that reached the goal.
struct Streak<'a> {
    reached: bool,
    /// Progress at the first of these tests.
    since: &'a Progress,
    tests: usize,
    /// True if an earlier test after the solution had the other result.
    again: bool,
}

impl Tested<'_> {
    /// Returns the standing of a run with this number of failed confirmations, this failure and this progress.
    pub fn standing(&self, attempts: u32, failure: Option<&Failure>, now: &Progress) -> Standing {
        let latest = self.tests.last();
        let (column, value) = self.leading(latest);
        let (state, since, words) = self.state(attempts, failure, now);
        Standing {
            progress: latest.map_or(now, |row| &row.progress).clone(),
            state,
            since,
            name: name(self.schema, column, latest),
            value,
            number: match (latest, value) {
                (None, _) => "no test yet".into(),
                (_, None) => "no value".into(),
                (_, Some(value)) => format::leading(column, value),
            },
            words,
        }
    }

    /// Returns the column of the leading number, and its value in the test `latest`.
    fn leading(&self, latest: Option<&Row>) -> (&Column, Option<f64>) {
        let value = |at: usize| latest.and_then(|row| row.values.get(at).copied().flatten());
        let goal = self.goal.and_then(|goal| self.schema.test(goal.column)).unwrap_or(0);
        let at = [goal].into_iter().chain(0..self.schema.tests.len()).find(|&at| value(at).is_some()).unwrap_or(goal);
        (&self.schema.tests[at], value(at))
    }

    /// Returns the state, the progress at its beginning, and the state in words.
    fn state(&self, attempts: u32, failure: Option<&Failure>, now: &Progress) -> (RunState, Option<Progress>, String) {
        let at = |progress: &Progress| format!("at {}", format::amount(&self.schema.counters[0], progress.counts[0]));
        let solved = self.solved.map(|solved| format!("solved {}", at(solved)));
        if let Some(failure) = failure {
            let what = match failure {
                Failure::Diverged => "diverged",
                Failure::World(_) => "stopped by an error of the environment",
            };
            let words = solved.map_or(String::new(), |solved| solved + ", ");
            return (RunState::Failed, Some(now.clone()), format!("{words}{what} {}", at(now)));
        }
        let Some((streak, solved)) = self.streak().zip(solved) else {
            return (RunState::Learning, None, learning(attempts));
        };
        let (state, words) = match streak {
            Streak { reached: false, since, .. } => (RunState::LostAgain, format!("{solved}, lost again {}", at(since))),
            Streak { tests, since, again, .. } => {
                let first = if again { format!("solved again {}", at(since)) } else { solved };
                let still = tests > 1;
                let state = if still { RunState::StillSolved } else { RunState::Solved };
                (state, first + if still { " and still so" } else { "" })
            }
        };
        (state, Some(streak.since.clone()), words)
    }

    /// Returns the latest consecutive tests with the same result; `None` if the run is not solved.
    fn streak(&self) -> Option<Streak<'_>> {
        let solved = self.solved?;
        let mut streak = Streak { reached: true, since: solved, tests: 1, again: false };
        for row in self.tests.iter().filter(|row| row.progress.iteration > solved.iteration) {
            match goal_of(self.schema, self.goal, &row.values) {
                Some((Some(_), _, reached)) if reached == streak.reached => streak.tests += 1,
                Some((Some(_), _, reached)) => streak = Streak { reached, since: &row.progress, tests: 1, again: true },
                _ => {}
            }
        }
        Some(streak)
    }

    /// Returns the tests, as iterations, that a thinned list of tests must keep so that the standing does not change: the solution, the
    /// beginning of the state, and the test before this beginning.
    pub fn kept(&self) -> Vec<u32> {
        let Some((solved, streak)) = self.solved.zip(self.streak()) else { return Vec::new() };
        let since = streak.since.iteration;
        let before = self.tests.iter().map(|row| row.progress.iteration).take_while(|&iteration| iteration < since).last();
        [solved.iteration, since].into_iter().chain(before).collect()
    }
}

fn learning(attempts: u32) -> String {
    match attempts {
        0 => "learning".into(),
        1 => "learning: one test reached the goal and was not confirmed".into(),
        n => format!("learning: {} tests reached the goal and were not confirmed", grouped(n.into())),
    }
}

/// Returns the name of the leading number: the column's [`Column::lead`], in which numbers of the test replace the names in braces. If the
/// column has no such name or a number is unknown, returns the label.
fn name(schema: &Schema, column: &Column, latest: Option<&Row>) -> String {
    let number = |name: &str| latest?.values.get(schema.test(name)?).copied()?.map(|value| grouped(value as u64));
    let filled = match column.lead.split_once('{') {
        None => Some(column.lead.to_string()),
        Some((before, rest)) => rest.split_once('}').and_then(|(name, after)| Some(format!("{before}{}{after}", number(name)?))),
    };
    filled.filter(|name| !name.is_empty()).unwrap_or_else(|| format::uncapitalized(column.label))
}
