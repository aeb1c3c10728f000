//! Entries of the gallery. An entry contains the link of a run and the run's results. Any machine with the same arithmetic can verify an
//! entry: it trains the run again and compares the digests of the weights, the time of the solution and the test.

use crate::dataset::is_hash;
use crate::digest::{AMX, BF16, arithmetic};
use crate::json;
use crate::permalink::{Link, decode, encode};
use crate::protocol::{Column, Command, DeviceWish, Digest, Event, Progress, Row};
use crate::schema::Schema;
use crate::{AnyRun, Host, RunError};
use math::Isa;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Values by the names of their columns. An unknown value is `None`.
pub type Named = BTreeMap<String, Option<f64>>;

/// Maximum length in characters of an entry's title, author and chip.
const MOST_LINE: usize = 100;
/// Maximum length in characters of an entry's text.
const MOST_TEXT: usize = 2000;
/// Maximum number of digests in a new entry, and of points in its curve. If there are more, every second digest or point is dropped, but
/// never the latest one.
const MOST_KEPT: usize = 32;
/// Number of points that a column needs to become the curve if a less preferred column has more points.
const ENOUGH_POINTS: usize = 4;
/// Maximum number of iterations between the end of a run and the end of the last test of its curve.
const LATEST_TEST: u32 = 64;
/// Maximum number of threads of a run.
const MOST_THREADS: u32 = 1024;
/// Groups of numbers that a verification recomputes. Only these numbers can rank an entry.
const GROUPS: [&str; 3] = ["end", "solved", "test"];

/// A run and its results: the content of a gallery file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// Id of the entry's track; empty if the entry has no track.
    pub track: String,
    pub title: String,
    pub author: String,
    pub text: String,
    /// Link that begins the run.
    pub link: String,
    /// Arithmetic of all digests; see [`Digest`].
    pub arithmetic: String,
    /// Digests of the weights by iteration. The last iteration is the end of the run.
    pub digests: BTreeMap<u32, String>,
    pub curve: Curve,
    /// Iteration and counters at the end of the run.
    pub end: Named,
    /// Iteration and counters at the confirmed solution; `None` if the run is not solved. A file must have this key.
    #[serde(deserialize_with = "Option::deserialize")]
    pub solved: Option<Named>,
    /// Test of the weights at the end of the run.
    pub test: Named,
    /// CPU time of the run, in seconds.
    pub cpu_seconds: f64,
    /// Name of the processor.
    pub chip: String,
    pub threads: u32,
}

/// A list of entries that are ranked by one number.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Track {
    pub title: String,
    pub rule: String,
    /// Beginning of the links of this track, such as `#/ROOM?variant=NAME&`.
    pub link: String,
    /// Number that ranks the entries: `end.NAME`, `solved.NAME` or `test.NAME`.
    pub score: String,
    /// Unit of the score, for readers.
    pub unit: String,
    /// True if the entry with the largest score leads.
    #[serde(default)]
    pub largest: bool,
    /// True if the track accepts only solved runs.
    #[serde(default)]
    pub solved: bool,
    /// Minimum values of an entry, by name. The names have the form of `score`.
    #[serde(default)]
    pub at_least: BTreeMap<String, f64>,
    /// Maximum values of an entry, by name. The names have the form of `score`.
    #[serde(default)]
    pub at_most: BTreeMap<String, f64>,
}

impl Entry {
    /// Parses the text of an entry, and checks everything that can be checked without the run.
    pub fn read(text: &str) -> Result<Entry, RunError> {
        let entry: Entry = json::read(text).map_err(bad)?;
        entry.check().map_err(bad)?;
        Ok(entry)
    }

    fn check(&self) -> Result<(), String> {
        for (name, value, most) in [
            ("title", &self.title, MOST_LINE),
            ("author", &self.author, MOST_LINE),
            ("text", &self.text, MOST_TEXT),
            ("chip", &self.chip, MOST_LINE),
        ] {
            check_text(name, value, most)?;
        }
        if self.cpu_seconds <= 0.0 {
            return Err(format!("its cpu_seconds are {}; write a number above 0", self.cpu_seconds));
        }
        if !(1..=MOST_THREADS).contains(&self.threads) {
            return Err(format!("its threads are {}; write 1 to {MOST_THREADS}", self.threads));
        }
        let last = self.digests.last_key_value().map(|(&last, _)| last).ok_or("it has no digest")?;
        if let Some(digest) = self.digests.values().find(|digest| !is_hash(digest)) {
            return Err(format!("its digest '{digest}' is not 16 hexadecimal digits"));
        }
        if self.digests.len().max(self.curve.points.len()) > MOST_KEPT + 1 {
            return Err(format!("it has more than {} digests or points of the curve", MOST_KEPT + 1));
        }
        self.curve.check(last)
    }

    /// Formats the entry as the text of a file.
    pub fn text(&self) -> String {
        // Serialization cannot fail: the entry is plain data with string keys.
        serde_json::to_string_pretty(self).unwrap_or_default() + "\n"
    }

    /// Adds a digest. If the entry has more than 32 digests, drops every second digest, but never the new one.
    pub fn add_digest(&mut self, iteration: u32, weights: String) {
        add(&mut self.digests, iteration, weights);
    }

    /// Returns the score of the entry in `track`, or an error if the entry violates a rule of the track.
    pub fn score(&self, track: &Track) -> Result<f64, RunError> {
        if !self.link.starts_with(&track.link) {
            return Err(bad(format!("the links of its track begin with {}", track.link)));
        }
        if track.solved && self.solved.is_none() {
            return Err(bad("its track needs a solved run"));
        }
        let least = track.at_least.iter().map(|(name, &limit)| (name, limit, f64::INFINITY));
        let most = track.at_most.iter().map(|(name, &limit)| (name, f64::NEG_INFINITY, limit));
        for (name, least, most) in least.chain(most) {
            let value = self.value(name)?;
            if value < least {
                return Err(bad(format!("its track needs {name} of at least {least}, and it has {value}")));
            }
            if value > most {
                return Err(bad(format!("its track needs {name} of at most {most}, and it has {value}")));
            }
        }
        self.value(&track.score)
    }

    /// Returns the entry's number with the given name; see [`Track::score`].
    fn value(&self, name: &str) -> Result<f64, RunError> {
        let found = match name.split_once('.') {
            Some(("end", name)) => self.end.get(name).copied().flatten(),
            Some(("test", name)) => self.test.get(name).copied().flatten(),
            Some(("solved", name)) => self.solved.as_ref().and_then(|solved| solved.get(name).copied().flatten()),
            _ => None,
        };
        found.ok_or_else(|| bad(format!("its track needs {name}, which it does not have")))
    }
}

/// Adds the value of an iteration. If there are more than [`MOST_KEPT`] values, drops every second value, but never the new value.
fn add<T>(values: &mut BTreeMap<u32, T>, iteration: u32, value: T) {
    values.insert(iteration, value);
    if values.len() > MOST_KEPT {
        let mut place = 0..;
        values.retain(|&at, _| place.next().is_some_and(|i: usize| i % 2 == 1) || at == iteration);
    }
}

/// Values of one column at iterations of a run, from which the picture of an entry is drawn.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Curve {
    /// Name of the column, such as `metrics.mean_return` or `test.points`; empty without points.
    pub column: String,
    /// Value of the column by iteration.
    pub points: BTreeMap<u32, f64>,
}

impl Curve {
    /// Returns an error if the column is malformed, or if a point is after `last`, the last iteration of the run.
    fn check(&self, last: u32) -> Result<(), String> {
        if self.points.is_empty() && self.column.is_empty() {
            return Ok(());
        }
        if !self.column.starts_with(METRICS) && !self.column.starts_with(TEST) {
            return Err(format!("its curve shows '{}'; write {METRICS}NAME or {TEST}NAME", self.column));
        }
        match self.points.last_key_value() {
            Some((point, _)) if *point > last => {
                Err(format!("its curve has a point after {point} iterations, and the run ends after {last}"))
            }
            _ => Ok(()),
        }
    }

    /// Returns the iteration and the value of this column in an event; `None` for an event without such a value.
    fn value(&self, schema: &Schema, event: &Event) -> Option<(u32, f64)> {
        let (row, columns, name) = match event {
            Event::Metrics(row) => (row, schema.metrics, self.column.strip_prefix(METRICS)?),
            Event::Test(row) => (row, schema.tests, self.column.strip_prefix(TEST)?),
            _ => return None,
        };
        let index = columns.iter().position(|column| column.name == name)?;
        Some((row.progress.iteration, row.values.get(index).copied().flatten()?))
    }
}

const METRICS: &str = "metrics.";
const TEST: &str = "test.";

/// All columns that may become the curve of an entry, in the order of preference: the columns of the first chart that shows a test, then
/// the other charted metrics. Rates are not included, because they depend on the machine.
pub struct Curves {
    schema: &'static Schema,
    all: Vec<Curve>,
}

impl Curves {
    pub fn new(schema: &'static Schema) -> Curves {
        let charted = || schema.metrics.iter().filter(|column| !column.chart.is_empty() && column.rate.is_none());
        let tested = |column: &&Column| schema.tests.iter().any(|test| test.chart == column.chart);
        let mut all = charted().chain(schema.tests.iter().filter(|column| !column.chart.is_empty()));
        let main = all.find(tested).map_or("", |column| column.chart);
        let metrics =
            |of_main| charted().filter(move |column| (column.chart == main) == of_main).map(|column| format!("{METRICS}{}", column.name));
        let tests = schema.tests.iter().filter(|column| column.chart == main).map(|column| format!("{TEST}{}", column.name));
        let names = metrics(true).chain(tests).chain(metrics(false));
        Curves { schema, all: names.map(|column| Curve { column, ..Curve::default() }).collect() }
    }

    pub fn record(&mut self, event: &Event) {
        for curve in &mut self.all {
            if let Some((iteration, value)) = curve.value(self.schema, event) {
                add(&mut curve.points, iteration, value);
            }
        }
    }

    /// Returns the first column with enough points, or else the column with the most points.
    pub fn best(&self) -> Curve {
        let enough = self.all.iter().find(|curve| curve.points.len() >= ENOUGH_POINTS);
        // `max_by_key` returns the last of equal columns. In the reversed order, this is the first column.
        let most = || self.all.iter().rev().filter(|curve| !curve.points.is_empty()).max_by_key(|curve| curve.points.len());
        enough.or_else(most).cloned().unwrap_or_default()
    }
}

impl Track {
    /// Parses the text of a track. A track that uses a number that a verification does not recompute is an error.
    pub fn read(text: &str) -> Result<Track, RunError> {
        let track: Track = json::read(text).map_err(|error| bad(format!("its track cannot be read: {error}")))?;
        let mut used = std::iter::once(&track.score).chain(track.at_least.keys()).chain(track.at_most.keys());
        let is_recomputed = |name: &String| name.split_once('.').is_some_and(|(group, _)| GROUPS.contains(&group));
        match used.find(|name| !is_recomputed(name)) {
            Some(name) => {
                Err(bad(format!("its track uses '{name}', which no verification recomputes; use end.NAME, solved.NAME or test.NAME")))
            }
            None => Ok(track),
        }
    }
}

fn check_text(name: &str, value: &str, most: usize) -> Result<(), String> {
    if value.trim().is_empty() {
        return Err(format!("its {name} is empty"));
    }
    if value.chars().count() > most {
        return Err(format!("its {name} has more than {most} characters"));
    }
    if value.contains(['<', '>']) || value.contains(char::is_control) {
        return Err(format!("its {name} contains markup or control characters; use plain text"));
    }
    Ok(())
}

fn bad(why: impl std::fmt::Display) -> RunError {
    RunError::Entry { why: why.to_string() }
}

fn named(columns: &[Column], values: impl Iterator<Item = Option<f64>>) -> Named {
    columns.iter().map(|column| column.name.to_string()).zip(values).collect()
}

/// Returns the iteration and the counters of a run's progress by their names.
pub fn counters(schema: &Schema, progress: &Progress) -> Named {
    let mut counts = named(schema.counters, progress.counts.iter().copied().map(Some));
    counts.insert("iteration".into(), Some(progress.iteration.into()));
    counts
}

/// Returns the values of a test by their names.
pub fn test_values(schema: &Schema, test: &Row) -> Named {
    named(schema.tests, test.values.iter().copied())
}

/// A run that is trained again and compared with its stated results.
pub struct Verification {
    run: Box<dyn AnyRun>,
    arithmetic: String,
    digests: BTreeMap<u32, String>,
    /// Iteration of the latest digest that equals the stated digest; 0 before the first such digest.
    equal_at: u32,
    /// Iteration of the next digest to compare; `None` after all digests were compared.
    due: Option<u32>,
    /// Points of the curve that the run has not reached yet.
    curve: Curve,
    /// Results of an entry; `None` for a link, which states only a digest.
    results: Option<Results>,
    /// Results of the run at the iteration of the last digest; `None` before that iteration.
    reached: Option<Reproduced>,
}

impl Verification {
    /// Begins the verification of a link that contains a digest.
    pub fn of_link(link: &str, host: Host) -> Result<Verification, RunError> {
        let Link { digest, .. } = decode(link, host)?;
        let Digest { iteration, weights, arithmetic } =
            digest.ok_or_else(|| RunError::Link { why: "it contains no digest, so there is nothing to compare".into() })?;
        let digests = BTreeMap::from([(iteration, weights)]);
        Self::begin(link, Entry { arithmetic, digests, ..Entry::default() }, None, host)
    }

    pub fn of_entry(entry: &Entry, host: Host) -> Result<Verification, RunError> {
        // The beginning of the link identifies the track. So only one form of the link is valid: the form that `encode` writes.
        let whole = encode(&decode(&entry.link, host)?.config, None);
        if entry.link != whole {
            return Err(bad(format!("its link must be written as {whole}")));
        }
        let results = Results { end: entry.end.clone(), solved: entry.solved.clone(), test: entry.test.clone() };
        Self::begin(&entry.link, entry.clone(), Some(results), host)
    }

    /// Begins the run of `link`. The verification compares this run with the digests and the curve of `stated`, and with `results` unless
    /// `results` is `None`.
    fn begin(link: &str, stated: Entry, results: Option<Results>, host: Host) -> Result<Verification, RunError> {
        let Entry { arithmetic, digests, curve, .. } = stated;
        let host = Host { isa: isa_of(&arithmetic, host.isa)?, ..host };
        let mut run = crate::begin(decode(link, host)?.config, host)?;
        run.command(Command::Device { wish: DeviceWish::Cpu })?;
        run.command(Command::Start)?;
        let due = digests.keys().next().copied();
        Ok(Verification { run, arithmetic, digests, equal_at: 0, due, curve, results, reached: None })
    }

    pub fn run(&self) -> &dyn AnyRun {
        &*self.run
    }

    /// Returns the iteration at the end of the run.
    pub fn last(&self) -> u32 {
        self.digests.last_key_value().map_or(0, |(&iteration, _)| iteration)
    }

    /// Trains one slice. Returns `Some` with the results when the whole run is reproduced. An error names the first difference. `now_s` is
    /// the time of the shell's clock in seconds. `should_continue` is called before each slice of the test at the end; the verification is
    /// over if it returns false.
    pub fn advance(&mut self, now_s: f64, should_continue: &mut dyn FnMut() -> bool) -> Result<Option<Reproduced>, RunError> {
        self.run.advance(now_s);
        let events = self.run.events();
        events.iter().try_for_each(|event| self.compare_point(event))?;
        if let Some(failure) = self.run.failure() {
            return Err(failure);
        }
        if !self.run.at_boundary() {
            return Ok(None);
        }
        let at = self.run.progress().iteration;
        if self.due.is_some_and(|due| at >= due) {
            self.compare(at)?;
        }
        if self.due.is_some() {
            return Ok(None);
        }
        if self.reached.is_none() {
            self.reached = self.results(should_continue)?;
        }
        // A test of the last weights may end some iterations later. So the run continues until the curve is complete, but at most for
        // `LATEST_TEST` iterations.
        if let Some((point, _)) = self.curve.points.first_key_value() {
            if at < self.last().saturating_add(LATEST_TEST) {
                return Ok(None);
            }
            return Err(not_reproduced(format!(
                "the curve has a point after {point} {}s, and the run has none",
                self.run.schema().iteration_word
            )));
        }
        Ok(self.reached.take())
    }

    /// Returns the results of the current weights, or an error if they differ from the stated results. Returns `None` if
    /// `should_continue` ended the test.
    fn results(&mut self, should_continue: &mut dyn FnMut() -> bool) -> Result<Option<Reproduced>, RunError> {
        let schema = self.run.schema();
        let Some(test) = self.run.test_while(should_continue)? else { return Ok(None) };
        let results = Results {
            end: counters(schema, &self.run.progress()),
            test: test_values(schema, &test),
            solved: self.run.solved().map(|progress| counters(schema, progress)),
        };
        if let Some(stated) = &self.results {
            stated.compare(&results)?;
        }
        Ok(Some(Reproduced { digest: self.run.digest(), results }))
    }

    /// Compares the value of the curve's column in an event with the stated point of the same iteration. Does nothing if there is no such
    /// value or point.
    fn compare_point(&mut self, event: &Event) -> Result<(), RunError> {
        let schema = self.run.schema();
        let Some((at, reached)) = self.curve.value(schema, event) else { return Ok(()) };
        match self.curve.points.remove(&at) {
            Some(stated) if stated != reached => {
                Err(not_reproduced(format!("after {at} {}s the curve has {reached}, not {stated}", schema.iteration_word)))
            }
            _ => Ok(()),
        }
    }

    /// Compares the digest after `at` iterations with the next stated digest.
    fn compare(&mut self, at: u32) -> Result<(), RunError> {
        let reached = self.run.digest();
        let stated = self.digests.get(&at).map_or("none", |stated| stated);
        if reached.arithmetic == self.arithmetic && reached.weights == stated {
            self.equal_at = at;
            self.due = self.digests.keys().copied().find(|&next| next > at);
            return Ok(());
        }
        let word = self.run.schema().iteration_word;
        let before = match self.equal_at {
            0 => String::new(),
            equal => format!("; after {equal} {word}s it was equal"),
        };
        Err(not_reproduced(format!(
            "after {at} {word}s the digest of the weights is {} ({}), not {stated} ({}){before}",
            reached.weights, reached.arithmetic, self.arithmetic
        )))
    }
}

fn not_reproduced(place: String) -> RunError {
    RunError::NotReproduced { place }
}

/// Returns an instruction set of this machine with the arithmetic `name`: `own` if possible.
fn isa_of(name: &str, own: Isa) -> Result<Isa, RunError> {
    // For lower precision, the room itself chooses the instruction set, so any host is accepted here.
    let chosen_by_room = matches!(name, BF16 | AMX);
    let fits = |isa: &Isa| chosen_by_room || arithmetic(*isa) == name;
    let all = std::iter::once(own).chain(Isa::available());
    all.into_iter().find(fits).ok_or_else(|| bad(format!("its digests need {name} arithmetic, which this machine does not have")))
}

/// Returns an error if the stated and the reproduced results differ. The error names the first value that differs.
fn equal(what: &str, stated: &Named, reached: &Named) -> Result<(), RunError> {
    let shown = |values: &Named, name: &str| values.get(name).copied().flatten().map_or("unknown".to_string(), |value| value.to_string());
    match stated.keys().chain(reached.keys()).find(|name| stated.get(*name) != reached.get(*name)) {
        Some(name) => Err(not_reproduced(format!("{what} has {name} {}, not {}", shown(reached, name), shown(stated, name)))),
        None => Ok(()),
    }
}

/// Results of a run; see [`Entry`].
pub struct Results {
    pub end: Named,
    pub solved: Option<Named>,
    pub test: Named,
}

impl Results {
    /// Returns an error if the reproduced results differ from these stated results.
    fn compare(&self, reached: &Results) -> Result<(), RunError> {
        equal("the end", &self.end, &reached.end)?;
        equal("the test", &self.test, &reached.test)?;
        match (&self.solved, &reached.solved) {
            (Some(stated), Some(reached)) => equal("the solution", stated, reached),
            (Some(_), None) => Err(not_reproduced("a solution is stated, and the run is not solved".into())),
            (None, Some(_)) => Err(not_reproduced("no solution is stated, and the run is solved".into())),
            (None, None) => Ok(()),
        }
    }
}

/// A run that equals its stated results.
pub struct Reproduced {
    /// Digest at the end of the run.
    pub digest: Digest,
    pub results: Results,
}
